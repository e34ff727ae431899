"""R25, R29: the deacon and the board: claims, leases, lost sessions, alerts, one at a time."""

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
from tests.roles.deacon_repo import Yard, end_all, marked, until
from tests.world.processes.sessions import await_end, await_in


def test_every_chore_says_what_it_found_and_when_it_ran(yard: Yard) -> None:
    results = yard.once()
    assert list(results) == list(NAMES)
    assert all(result == ChoreOutcome() for result in results.values())
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
    assert (results["claims"], results["leases"]) == (ChoreOutcome(1, 1), ChoreOutcome(1, 1))
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
    assert yard.once()["sessions"] == ChoreOutcome()


def test_alerts_about_a_session_end_with_it(yard: Yard) -> None:
    session = yard.begin()
    yard.do(c.RaiseAlert(subject=session, kind="silent", text="x"), "witness")
    yard.do(c.RaiseAlert(subject=session, kind="note", text="by hand"))
    yard.end(session)
    assert yard.once()["alerts"] == ChoreOutcome(1, 1)
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
    assert results["leases"] == ChoreOutcome(1, 1)
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
        until(yard, lambda state: "trees" in state.chores)
        yard.do(c.AcquireLease(resource="port:1", ttl_s=1))
        until(yard, lambda state: not state.leases)
        yard.end(session)
        fd = os.pidfd_open(stray.pid)
        await_end(fd)
        os.close(fd)
        until(yard, lambda state: state.chores["trees"].done == 1)
        assert yard.trees.list() == []
    finally:
        end_all(stays, stray)
