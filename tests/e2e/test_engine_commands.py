"""R18: `corral engine list|check` says what is there, what does not start, and what to do."""

from pathlib import Path

from tests.e2e.corral_command import Board, make_repository

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
    board = make_repository(tmp_path / "project")
    board.corral("init")
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
    assert "npm install" in found["broken"]["advice"]
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
