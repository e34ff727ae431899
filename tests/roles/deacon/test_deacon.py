"""The deacon and the board: claims, leases, lost sessions, alerts, one deacon at a time."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from corral.core.board import commands as c
from corral.core.chores import ChoreOutcome
from corral.core.errors import Refused
from corral.core.ids import TaskId
from corral.core.log.state import TaskState
from corral.roles import locks
from corral.roles.deacon.chores import NAMES
from corral.world import processes
from tests.roles.deacon_repo import DeaconRepo, end_all, marked, until
from tests.world.processes.sessions import await_end, await_in
from tests.world.trees.tree_repo import git


def test_every_chore_says_what_it_found_and_when_it_ran(project: DeaconRepo) -> None:
    results = project.once()
    assert list(results) == list(NAMES)
    assert all(result == ChoreOutcome() for result in results.values())
    assert set(project.state().chores) == set(NAMES)


def test_a_quiet_second_round_writes_nothing(project: DeaconRepo) -> None:
    project.once()
    before = project.state().seq
    project.once()
    assert project.state().seq == before


def test_claims_and_leases_that_ran_out_are_free_again(project: DeaconRepo) -> None:
    project.do(c.AddTask(title="Fix login"))
    project.do(c.ClaimTask(task=TaskId("AF-1"), ttl_s=10), "bob")
    project.do(c.AcquireLease(resource="port:8080", ttl_s=10), "bob")
    project.do(c.AcquireLease(resource="port:9090", ttl_s=1000), "bob")
    assert project.once()["claims"].done == 0
    project.ahead = 10_001
    results = project.once()
    assert (results["claims"], results["leases"]) == (ChoreOutcome(1, 1), ChoreOutcome(1, 1))
    assert project.state().tasks[TaskId("AF-1")].state is TaskState.TODO
    assert list(project.state().leases) == ["port:9090"]


def test_a_session_that_still_runs_keeps_its_claim_for_one_more_time_to_live(
    project: DeaconRepo,
) -> None:
    running, gone = project.begin(), project.begin()
    project.launch(running)
    project.ahead = 61_000
    assert project.once()["claims"].done == 1
    tasks = project.state().tasks
    assert tasks[TaskId("AF-1")].claim is not None
    assert tasks[TaskId("AF-2")].claim is None
    assert gone == "AF-2.1"
    project.ahead += 3 * project.config.watch.beat_s * 1000
    assert project.once()["claims"].done == 1
    assert project.state().tasks[TaskId("AF-1")].claim is None


@pytest.mark.usefixtures("witness")
def test_a_session_with_a_witness_keeps_its_claim_for_one_more_time_to_live(
    project: DeaconRepo,
) -> None:
    project.begin()
    project.ahead = 61_000
    assert project.once()["claims"].done == 0


def test_a_live_session_without_process_and_witness_is_an_alert_until_it_is_taken_up(
    project: DeaconRepo,
) -> None:
    session = project.begin()
    assert project.once()["sessions"].found == 1
    assert project.alerts() == {"lost-session": session}
    before = project.state().seq
    project.once()
    assert project.state().seq == before
    with locks.only_one(project.repository.folder, "witness"):
        assert project.once()["sessions"].found == 0
    assert project.alerts() == {}
    assert project.state().sessions[session].live


def test_a_session_that_runs_or_left_an_exit_is_not_lost(project: DeaconRepo) -> None:
    first, second = project.begin(), project.begin()
    project.launch(first)
    folder = project.launch(second)
    processes.ask_stop(folder)
    await_in(folder, lambda: processes.read_exit(folder))
    assert project.once()["sessions"] == ChoreOutcome()


def test_alerts_about_a_session_end_with_it(project: DeaconRepo) -> None:
    session = project.begin()
    project.do(c.RaiseAlert(subject=session, kind="silent", text="x"), "witness")
    project.do(c.RaiseAlert(subject=session, kind="note", text="by hand"))
    project.end(session)
    assert project.once()["alerts"] == ChoreOutcome(1, 1)
    assert project.alerts() == {"note": session}


def test_an_error_in_one_chore_is_an_alert_and_the_others_are_done(project: DeaconRepo) -> None:
    sessions = Path(project.repository.folder, "sessions")
    Path(project.repository.folder, "view").rename(Path(project.repository.folder, "view.away"))
    Path(project.repository.folder, "view").write_text("not a folder")
    project.do(c.AcquireLease(resource="port:1", ttl_s=1))
    project.ahead = 1001
    results = project.once()
    assert results["trees"].error
    assert results["kept"].error
    assert results["leases"] == ChoreOutcome(1, 1)
    assert not sessions.exists()
    subjects = {alert.subject for alert in project.state().alerts.values()}
    assert subjects == {"trees", "kept", "trash"}
    Path(project.repository.folder, "view").unlink()
    project.once()
    assert project.state().alerts == {}


def test_objects_of_many_sessions_are_packed(project: DeaconRepo) -> None:
    """Git estimates their number from the folder `17`, so only those are made here."""
    numbers = (b"%d" % number for number in range(10_000))
    wanted = [n for n in numbers if hashlib.sha1(b"blob %d\0%s" % (len(n), n)).digest()[0] == 0x17]
    lines = [
        f"100644 blob {git(project.repo, 'hash-object', '-w', '--stdin', stdin=n)}\t{n.decode()}\n"
        for n in wanted
    ]
    tree = git(project.repo, "mktree", stdin="".join(lines).encode())
    git(project.repo, "branch", "many", git(project.repo, "commit-tree", "-m", "many", tree))
    assert project.once()["objects"] == ChoreOutcome(1, 1)
    assert git(project.repo, "count-objects").startswith("0 objects")
    assert project.once()["objects"] == ChoreOutcome()


def test_a_user_who_forbids_collections_gets_none(project: DeaconRepo) -> None:
    for number in range(30):
        path = project.repo / ".git" / "objects" / "17" / f"{number:038x}"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"")
    git(project.repo, "config", "gc.auto", "0")
    assert project.once()["objects"] == ChoreOutcome(1, 0)
    assert project.state().alerts == {}


def test_a_second_deacon_is_refused(project: DeaconRepo) -> None:
    with locks.only_one(project.repository.folder, "deacon"), pytest.raises(Refused) as caught:
        project.once()
    assert caught.value.code == "deacon_runs"
    project.once()


def test_the_one_that_stays_acts_when_a_lease_runs_out_and_when_a_session_ends(
    project: DeaconRepo,
) -> None:
    """A process of its own, with the real clock; woken by the log and by what runs out."""
    session = project.begin()
    project.tree(session)
    stray = marked(project, CORRAL_RUN=project.repository.git_dir, CORRAL_SESSION=session)
    stays = subprocess.Popen(
        [str(Path(sys.executable).parent / "corral"), "deacon", "run", "--repo", str(project.repo)]
    )
    try:
        until(project, lambda state: "trees" in state.chores)
        project.do(c.AcquireLease(resource="port:1", ttl_s=1))
        until(project, lambda state: not state.leases)
        project.end(session)
        fd = os.pidfd_open(stray.pid)
        await_end(fd)
        os.close(fd)
        until(project, lambda state: state.chores["trees"].done == 1)
        assert project.trees.list() == []
    finally:
        end_all(stays, stray)
