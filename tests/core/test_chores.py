"""What the deacon decides, from the log and from what it observed."""

import msgspec
import pytest

from corral.core import chores
from corral.core.board import commands as c
from corral.core.chores import DAY, HOUR, SETTLE, ChoreOutcome, Saved
from corral.core.ids import SessionId, TaskId
from corral.core.log import events as e
from corral.core.log.codec import encode
from corral.core.log.state import TaskState
from corral.core.session import rules as session_rules
from corral.core.session.slots import Limits
from tests.core.memory_board import START, Board

GRACE_S = 120
KEEP_DAYS = 30


@pytest.fixture
def board() -> Board:
    board = Board()
    board.task()
    return board


def begin(board: Board, task: str = "AF-1") -> SessionId:
    """Start a session whose claim lives for a minute."""
    events = session_rules.start(
        board.state,
        TaskId(task),
        profile="default",
        pool="",
        base="a" * 40,
        limits=Limits(12, 0, {}),
        ttl_s=60,
        wall_s=0,
        now=board.now,
    )
    for event in events:
        board.add(event)
    return board.get(task).session


def end(board: Board, session: SessionId, verdict: str = "crashed") -> None:
    board.add(e.SessionEnded(session=session, verdict=verdict))


def lapses(board: Board, *guarded: str) -> list[str]:
    found = chores.lapsed_claims(board.state, guarded, GRACE_S, board.now)
    return [event.task for event in found if isinstance(event, e.TaskLapsed)]


def do(board: Board, results: dict[str, ChoreOutcome]) -> list[str]:
    events = chores.settle(board.state, results, board.now)
    for event in events:
        board.add(event)
    return [event.type for event in events]


def test_a_claim_is_taken_away_the_moment_it_has_run_out(board: Board) -> None:
    board.claim(TaskId("AF-1"))
    board.wait(59.999)
    assert lapses(board) == []
    board.wait(0.001)
    (event,) = chores.lapsed_claims(board.state, (), GRACE_S, board.now)
    assert event == e.TaskLapsed(task=TaskId("AF-1"), holder="ana", token=event.token)  # type: ignore[attr-defined]  # its only type
    board.add(event)
    assert board.get("AF-1").state is TaskState.TODO
    assert lapses(board) == []


def test_a_session_that_seems_to_be_looked_after_is_given_one_more_time_to_live(
    board: Board,
) -> None:
    session = begin(board)
    board.wait(60)
    assert lapses(board) == ["AF-1"]
    assert chores.holders(board.state, board.now) == [session]
    board.wait(GRACE_S - 0.001)
    assert lapses(board, session) == []
    board.wait(0.001)
    assert lapses(board, session) == ["AF-1"]


def test_the_grace_period_covers_only_the_sessions_own_claim(
    board: Board,
) -> None:
    session = begin(board)
    board.wait(60)
    board.claim(TaskId("AF-1"), "bob")
    board.wait(60)
    assert lapses(board, session) == ["AF-1"]
    assert chores.holders(board.state, board.now) == []


def test_only_leases_that_ran_out_are_taken_away(board: Board) -> None:
    board.do(c.AcquireLease(resource="port:1", ttl_s=10))
    board.do(c.AcquireLease(resource="port:2", ttl_s=20))
    board.wait(10)
    (event,) = chores.lapsed_leases(board.state, board.now)
    board.add(event)
    assert list(board.state.leases) == ["port:2"]


def test_a_tree_is_an_orphan_once_its_session_is_over(board: Board) -> None:
    session = begin(board)
    board.wait(1)
    names = [session, "refinery", "AF-1", ".1", "x.y"]
    assert chores.orphans(board.state, names, board.now, watched=False) == []
    end(board, session)
    assert chores.orphans(board.state, names, board.now, watched=False) == [session]


def fail(board: Board, task: str = "AF-1") -> None:
    board.add(e.TaskFailed(task=TaskId(task), reason="crashed"))


def test_a_witness_is_given_time_to_clean_up_after_its_own_sessions(board: Board) -> None:
    session = begin(board)
    board.wait(1)
    end(board, session)
    fail(board)
    board.wait(SETTLE / 1000 - 0.001)
    assert chores.orphans(board.state, [session], board.now, watched=True) == []
    board.wait(0.001)
    assert chores.orphans(board.state, [session], board.now, watched=True) == [session]


def test_the_tree_of_a_task_that_is_tried_again_is_left_to_the_witness(board: Board) -> None:
    session = begin(board)
    end(board, session)
    board.add(e.TaskDelayed(task=TaskId("AF-1"), reason="crashed", until_at=board.now))
    board.wait(SETTLE / 1000)
    assert chores.orphans(board.state, [session], board.now, watched=True) == []
    assert chores.orphans(board.state, [session], board.now, watched=False) == [session]


def test_a_session_is_over_when_the_next_one_of_its_task_begins(board: Board) -> None:
    first = begin(board)
    board.wait(61)
    end(board, first)
    second = begin(board)
    assert (first, second) == ("AF-1.1", "AF-1.2")
    fail(board)
    assert chores.orphans(board.state, [first, second], board.now, watched=False) == [first]
    assert chores.orphans(board.state, [first, second], board.now, watched=True) == []
    board.wait(SETTLE / 1000)
    assert chores.orphans(board.state, [first, second], board.now, watched=True) == [first]


def test_a_tree_of_a_session_that_the_log_never_knew_is_an_orphan(board: Board) -> None:
    assert chores.orphans(board.state, ["ZZ-9.1"], board.now, watched=True) == ["ZZ-9.1"]


def test_rooms_go_after_the_retention_and_never_while_the_session_lives(board: Board) -> None:
    session = begin(board)
    rooms = {session: START, "notes": 0, "ZZ-9.1": START + DAY}
    board.wait((KEEP_DAYS + 1) * DAY / 1000)
    assert chores.stale_rooms(board.state, rooms, KEEP_DAYS, board.now) == []
    end(board, session)
    board.wait(KEEP_DAYS * DAY / 1000)
    assert chores.stale_rooms(board.state, rooms, KEEP_DAYS, board.now) == ["ZZ-9.1"]
    board.wait(0.001)
    assert chores.stale_rooms(board.state, rooms, KEEP_DAYS, board.now) == [session, "ZZ-9.1"]


def test_kept_work_outlives_its_convoy_by_the_retention(board: Board) -> None:
    other = board.task(title="Other")
    saved = [Saved("r", "AF-1", START)]

    def gone() -> list[str]:
        return chores.expired(board.state, saved, KEEP_DAYS, board.now)

    board.land(TaskId("AF-1"))
    board.wait(400 * DAY / 1000)
    assert gone() == []
    board.do(c.CancelTask(task=other))
    assert gone() == []
    board.wait(KEEP_DAYS * DAY / 1000)
    assert gone() == []
    board.wait(0.001)
    assert gone() == ["r"]


def test_kept_work_of_an_unknown_task_expires_by_its_own_age(board: Board) -> None:
    saved = [Saved("old", "ZZ-1", START), Saved("new", "ZZ-1", START + 1)]
    board.wait(KEEP_DAYS * DAY / 1000 + 0.001)
    assert chores.expired(board.state, saved, KEEP_DAYS, board.now) == ["old"]


def test_a_worry_is_raised_once_and_cleared_when_it_is_gone(board: Board) -> None:
    worried = {"trees": ChoreOutcome(1, 0, {"AF-1.1": "cannot be read"})}
    assert do(board, worried) == ["alert.raised", "chore.done"]
    (alert,) = board.state.alerts.values()
    assert (alert.kind, alert.subject, alert.text) == ("orphan-tree", "AF-1.1", "cannot be read")
    assert do(board, worried) == []
    assert do(board, {"rooms": ChoreOutcome()}) == ["chore.done"]
    assert do(board, {"trees": ChoreOutcome(error="no git")}) == ["alert.raised"]
    assert {a.kind for a in board.state.alerts.values()} == {"orphan-tree", "failed-chore"}
    assert do(board, {"trees": ChoreOutcome()}) == ["alert.cleared", "alert.cleared"]
    assert board.state.alerts == {}


def test_alerts_of_one_round_have_names_of_their_own(board: Board) -> None:
    do(
        board,
        {
            "trees": ChoreOutcome(2, 0, {"AF-1.1": "x", "AF-2.1": "y"}),
            "kept": ChoreOutcome(error="z"),
        },
    )
    assert {alert.text for alert in board.state.alerts.values()} == {"x", "y", "z"}


@pytest.mark.parametrize("kind", ["silent", "bad_result", "not_judged"])
def test_alerts_about_how_a_session_runs_end_with_it_and_others_do_not(
    board: Board, kind: str
) -> None:
    session = begin(board)
    board.do(c.RaiseAlert(subject=session, kind=kind, text="x"))
    board.do(c.RaiseAlert(subject=session, kind="result", text="nobody acted on it"))
    board.do(c.RaiseAlert(subject="the build", kind="silent", text="a person's own"))
    assert chores.outdated(board.state) == []
    end(board, session)
    assert [alert.text for alert in chores.outdated(board.state)] == ["x"]
    do(board, {"alerts": ChoreOutcome(1, 1)})
    assert {alert.text for alert in board.state.alerts.values()} == {
        "nobody acted on it",
        "a person's own",
    }


def test_a_chore_is_recorded_when_it_did_something_and_else_once_in_an_hour(board: Board) -> None:
    nothing, something = {"leases": ChoreOutcome()}, {"leases": ChoreOutcome(2, 2)}
    assert do(board, nothing) == ["chore.done"]
    board.wait(HOUR / 1000 - 0.001)
    assert do(board, nothing) == []
    assert do(board, something) == ["chore.done"]
    last = board.state.chores["leases"]
    assert (last.ran_at, last.found, last.done) == (board.now, 2, 2)
    board.wait(HOUR / 1000)
    assert do(board, nothing) == ["chore.done"]


def test_a_chore_that_failed_is_not_recorded_as_done(board: Board) -> None:
    assert do(board, {"kept": ChoreOutcome(error="x")}) == ["alert.raised"]
    assert board.state.chores == {}


def test_what_an_error_quotes_cannot_break_the_log(board: Board) -> None:
    odd = "\x1b]0;x\x07\n" + "caf\udce9" + "y" * 5000
    (event, *_) = chores.settle(
        board.state, {"trees": ChoreOutcome(1, 0, {"AF-1.1": odd})}, board.now
    )
    assert isinstance(event, e.AlertRaised)
    assert event.text.isprintable()
    assert len(event.text) <= 1000
    msgspec.json.decode(encode(1, 1, "deacon", event))


def test_it_wakes_when_the_next_thing_runs_out(board: Board) -> None:
    swept = board.now

    def wakes(*guarded: str) -> int:
        return chores.wake_at(board.state, guarded, GRACE_S, swept, board.now) - START

    assert wakes() == HOUR
    session = begin(board)
    assert wakes() == 60_000
    board.do(c.AcquireLease(resource="port:1", ttl_s=20))
    assert wakes() == 20_000
    board.wait(20)
    board.add(chores.lapsed_leases(board.state, board.now)[0])
    board.wait(40)
    assert wakes(session) == 60_000 + GRACE_S * 1000


def test_the_machine_is_looked_at_when_a_session_is_over_and_once_more_after_a_while(
    board: Board,
) -> None:
    swept = board.now
    board.wait(5)
    session = begin(board)
    assert chores.sweep_at(board.state, swept) == swept + HOUR
    board.wait(5)
    end(board, session)
    assert chores.sweep_at(board.state, swept) == board.now
    assert chores.sweep_at(board.state, board.now) == board.now + SETTLE
    swept = board.now + SETTLE
    assert chores.sweep_at(board.state, swept) == swept + HOUR
