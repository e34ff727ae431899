"""Talking to a session that runs, and sitting down at it: with a real tmux and a small program."""

import json
import os
import shutil
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.e2e.corral_command import CORRAL
from tests.e2e.terminal import Terminal
from tests.e2e.witness.farm import QUIET, Farm, make_farm

CHATTY = str(Path(__file__).parents[1] / "world" / "engines" / "runners" / "chatty.py")
CONFIG = """
[engine.default]
type = "command"
output = "facts"
transport = "tmux"
command = {command}
"""


@pytest.fixture
def farm(tmp_path: Path) -> Farm:
    """A repository whose tasks are worked on by a small program on a terminal."""
    if shutil.which("tmux") is None:
        if os.environ.get("CORRAL_NEED_ENGINES"):
            pytest.fail("tmux is not installed")
        pytest.skip("tmux is not installed")
    command = json.dumps([sys.executable, CHATTY])
    return make_farm(tmp_path / "project", QUIET + CONFIG.format(command=command))


def heard(farm: Farm) -> list[str]:
    """Return the lines that the program was told."""
    (tree,) = farm.trees().list()
    path = Path(tree.path) / "heard"
    return path.read_text().splitlines() if path.exists() else []


def add_talking(farm: Farm) -> str:
    """Add a task; return its session, once the program has its brief."""
    task = farm.add("Talk")
    farm.until(lambda: farm.trees().list())
    farm.until(lambda: any("judged by what is there" in line for line in heard(farm)))
    return f"{task}.1"


def test_a_session_is_told_something_shown_and_sat_down_at(farm: Farm) -> None:
    with farm.witness():
        session = add_talking(farm)
        sent = farm.data("session", "send", session, "and now this", "--wait", "60")
        assert (sent["session"], sent["proof"]) == (session, "screen")
        assert "> and now this" in farm.data("session", "tail", session)["lines"]
        words = ("session", "send", session, "-", "--wait", "60")
        answer = farm.corral(*words, stdin=b"from stdin")
        assert answer.out == f"{session} has it: it was seen on its screen\n"
        with Terminal([CORRAL, "session", "attach", session], farm.path, farm.env) as terminal:
            terminal.read_until("> from stdin")
            terminal.press("by hand\r")
            terminal.read_until("> by hand")
            terminal.press("\x02d")
            terminal.read_all()
        assert terminal.process.returncode == 0
        assert farm.sessions()[0]["verdict"] == ""
        assert "> by hand" in farm.data("session", "tail", session)["lines"]
        farm.corral("session", "send", session, "exit 0", "--wait", "0")
        farm.until_ended(session.partition(".")[0])


def in_log(farm: Farm, kind: str, number: int) -> bool:
    return len(farm.of_type(kind)) == number


def test_a_message_is_typed_once_although_the_witness_is_killed(farm: Farm) -> None:
    kinds = ("message.sent", "message.taken")
    with farm.witness() as first:
        session = add_talking(farm)
        first.kill()
        first.wait()
    for number, kind in enumerate(kinds, 1):
        with farm.witness() as killed:
            farm.corral("message", "send", session, f"text {number} of two")
            farm.until(partial(in_log, farm, kind, number))
            killed.kill()
            killed.wait()
    with farm.witness():
        farm.until(lambda: len(farm.of_type("message.delivered")) == len(kinds))
        assert [line for line in heard(farm) if "of two" in line] == [
            "text 1 of two",
            "text 2 of two",
        ]
        assert {e["data"]["proof"] for e in farm.of_type("message.delivered")} == {"screen"}
        farm.corral("session", "send", session, "exit 0", "--wait", "0")
        farm.until_ended(session.partition(".")[0])


def test_who_takes_no_text_is_not_sent_any(farm: Farm) -> None:
    farm.configure(QUIET)
    task = farm.script("sleep 600")
    with farm.witness():
        farm.until_running(f"{task}.1")
        error = farm.refused("session", "send", f"{task}.1", "hello", code=3)
        assert error["code"] == "takes_no_text"
        assert not (farm.room(f"{task}.1") / "inbox").exists()
        farm.corral("session", "stop", f"{task}.1")
        assert farm.until_ended(task) == "stopped"
