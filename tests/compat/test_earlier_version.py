"""What commit 10002b5 left behind is taken over: its log, its snapshot and its running sessions.

`store-10002b5.tar.xz` is the store of a night with that commit: a board used by hand, a plan that
`corral run` carried out, a conversation with the mayor, and a snapshot a few events behind the log.
Beside it is what that commit's `status --json` and `log --json` printed then.
"""

import os
import shlex
import signal
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.e2e.corral_command import Board, make_repository
from tests.e2e.witness.witness_repo import WORK, WitnessRepo, make_witness_repo

COMMIT = "10002b5"
HERE = Path(__file__).parent
ROOT = HERE.parents[1]


@pytest.fixture
def board(tmp_path: Path) -> Board:
    make_repository(tmp_path / "project")
    found = Board(tmp_path / "project")
    with tarfile.open(HERE / f"store-{COMMIT}.tar.xz") as store:
        # Before 3.11.4 there are no filters, and an argument for one is refused.
        store.extraction_filter = getattr(tarfile, "data_filter", None)
        for member in store.getmembers():
            store.extract(member, found.path / ".git")
    return found


def test_the_status_is_the_same_to_the_byte(board: Board) -> None:
    assert board.status() == (HERE / f"status-{COMMIT}.json").read_text("utf-8")


def test_every_event_is_read_as_it_was_written(board: Board) -> None:
    assert board.corral("log", "--json").out == (HERE / f"log-{COMMIT}.jsonl").read_text("utf-8")
    board.corral("log", "verify")


def test_a_replay_from_the_first_event_gives_the_same_state(board: Board) -> None:
    (board.folder / "derived" / "snapshot").unlink()
    assert board.status() == (HERE / f"status-{COMMIT}.json").read_text("utf-8")


def test_work_goes_on_from_there(board: Board) -> None:
    board.corral("task", "land", "AF-4")
    board.corral("task", "add", "One more", "--convoy", "auth-fix")
    board.corral("task", "claim", "AF-5", "--as", "dora")
    states = {task["id"]: task["state"] for task in board.data("status")["tasks"]}
    assert (states["AF-4"], states["AF-5"]) == ("done", "doing")


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the sources of that commit."""
    folder = tmp_path_factory.mktemp("earlier")
    words = ["git", "archive", "--format=tar", COMMIT, "src/corral"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"this clone has no history back to {COMMIT}")
    subprocess.run(["tar", "-x"], input=done.stdout, cwd=folder, check=True)
    return folder / "src"


def test_a_running_session_is_taken_over(earlier: Path, tmp_path: Path) -> None:
    project = make_witness_repo(tmp_path / "project")
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    task = project.script(f"cat {shlex.quote(str(gate))}; {WORK}")
    witness = _earlier_witness(earlier, project)
    try:
        project.until_running(f"{task}.1")
    finally:
        witness.send_signal(signal.SIGKILL)
        witness.wait()
    with project.witness():
        gate.write_text("")
        assert project.until_ended(task) == "proved"
    assert [session["id"] for session in project.sessions()] == [f"{task}.1"]


def _earlier_witness(source: Path, project: WitnessRepo) -> "subprocess.Popen[bytes]":
    words = [sys.executable, "-P", "-m", "corral", "witness", "run"]
    env = {**project.env, "PYTHONPATH": str(source)}
    return subprocess.Popen(words, cwd=project.path, env=env, stdout=subprocess.DEVNULL)
