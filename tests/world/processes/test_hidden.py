"""Files in hidden folders can be neither read nor run, and everything around them can."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from corral.world.processes import landlock

pytestmark = pytest.mark.skipif(
    not landlock.can_hide(), reason="this system has no Landlock: nothing can be hidden here"
)
TRY = (
    "import importlib.util, os, sys\n"
    f"spec = importlib.util.spec_from_file_location('landlock', {landlock.__file__!r})\n"
    "module = importlib.util.module_from_spec(spec)\n"
    "spec.loader.exec_module(module)\n"
    "module.confine(None, [sys.argv[1]], sys.argv[2].split(':'))\n"
    "os.execvp('sh', ['sh', '-c', sys.argv[3]])\n"
)


def hidden(folder: Path, script: str, *shown: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", TRY, folder, ":".join(map(str, shown)), script],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    (folder / ".git").mkdir(parents=True)
    (folder / "code.py").write_text("secret")
    (folder / "tool").write_text("#!/bin/sh\necho ran\n")
    (folder / "tool").chmod(0o755)
    (folder / ".git" / "HEAD").write_text("main")
    (tmp_path / "checkout-2" / "inner").mkdir(parents=True)
    (tmp_path / "checkout-2" / "other").write_text("other")
    (tmp_path / "link").symlink_to(folder)
    return folder


@pytest.mark.parametrize(
    "script",
    [
        "cat {0}/code.py",
        "{0}/tool",
        "cat {0}/../link/code.py",
        "cd {0} && cat code.py",
        "ln {0}/code.py {0}/../hard && cat {0}/../hard",
        "cat /proc/self/root{0}/code.py",
        "mv {0} {0}-moved && cat {0}-moved/code.py",
    ],
)
def test_what_is_hidden_cannot_be_read(secret: Path, script: str) -> None:
    done = hidden(secret, script.format(secret))
    assert done.returncode != 0
    assert "secret" not in done.stdout
    assert "ran" not in done.stdout
    assert "denied" in done.stderr


def test_everything_around_it_can(secret: Path) -> None:
    script = (
        f"cat {secret}-2/other && ls {secret} && cat {secret}/.git/HEAD && stat {secret}/code.py"
        f" && echo new > {secret}-2/new && cat {secret}-2/new && sh -c 'echo ran'"
        f" && cat /etc/passwd && mv {secret}-2/new {secret}-2/inner/new && cat {secret}-2/inner/new"
        f" && mktemp -d -p {secret}-2 && echo x > {secret}/written"
    )
    done = hidden(secret, script, secret / ".git")
    assert done.returncode == 0, done.stderr
    assert os.listdir(secret / ".git") == ["HEAD"]
    assert (secret / "written").read_text() == "x\n"  # writing is another matter


def test_a_missing_folder_is_no_error(tmp_path: Path) -> None:
    assert hidden(tmp_path / "gone", "echo fine", tmp_path / "gone" / "too").stdout == "fine\n"
