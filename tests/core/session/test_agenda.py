"""The witness wakes in time for what makes no event, and rarely otherwise."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corral.core.board import commands as c
from corral.core.ids import ConvoyId, SessionId, TaskId
from corral.core.log import events as e
from corral.core.log.state import TaskState
from corral.core.queue.events import ChangeQueued, CheckStarted
from corral.core.session.agenda import next_look, resting, unattended
from tests.core.memory_board import Board

BEAT_S = 900
TASK = TaskId("AF-1")


@pytest.fixture
def board() -> Board:
    board = Board()
    board.task()
    return board


def look(board: Board, beat_s: int = BEAT_S) -> float:
    """Return in how many seconds to look again."""
    return (next_look(board.state, board.now, beat_s, "witness") - board.now) / 1000


def delay(board: Board, seconds: int) -> None:
    board.add(e.TaskDelayed(task=TASK, reason="why", until_at=board.now + seconds * 1000))


def run(board: Board) -> None:
    token = board.claim(TASK, "AF-1.1")
    board.add(
        e.SessionStarted(
            session=SessionId("AF-1.1"),
            task=TASK,
            token=token,
            profile="default",
            branch="convoy/auth-fix/AF-1",
            base="a" * 40,
        )
    )


def test_with_nothing_to_do_a_look_a_minute_is_enough(board: Board) -> None:
    assert look(board) == 60


def test_a_task_that_rests_is_looked_at_when_its_time_has_come(board: Board) -> None:
    delay(board, 7)
    assert resting(board.state, board.now, "witness") == board.now + 7000
    assert look(board) == 7
    board.wait(7)
    assert resting(board.state, board.now, "witness") is None
    assert look(board) == 60


def test_a_task_that_waits_for_more_than_its_rest_is_not_waited_for(board: Board) -> None:
    board.do(c.EditTask(task=TASK, needs=(board.task(),)))
    delay(board, 7)
    assert resting(board.state, board.now, "witness") is None
    assert look(board) == 60


def test_sessions_that_run_are_looked_at_several_times_a_beat(board: Board) -> None:
    run(board)
    assert look(board) == 15
    assert look(board, beat_s=4) == 1


def test_a_stop_is_seen_through(board: Board) -> None:
    run(board)
    board.add(e.SessionStopAsked(session=SessionId("AF-1.1"), verdict="stopped", reason="x"))
    assert look(board) == 2
    board.add(e.SessionEnded(session=SessionId("AF-1.1"), verdict="stopped"))
    assert look(board) == 60


def test_what_was_handed_in_and_left_alone_for_three_beats_is_told(board: Board) -> None:
    board.bring(TASK, TaskState.REVIEW)
    assert look(board, beat_s=10) == 30
    board.wait(29.999)
    assert unattended(board.state, board.now, 10) == []
    board.wait(0.001)
    assert [task.id for task in unattended(board.state, board.now, 10)] == [TASK]
    assert look(board, beat_s=10) == 60
    board.do(c.LandTask(task=TASK))
    assert unattended(board.state, board.now, 10) == []


def test_what_waits_in_the_queue_is_attended_while_its_convoy_is_checked(board: Board) -> None:
    board.bring(TASK, TaskState.REVIEW)
    commit, tree = "2" * 40, "3" * 40
    board.add(ChangeQueued(task=TASK, commit=commit, fork="1" * 40, paths=("a",)))
    board.wait(29)
    board.add(
        CheckStarted(
            run="R1",
            convoy=ConvoyId("auth-fix"),
            members=(TASK,),
            tip="1" * 40,
            commit=commit,
            tree=tree,
            key="k",
            deadline_s=100,
        )
    )
    board.wait(129.999)
    assert unattended(board.state, board.now, 10) == []
    board.wait(0.001)
    assert [task.id for task in unattended(board.state, board.now, 10)] == [TASK]


@given(st.integers(-100, 100), st.integers(1, 1000), st.booleans(), st.booleans())
def test_a_look_is_always_ahead_and_at_most_a_minute_away(
    rest_s: int, beat_s: int, runs: bool, review: bool
) -> None:
    board = Board()
    board.task()
    if review:
        board.bring(board.task(), TaskState.REVIEW)
    if runs:
        run(board)
    delay(board, rest_s)
    assert 0 < look(board, beat_s) <= 60
