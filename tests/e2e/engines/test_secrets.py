"""Keys are passed by name; their values are in no log, brief, tree or readable file."""

import stat
from hashlib import sha256

from tests.e2e.engines.engine_repo import CONFIG, DONE, WORK, EngineRepo, began, script

KEY = "sk-very-secret-0123456789"


def test_the_value_of_a_key_reaches_the_engine_and_nothing_else(project: EngineRepo) -> None:
    project.env |= {"MY_KEY": KEY, "OTHER_KEY": "sk-not-passed-on"}
    project.configure(CONFIG + 'env = ["MY_KEY"]\n')
    digest = sha256(KEY.encode()).hexdigest()
    sees = f'printf %s "$MY_KEY" | sha256sum | grep -q {digest} && test -z "$OTHER_KEY"'
    told = project.script(script(f"{sees} || exit 9", WORK, DONE))
    ends = """echo '{"fact":"finished","trouble":"request","text":"400: bad key '"$MY_KEY"'"}'"""
    said = project.script(script(began(), 'echo "key $MY_KEY" >&2', ends, "exit 1"))
    asks = project.script(
        script(began(), """echo '{"fact":"asked","text":"Is '"$MY_KEY"' right?"}'""", DONE)
    )
    crashes = project.script(script(began(), 'echo "cannot use $MY_KEY" >&2', "exit 1"))
    project.once()
    assert project.verdict(told) == "proved", project.detail(told)
    assert project.verdict(said) == "rejected"
    assert project.detail(said) == "400: bad key [MY_KEY]"
    assert project.task(asks)["reason"] == "needs_answer: Is [MY_KEY] right?"
    assert "cannot use [secret removed]" in project.detail(crashes)  # it looks like one, too
    assert KEY not in project.here("log", "--json").out
    found = [path for path in project.folder.rglob("*") if path.is_file() and not path.is_symlink()]
    holders = [path for path in found if KEY.encode() in path.read_bytes()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in holders} <= {0o600}
    assert {path.name for path in holders} == {"output", "errors"}
    home = project.room(f"{told}.1") / "home"
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
