"""R9, R25, R29: the deacon on a real repository, with real trees, processes and refs."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from corral.core import commands as c
from corral.core import events as e
from corral.core import session_rules
from corral.core.chores import DAY, SETTLE, Found
from corral.core.config import Config
from corral.core.errors import Refused
from corral.core.ids import SessionId, TaskId
from corral.core.slots import Limits
from corral.core.state import State, TaskState
from corral.roles import locks
from corral.roles.chores import NAMES
from corral.roles.deacon import Deacon
from corral.roles.files import Room
from corral.store.port import Request, perform
from corral.store.sqlite import SqliteStore
from corral.world import clock, processes
from corral.world.processes import Launch
from corral.world.repository import find
from corral.world.trees import Tree, Trees
from tests.world.processes.sessions import await_end, await_in
from tests.world.trees.ground import commit_file, everything, git, repository

SLEEP = "import signal; print('up', flush=True); signal.pause()"
PROGRAM = [sys.executable, "-I", "-S", "-c", SLEEP]


class Yard:
    """A repository with a board, whose time is ours, and a deacon."""

    def __init__(self, repo: Path) -> None:
        self.repo = repo
        self.ahead = 0
        self._launched: list[str] = []
        self.repository = find(str(repo))
        self.store = SqliteStore(self.repository.folder, self.clock)
        self.config = Config()
        self.trees = Trees(self.repository, now=self.clock)
        self.do(c.CreateConvoy(title="Auth fix"))

    def clock(self) -> int:
        return clock.now() + self.ahead

    def do(self, command: c.Command, actor: str = "ana") -> None:
        perform(self.store, command, actor, lambda state, stored: None)

    def record(self, *events: e.Event) -> None:
        self.store.transaction(Request("test", lambda s, now: events, lambda s, stored: None))

    def state(self) -> State:
        return self.store.state()

    def begin(self) -> SessionId:
        """Add a task and start a session on it, as the log sees it."""
        self.do(c.AddTask(title="Fix login"))
        task = list(self.state().tasks)[-1]
        self.store.transaction(
            Request(
                "witness",
                lambda state, now: session_rules.start(
                    state,
                    task,
                    profile="default",
                    pool="",
                    base=git(self.repo, "rev-parse", "main"),
                    limits=Limits(100, 0, {}),
                    ttl_s=60,
                    wall_s=0,
                    now=now,
                ),
                lambda state, stored: None,
            )
        )
        return self.state().tasks[task].session

    def end(self, session: SessionId) -> None:
        task = self.state().sessions[session].task
        self.record(
            e.SessionEnded(session=session, verdict="crashed"),
            e.TaskFailed(task=task, reason="crashed"),
        )

    def tree(self, session: SessionId) -> Tree:
        found = self.state().sessions[session]
        return self.trees.make(session, found.branch, found.base)

    def launch(self, session: SessionId) -> str:
        """Start the program of a session, under its shim; return its folder."""
        folder = Room(self.repository.folder, session).next("run")
        self._launched.append(folder)
        env = {"CORRAL_RUN": self.repository.git_dir, "CORRAL_SESSION": session}
        processes.start(
            f"{self.repository.folder}/run",
            Launch(
                session=session,
                argv=PROGRAM,
                cwd=str(self.repo),
                env=env,
                folder=folder,
                grace_s=0.1,
            ),
        )
        return folder

    def once(self) -> dict[str, Found]:
        return Deacon(self.store, self.repository, self.config, self.clock).once()

    def alerts(self) -> dict[str, str]:
        return {alert.kind: alert.subject for alert in self.state().alerts.values()}

    def close(self) -> None:
        for folder in self._launched:
            processes.ask_stop(folder)
            await_in(folder, partial(processes.outcome, folder))
        while left := processes.strays(self.repository.git_dir, live=()):
            processes.end(left)
        self.store.close()


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


@pytest.fixture
def yard(tmp_path: Path) -> Iterator[Yard]:
    made = Yard(repository(tmp_path / "project"))
    yield made
    made.close()


@pytest.fixture
def witness(yard: Yard) -> Iterator[None]:
    """Have the lock of a witness taken."""
    lock = locks.only_one(yard.repository.folder, "witness")
    yield
    os.close(lock)


def marked(yard: Yard, **env: str) -> "subprocess.Popen[bytes]":
    """Start a process outside of any shim, with these marks, and wait until it is up."""
    process = subprocess.Popen(PROGRAM, env=env, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    process.stdout.close()
    return process


def end_all(*started: "subprocess.Popen[bytes]") -> None:
    for process in started:
        process.kill()
        process.wait()


def test_every_chore_says_what_it_found_and_when_it_ran(yard: Yard) -> None:
    results = yard.once()
    assert list(results) == list(NAMES)
    assert all(result == Found() for result in results.values())
    assert set(yard.state().chores) == set(NAMES)


def test_a_quiet_second_round_writes_nothing(yard: Yard) -> None:
    yard.once()
    before = yard.state().seq
    yard.once()
    assert yard.state().seq == before


def test_claims_and_leases_that_ran_out_are_free_again(yard: Yard) -> None:
    yard.do(c.AddTask(title="Fix login"))
    yard.do(c.ClaimTask(task=TaskId("AF-1"), ttl_s=10), "bob")
    yard.do(c.AcquireLease(resource="port:8080", ttl_s=10), "bob")
    yard.do(c.AcquireLease(resource="port:9090", ttl_s=1000), "bob")
    assert yard.once()["claims"].done == 0
    yard.ahead = 10_001
    results = yard.once()
    assert (results["claims"], results["leases"]) == (Found(1, 1), Found(1, 1))
    assert yard.state().tasks[TaskId("AF-1")].state is TaskState.TODO
    assert list(yard.state().leases) == ["port:9090"]


def test_a_session_that_still_runs_keeps_its_claim_for_one_more_time_to_live(yard: Yard) -> None:
    running, gone = yard.begin(), yard.begin()
    yard.launch(running)
    yard.ahead = 61_000
    assert yard.once()["claims"].done == 1
    tasks = yard.state().tasks
    assert tasks[TaskId("AF-1")].claim is not None
    assert tasks[TaskId("AF-2")].claim is None
    assert gone == "AF-2.1"
    yard.ahead += 3 * yard.config.watch.beat_s * 1000
    assert yard.once()["claims"].done == 1
    assert yard.state().tasks[TaskId("AF-1")].claim is None


@pytest.mark.usefixtures("witness")
def test_a_session_with_a_witness_keeps_its_claim_for_one_more_time_to_live(yard: Yard) -> None:
    yard.begin()
    yard.ahead = 61_000
    assert yard.once()["claims"].done == 0


def test_a_live_session_without_process_and_witness_is_an_alert_until_it_is_taken_up(
    yard: Yard,
) -> None:
    session = yard.begin()
    assert yard.once()["sessions"].found == 1
    assert yard.alerts() == {"lost-session": session}
    before = yard.state().seq
    yard.once()
    assert yard.state().seq == before
    lock = locks.only_one(yard.repository.folder, "witness")
    assert yard.once()["sessions"].found == 0
    os.close(lock)
    assert yard.alerts() == {}
    assert yard.state().sessions[session].live


def test_a_session_that_runs_or_left_an_exit_is_not_lost(yard: Yard) -> None:
    first, second = yard.begin(), yard.begin()
    yard.launch(first)
    folder = yard.launch(second)
    processes.ask_stop(folder)
    await_in(folder, lambda: processes.read_exit(folder))
    assert yard.once()["sessions"] == Found()


def test_strays_of_sessions_that_are_over_are_ended_and_nobody_else(yard: Yard) -> None:
    over, live = yard.begin(), yard.begin()
    yard.end(over)
    run = yard.repository.git_dir
    strays = [marked(yard, CORRAL_RUN=run, CORRAL_SESSION=over)]
    strays.append(marked(yard, CORRAL_RUN=run, CORRAL_SESSION="ZZ-9.3"))
    spared = [
        marked(yard, CORRAL_RUN=run, CORRAL_SESSION=live),
        marked(yard, CORRAL_SESSION=over),  # of another repository, or of a person
        marked(yard, CORRAL_RUN=f"{run}/other", CORRAL_SESSION=over),
        marked(yard, CORRAL_RUN=run),
        marked(yard, CORRAL_RUN=run, CORRAL_SESSION="ana"),
        marked(yard),
    ]
    try:
        assert yard.once()["processes"] == Found(2, 2)
        assert [process.wait(10) for process in strays] == [-9, -9]
        assert [process.poll() for process in spared] == [None] * len(spared)
    finally:
        end_all(*strays, *spared)


def test_a_tree_whose_session_is_over_is_kept_and_parked(yard: Yard) -> None:
    over, live = yard.begin(), yard.begin()
    left, used = yard.tree(over), yard.tree(live)
    commit = commit_file(left.path, "made.txt", "made\n")
    Path(left.path, "left.txt").write_text("left\n")
    assert yard.once()["trees"] == Found()
    yard.end(over)
    assert yard.once()["trees"] == Found(1, 1)
    assert [tree.name for tree in yard.trees.list()] == [live]
    assert Path(used.path, "run.sh").exists()
    (kept,) = yard.trees.keep.list_kept(over)
    assert yard.trees.keep.show(kept).untracked == ("left.txt",)
    assert git(yard.repo, "for-each-ref", "--contains", commit)


@pytest.mark.usefixtures("witness")
def test_a_witness_that_runs_has_time_to_clean_up_itself(yard: Yard) -> None:
    session = yard.begin()
    yard.tree(session)
    yard.end(session)
    assert yard.once()["trees"] == Found()
    yard.ahead = SETTLE + 1000
    assert yard.once()["trees"] == Found(1, 1)


def test_a_tree_that_cannot_be_kept_stays_and_is_told(yard: Yard) -> None:
    session = yard.begin()
    tree = yard.tree(session)
    Path(tree.path, "left.txt").write_text("left\n")
    yard.end(session)
    desks = Path(yard.repository.folder, "desks")
    desks.write_text("no room for a desk")
    result = yard.once()["trees"]
    assert (result.found, result.done, list(result.worries)) == (1, 0, [session])
    assert yard.alerts() == {"orphan-tree": session}
    assert Path(tree.path, "left.txt").exists()
    desks.unlink()
    assert yard.once()["trees"] == Found(1, 1)
    assert yard.alerts() == {}


def test_the_users_own_trees_branches_and_checkout_are_left_alone(
    yard: Yard, tmp_path: Path
) -> None:
    git(yard.repo, "branch", "convoy/auth-fix/mine")
    git(yard.repo, "worktree", "add", "--quiet", "-b", "AF-1.1", str(tmp_path / "AF-1.1"))
    beside = Path(yard.trees.place, "tree-9")
    beside.mkdir(parents=True)
    (beside / "notes").write_text("a person's own\n")
    (tmp_path / "AF-1.1" / "new").write_text("not committed\n")
    room = Path(yard.repository.folder, "sessions", "notes")
    room.mkdir(parents=True)
    session = yard.begin()
    yard.tree(session)
    yard.end(session)
    branches = git(yard.repo, "for-each-ref", "refs/heads")
    seen = [everything(yard.repo, leaving_out=(b".git",)), everything(tmp_path / "AF-1.1")]
    yard.ahead = 100 * DAY
    yard.once()
    assert git(yard.repo, "for-each-ref", "refs/heads") == branches
    assert [
        everything(yard.repo, leaving_out=(b".git",)),
        everything(tmp_path / "AF-1.1"),
    ] == seen
    assert (beside / "notes").exists()
    assert room.exists()


def test_rooms_and_kept_work_go_after_the_retention(yard: Yard) -> None:
    session = yard.begin()
    tree = yard.tree(session)
    Path(tree.path, "left.txt").write_text("left\n")
    room = Path(Room(yard.repository.folder, session).next("run")).parent
    yard.end(session)
    yard.once()
    yard.ahead = 29 * DAY
    yard.once()
    assert room.exists()
    yard.ahead = 31 * DAY
    assert yard.once()["rooms"] == Found(1, 1)
    assert not room.exists()
    assert len(yard.trees.keep.list_kept()) == 1, "its convoy is open"
    yard.do(c.CancelTask(task=TaskId("AF-1")))
    yard.ahead += 29 * DAY
    assert yard.once()["kept"] == Found()
    yard.ahead += 2 * DAY
    assert yard.once()["kept"] == Found(1, 1)
    assert yard.trees.keep.list_kept() == []


def test_what_still_runs_is_ended_before_its_room_goes(yard: Yard) -> None:
    session = yard.begin()
    folder = yard.launch(session)
    yard.end(session)
    yard.ahead = 31 * DAY
    assert yard.once()["processes"].done == 1
    home = os.path.dirname(os.path.dirname(folder))
    await_in(home, lambda: None if processes.alive(folder) else True)
    yard.once()
    assert not os.path.exists(folder)


def test_what_was_thrown_away_is_deleted(yard: Yard) -> None:
    trash = Path(yard.trees.place, ".trash-0123456789abcdef")
    (trash / "deep").mkdir(parents=True)
    (trash / "deep" / "file").write_text("x")
    assert yard.once()["trash"] == Found(1, 1)
    assert not trash.exists()


def test_alerts_about_a_session_end_with_it(yard: Yard) -> None:
    session = yard.begin()
    yard.do(c.RaiseAlert(subject=session, kind="silent", text="x"), "witness")
    yard.do(c.RaiseAlert(subject=session, kind="note", text="by hand"))
    yard.end(session)
    assert yard.once()["alerts"] == Found(1, 1)
    assert yard.alerts() == {"note": session}


def test_an_error_in_one_chore_is_an_alert_and_the_others_are_done(yard: Yard) -> None:
    sessions = Path(yard.repository.folder, "sessions")
    Path(yard.repository.folder, "view").rename(Path(yard.repository.folder, "view.away"))
    Path(yard.repository.folder, "view").write_text("not a folder")
    yard.do(c.AcquireLease(resource="port:1", ttl_s=1))
    yard.ahead = 1001
    results = yard.once()
    assert results["trees"].error
    assert results["kept"].error
    assert results["leases"] == Found(1, 1)
    assert not sessions.exists()
    subjects = {alert.subject for alert in yard.state().alerts.values()}
    assert subjects == {"trees", "kept", "trash"}
    Path(yard.repository.folder, "view").unlink()
    yard.once()
    assert yard.state().alerts == {}


def test_a_second_deacon_is_refused(yard: Yard) -> None:
    lock = locks.only_one(yard.repository.folder, "deacon")
    with pytest.raises(Refused) as caught:
        yard.once()
    assert caught.value.code == "deacon_runs"
    os.close(lock)
    yard.once()


def test_the_one_that_stays_acts_when_a_lease_runs_out_and_when_a_session_ends(
    yard: Yard,
) -> None:
    """A process of its own, with the real clock; woken by the log and by what runs out."""
    session = yard.begin()
    yard.tree(session)
    stray = marked(yard, CORRAL_RUN=yard.repository.git_dir, CORRAL_SESSION=session)
    stays = subprocess.Popen(
        [str(Path(sys.executable).parent / "corral"), "deacon", "run", "--repo", str(yard.repo)]
    )
    try:
        _until(yard, lambda state: "trees" in state.chores)
        yard.do(c.AcquireLease(resource="port:1", ttl_s=1))
        _until(yard, lambda state: not state.leases)
        yard.end(session)
        fd = os.pidfd_open(stray.pid)
        await_end(fd)
        os.close(fd)
        _until(yard, lambda state: state.chores["trees"].done == 1)
        assert yard.trees.list() == []
    finally:
        end_all(stays, stray)


def _until(yard: Yard, true: Callable[[State], bool], limit_s: float = 20.0) -> None:
    """Wait for the log to say so."""
    deadline = time.monotonic() + limit_s
    while not true(state := yard.state()):
        left = deadline - time.monotonic()
        assert left > 0, f"not within {limit_s} s"
        yard.store.wait(state.seq, left)
