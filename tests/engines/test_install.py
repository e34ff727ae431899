"""`make engines` offline: uses what is installed, and a failure leaves nothing behind."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

from tests.engines import install
from tests.patience import PATIENCE_S


def run(root: Path, path: str = os.environ["PATH"]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, install.__file__],
        env={**os.environ, "CORRAL_ENGINES": str(root), "PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )


def test_what_is_installed_is_not_installed_again(tmp_path: Path) -> None:
    place = tmp_path / install.folder().name
    (place / "bin").mkdir(parents=True)
    done = run(tmp_path, path="/nowhere")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == str(place / "bin")


def test_a_failed_install_leaves_nothing_behind(tmp_path: Path) -> None:
    npm = tmp_path / "bin" / "npm"
    npm.parent.mkdir()
    npm.write_text("#!/bin/sh\necho no such registry >&2\nexit 1\n")
    npm.chmod(0o755)
    done = run(tmp_path / "root", path=f"{npm.parent}:{os.environ['PATH']}")
    assert done.returncode == 1
    assert "no such registry" in done.stderr
    assert [path.suffix for path in (tmp_path / "root").iterdir()] == [".lock"]


def test_who_comes_second_waits(tmp_path: Path) -> None:
    name = install.folder().name
    with open(tmp_path / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        process = subprocess.Popen(
            [sys.executable, install.__file__],
            env={**os.environ, "CORRAL_ENGINES": str(tmp_path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr is not None
        assert "Waiting" in process.stderr.readline()
        (tmp_path / name / "bin").mkdir(parents=True)
    output, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
    assert output.strip() == str(tmp_path / name / "bin")
