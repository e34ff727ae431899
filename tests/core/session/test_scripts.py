"""The files that an acceptance command runs, and not those that it reads."""

import pytest

from corral.core.session.scripts import protected, scripts


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("sh check.sh", ("check.sh",)),
        ("bash -eu ./ci/check.sh --fast", ("ci/check.sh",)),
        ("sh -e check.sh; bash -eo pipefail more.sh", ("check.sh", "more.sh")),
        ("./check", ("check",)),
        ("ci/check && ! python3.11 -B tools/verify.py x", ("ci/check", "tools/verify.py")),
        ("cd web; node ./test.js", ("web/test.js",)),
        ("LANG=C exec sh 'a b.sh'", ("a b.sh",)),
        ("sh -ec 'cd ci && ./check.sh'", ("ci/check.sh",)),
        (". ./env.sh; make", ("env.sh",)),
        ("(cd ci && sh x.sh) || /bin/sh y.sh", ("ci/x.sh", "ci/y.sh")),
        ("python3 -m pytest tests/test_a.py", ()),
        ("python3 -c 'import a' a.py", ()),
        ("pytest -q tests/auth", ()),
        ("grep -q tea menu.txt", ()),
        ("test -x ./tool", ()),
        ("/usr/bin/env true; sh /etc/x.sh; sh ../x.sh", ()),
        ("sh 'open", ()),
        ("", ()),
    ],
)
def test_what_a_command_runs(command: str, found: tuple[str, ...]) -> None:
    assert scripts([command]) == found


def test_a_path_of_the_task_is_its_own() -> None:
    assert protected(["sh ci/a.sh", "sh b.sh", "sh b.sh"], ("ci/**",)) == ("b.sh",)
    assert protected(["sh ci/a.sh"], ("**",)) == ()
