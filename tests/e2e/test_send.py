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
from tests.e2e.witness.witness_repo import QUIET, WitnessRepo, make_witness_repo

CHATTY = str(Path(__file__).parents[1] / "world" / "engines" / "runners" / "chatty.py")
CONFIG = """
[engine.default]
type = "command"
output = "facts"
transport = "tmux"
command = {command}
"""


@pytest.fixture
def project(tmp_path: Path) -> WitnessRepo:
    """A repository whose tasks are worked on by a small program on a terminal."""
    if shutil.which("tmux") is None:
        if os.environ.get("CORRAL_NEED_ENGINES"):
            pytest.fail("tmux is not installed")
        pytest.skip("tmux is not installed")
    command = json.dumps([sys.executable, CHATTY])
    return make_witness_repo(tmp_path / "project", QUIET + CONFIG.format(command=command))


def heard(project: WitnessRepo) -> list[str]:
    """Return the lines that the program was told."""
    (tree,) = project.trees().list()
    path = Path(tree.path) / "heard"
    return path.read_text().splitlines() if path.exists() else []


def add_talking(project: WitnessRepo) -> str:
    """Add a task; return its session, once the program has its brief."""
    task = project.add("Talk")
    project.until(lambda: project.trees().list())
    project.until(lambda: any("judged by your work" in line for line in heard(project)))
    return f"{task}.1"


def test_a_session_is_told_something_shown_and_sat_down_at(project: WitnessRepo) -> None:
    with project.witness():
        session = add_talking(project)
        sent = project.data("session", "send", session, "and now this", "--wait", "60")
        assert (sent["session"], sent["proof"]) == (session, "screen")
        assert "> and now this" in project.data("session", "tail", session)["lines"]
        words = ("session", "send", session, "-", "--wait", "60")
        answer = project.corral(*words, stdin=b"from stdin")
        assert answer.out == f"{session} has received it, as its screen shows\n"
        with Terminal(
            [CORRAL, "session", "attach", session], project.path, project.env
        ) as terminal:
            terminal.read_until("> from stdin")
            terminal.press("by hand\r")
            terminal.read_until("> by hand")
            terminal.press("\x02d")
            terminal.read_all()
        assert terminal.process.returncode == 0
        assert project.sessions()[0]["verdict"] == ""
        assert "> by hand" in project.data("session", "tail", session)["lines"]
        project.corral("session", "send", session, "exit 0", "--wait", "0")
        project.until_ended(session.partition(".")[0])


def in_log(project: WitnessRepo, kind: str, number: int) -> bool:
    return len(project.of_type(kind)) == number


def test_a_message_is_typed_once_although_the_witness_is_killed(project: WitnessRepo) -> None:
    kinds = ("message.sent", "message.taken")
    with project.witness() as first:
        session = add_talking(project)
        first.kill()
        first.wait()
    for number, kind in enumerate(kinds, 1):
        with project.witness() as killed:
            project.corral("message", "send", session, f"text {number} of two")
            project.until(partial(in_log, project, kind, number))
            killed.kill()
            killed.wait()
    with project.witness():
        project.until(lambda: len(project.of_type("message.delivered")) == len(kinds))
        assert [line for line in heard(project) if "of two" in line] == [
            "text 1 of two",
            "text 2 of two",
        ]
        assert {e["data"]["proof"] for e in project.of_type("message.delivered")} == {"screen"}
        project.corral("session", "send", session, "exit 0", "--wait", "0")
        project.until_ended(session.partition(".")[0])


def test_a_session_without_input_is_sent_no_text(project: WitnessRepo) -> None:
    project.configure(QUIET)
    task = project.script("sleep 600")
    with project.witness():
        project.until_running(f"{task}.1")
        error = project.refused("session", "send", f"{task}.1", "hello", code=3)
        assert error["code"] == "takes_no_text"
        assert not (project.room(f"{task}.1") / "inbox").exists()
        project.corral("session", "stop", f"{task}.1")
        assert project.until_ended(task) == "stopped"
