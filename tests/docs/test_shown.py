"""What a page shows is what its reader sees who types its commands."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import BEFORE, steps, without_chance


@pytest.mark.parametrize(
    "name",
    [
        "docs/tutorial/first-change.md",
        "docs/tutorial/board.md",
        "docs/how-to/sessions.md",
        "docs/how-to/plans.md",
        "docs/how-to/running.md",
        "docs/how-to/landing.md",
        *BEFORE,
    ],
)
def test_what_is_shown_is_what_one_sees(name: str, tmp_path: Path) -> None:
    here, code = tmp_path, 0
    someone = {"USER": "ana", "GIT_CONFIG_GLOBAL": os.devnull, "HOME": str(tmp_path)}
    for role in ("AUTHOR", "COMMITTER"):
        someone |= {f"GIT_{role}_NAME": "Ana", f"GIT_{role}_EMAIL": "ana@example.org"}
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    for command, shown in steps(name):
        if command.startswith("cd "):
            here /= command[3:]
            continue
        done = subprocess.run(
            ["bash", "-c", f"(exit {code})\n{command}"],
            cwd=here,
            env={"PATH": path, **someone},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )
        code = done.returncode
        assert without_chance(done.stdout) == without_chance(shown), command
