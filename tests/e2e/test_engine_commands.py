"""`corral engine list` and `check` say what is installed, what fails to start, and the fix."""

import signal
import subprocess
from pathlib import Path

from tests.e2e.corral_command import CORRAL, Board, make_board
from tests.patience import PATIENCE_S
from tests.world.engines.runners.runner_process import until

CONFIG = """\
[engine.default]
type = "shell"
[engine.good]
type = "claude-code"
command = ["{good}"]
[engine.broken]
type = "codex"
command = ["{broken}"]
[engine.missing]
type = "aider"
command = ["no-such-program"]
"""


def program(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def prepared(tmp_path: Path) -> Board:
    board = make_board(tmp_path / "project")
    good = program(tmp_path / "good", "echo 9.8.7")
    broken = program(tmp_path / "broken", "exit 3")
    config = CONFIG.format(good=good, broken=broken)
    (board.path / ".corral" / "config.toml").write_text(config)
    return board


def test_profiles_are_looked_for_and_started(tmp_path: Path) -> None:
    board = prepared(tmp_path)
    answer = board.corral("engine", "check", "--quick", "--json", code=1)
    found = {row["profile"]: row for row in answer.data}
    assert (found["good"]["starts"], found["good"]["version"]) == (True, "9.8.7")
    assert found["broken"]["starts"] is False
    assert found["broken"]["advice"] == (
        "it does not start (exit code 3): npm install -g @openai/codex"
    )
    assert found["missing"]["installed"] is False
    assert "no-such-program" in found["missing"]["advice"]
    assert found["default"]["installed"] is True
    board.corral("engine", "check", "good", "--quick")


def test_all_known_engines_are_listed_and_an_unknown_profile_is_refused(tmp_path: Path) -> None:
    board = prepared(tmp_path)
    types = {row["type"] for row in board.data("engine", "list")}
    seven = {"claude-code", "codex", "opencode", "gemini", "copilot", "continue", "aider"}
    assert types >= seven
    board.refused("engine", "check", "nobody", code=4)


def checked(board: Board, tmp_path: Path, text: str, *, mode: int = 0o755) -> dict[str, object]:
    """Return what is said about a Codex that is this program."""
    fake = program(tmp_path / "fake", text)
    fake.chmod(mode)
    config = f'[engine.own]\ntype = "codex"\ncommand = ["{fake}"]\n'
    (board.path / ".corral" / "config.toml").write_text(config)
    (row,) = board.corral("engine", "check", "--json", code=1).data
    found: dict[str, object] = row
    return found


def test_what_is_wrong_with_a_program_is_said(tmp_path: Path) -> None:
    board = prepared(tmp_path)
    killed = checked(board, tmp_path, "echo out of memory >&2; kill -9 $$")
    assert "it does not start (signal 9: out of memory)" in str(killed["advice"])
    shy = checked(board, tmp_path, "echo 1.2.3", mode=0o644)
    assert shy["advice"] == f"'{tmp_path}/fake' cannot be run: chmod +x {tmp_path}/fake"
    old = checked(
        board,
        tmp_path,
        'test "$1" = --version && { echo v0.1.2.; exit; }; echo "usage: no option --json"',
    )
    assert (old["version"], old["answers"]) == ("0.1.2", False)
    assert "(exit code 0: usage: no option --json): is it too old? npm" in str(old["advice"])


def test_a_program_that_hangs_does_not_outlive_a_check_that_is_interrupted(tmp_path: Path) -> None:
    board = prepared(tmp_path)
    note = tmp_path / "pids"
    fake = program(
        tmp_path / "fake", f"sleep 600 & echo $$ $! > {note}.new; mv {note}.new {note}; wait"
    )
    config = f'[engine.own]\ntype = "codex"\ncommand = ["{fake}"]\n'
    (board.path / ".corral" / "config.toml").write_text(config)
    checking = subprocess.Popen(
        [CORRAL, "engine", "check"], cwd=board.path, env=board.env, stderr=subprocess.DEVNULL
    )
    pids = until(lambda: note.exists() and note.read_text()).split()
    checking.send_signal(signal.SIGINT)
    assert checking.wait(PATIENCE_S) == 130
    until(lambda: not any(Path("/proc", pid).exists() for pid in pids))
