"""Talking to a session that runs, and sitting down at it: with a real tmux and a small program."""

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from corral.world.engines.orders import TmuxOrder, runner_argv
from tests.e2e.corral_command import CORRAL, Board
from tests.e2e.terminal import Terminal
from tests.patience import PATIENCE_S
from tests.world.engines.runners import until

CHATTY = str(Path(__file__).parent.parent / "world" / "engines" / "chatty.py")


@pytest.fixture
def talking(board: Board) -> Iterator[Board]:
    """Give a board on which AF-1.1 runs in a terminal."""
    if shutil.which("tmux") is None:
        if os.environ.get("CORRAL_NEED_ENGINES"):
            pytest.fail("tmux is not installed")
        pytest.skip("tmux is not installed")
    room = board.folder / "sessions" / "AF-1.1"
    argv, env = runner_argv(TmuxOrder(room=str(room), argv=(sys.executable, CHATTY), proof_s=5))
    words = ["env", *(f"{name}={value}" for name, value in env.items()), *argv]
    board.corral("task", "add", "Talk", *(f"--run={word}" for word in words))
    witness = board.started("witness", "run", "--once")
    until(lambda: board.corral("session", "send", "AF-1.1", "hello", code=None).code == 0)
    yield board
    board.corral("session", "stop", "AF-1.1", code=None)
    witness.wait(PATIENCE_S)


def test_a_session_is_told_something_shown_and_sat_down_at(talking: Board) -> None:
    sent = talking.data("session", "send", "AF-1.1", "and now this", "--wait", "60")
    assert (sent["session"], sent["proof"]) == ("AF-1.1", "screen")
    assert "> and now this" in talking.data("session", "tail", "AF-1.1")["lines"]
    answer = talking.corral("session", "send", "AF-1.1", "-", "--wait", "60", stdin=b"from stdin")
    assert answer.out == "AF-1.1 has it: it was seen on its screen\n"

    words = [CORRAL, "session", "attach", "AF-1.1"]
    with Terminal(words, talking.path, talking.env) as terminal:
        terminal.read_until("> from stdin")
        terminal.press("by hand\r")
        terminal.read_until("> by hand")
        terminal.press("\x02d")
        terminal.read_all()
    assert terminal.process.returncode == 0
    assert talking.data("session", "list")[0]["verdict"] == ""
    assert "> by hand" in talking.data("session", "tail", "AF-1.1")["lines"]


def test_who_takes_no_text_is_not_sent_any(board: Board) -> None:
    board.corral("task", "add", "Sleep", "--run=sleep", "--run=600")
    witness = board.started("witness", "run", "--once")
    launch = board.folder / "sessions" / "AF-1.1" / "run-1" / "process.json"
    until(launch.exists)
    error = board.refused("session", "send", "AF-1.1", "hello", code=3)
    assert error["code"] == "takes_no_text"
    assert not (launch.parent.parent / "inbox").exists()
    board.corral("session", "stop", "AF-1.1")
    assert witness.wait(PATIENCE_S) == 0
