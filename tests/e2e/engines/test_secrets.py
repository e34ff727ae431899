"""R24: keys come by name, and their values are in no log, brief, tree or readable file."""

import os
import stat

import pytest

from tests.e2e.engines.ranch import CONFIG, DONE, WORK, Ranch, began, fact, script

KEY = "sk-very-secret-0123456789"


def test_the_value_of_a_key_reaches_the_engine_and_nothing_else(
    ranch: Ranch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    monkeypatch.setenv("OTHER_KEY", "sk-not-passed-on")
    ranch.configure(CONFIG + 'env = ["MY_KEY"]\n')
    loud = '{"fact":"finished","trouble":"request","text":"400: bad key '
    blabs = f"""echo '{loud}'"$MY_KEY"'"}}'; echo "key $MY_KEY" >&2; exit 1"""
    told = ranch.script(
        script('test "$MY_KEY" = "$(cat key)" && test -z "$OTHER_KEY" || exit 9', WORK, DONE)
    )
    (ranch.path / "key").write_text(KEY)
    ranch.git("add", "key")
    ranch.git("commit", "-qm", "what the engine should see")
    said = ranch.script(script(began(), blabs))
    asks = ranch.script(script(began(), fact("asked", text=f"Is {KEY} right?"), DONE))
    ranch.once()
    assert ranch.verdict(told) == "proved", ranch.detail(told)
    assert ranch.verdict(said) == "rejected"
    assert ranch.detail(said) == "400: bad key [MY_KEY]"
    assert ranch.task(asks)["reason"] == "needs_answer: Is [MY_KEY] right?"
    assert KEY not in ranch.here("log", "--json").out
    for folder, _, names in os.walk(ranch.folder):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                if KEY.encode() in file.read():
                    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600, path
    home = ranch.room(f"{told}.1") / "home"
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
