"""No task starts before its dependencies have landed; a refusal spells out the cycle."""

import pytest

from corral.core.board import commands as c
from corral.core.ids import TaskId
from corral.core.log.state import TaskState
from tests.core.memory_board import Board


@pytest.fixture
def board() -> Board:
    board = Board()
    board.convoy()
    return board


def needs(*tasks: str) -> tuple[TaskId, ...]:
    return tuple(TaskId(task) for task in tasks)


@pytest.mark.parametrize("state", [state for state in TaskState if state is not TaskState.DONE])
def test_a_task_waits_until_its_need_has_landed(board: Board, state: TaskState) -> None:
    first = board.task()
    second = board.task(first)
    board.bring(first, state)
    refusal = board.refusal(c.ClaimTask(task=second))
    expected = "need_cancelled" if state is TaskState.CANCELLED else "needs_not_landed"
    assert refusal.code == expected
    assert first in refusal.message


def test_a_task_is_offered_as_soon_as_its_last_need_has_landed(board: Board) -> None:
    one, two = board.task(), board.task()
    last = board.task(one, two)
    board.land(one)
    board.bring(two, TaskState.REVIEW)
    assert board.refusal(c.ClaimTask()).code == "nothing_ready"
    board.do(c.LandTask(task=two))
    board.claim(None)
    assert board.get(last).state is TaskState.DOING


def test_a_cancelled_need_far_away_is_named(board: Board) -> None:
    one = board.task()
    two = board.task(one)
    three = board.task(two)
    board.do(c.CancelTask(task=one))
    refusal = board.refusal(c.ClaimTask(task=three))
    assert refusal.code == "need_cancelled"
    assert refusal.message.startswith(
        f"{three} needs {two}, which needs {one}, and {one} was cancelled"
    )
    assert f"corral task retry {one}" in refusal.hint


def test_a_cancelled_need_can_be_dropped(board: Board) -> None:
    one = board.task()
    two = board.task(one)
    board.do(c.CancelTask(task=one))
    board.do(c.EditTask(task=two, drop_needs=needs(one)))
    board.claim(two)


@pytest.mark.parametrize("length", [1, 2, 3, 10])
def test_a_cycle_is_refused_and_written_out(board: Board, length: int) -> None:
    tasks = [board.task()]
    for _ in range(length - 1):
        tasks.append(board.task(tasks[-1]))
    refusal = board.refusal(c.EditTask(task=tasks[0], needs=(tasks[-1],)))
    circle = " → ".join([tasks[0], *reversed(tasks)])
    assert (refusal.code, refusal.exit_code) == ("cycle", 3)
    assert refusal.message == f"that would create a cycle: {circle}; nothing was changed"


def test_a_new_task_cannot_need_itself(board: Board) -> None:
    board.task()
    refusal = board.refusal(c.AddTask(title="T", needs=needs("af-2")))
    assert "AF-2 → AF-2" in refusal.message


def test_needs_are_added_to_those_there_are_and_kept_once(board: Board) -> None:
    one, two = board.task(), board.task()
    last = board.task(one)
    board.do(c.EditTask(task=last, needs=needs("af-1", two, one)))
    assert board.get(last).needs == (one, two)
    board.do(c.EditTask(task=last, needs=(one,), drop_needs=needs(one, "af-2")))
    assert board.get(last).needs == (one,)


def test_a_need_that_is_not_there_cannot_be_dropped(board: Board) -> None:
    one, two = board.task(), board.task()
    refusal = board.refusal(c.EditTask(task=one, drop_needs=(two,)))
    assert (refusal.code, refusal.message) == (
        "not_needed",
        f"{one} does not need {two}; nothing was changed",
    )


def test_a_swap_that_would_only_be_a_cycle_with_the_dropped_need_is_fine(board: Board) -> None:
    one = board.task()
    two = board.task(one)
    three = board.task()
    board.do(c.EditTask(task=two, drop_needs=(one,), needs=(three,)))
    board.do(c.EditTask(task=one, needs=(two,)))
    assert board.get(one).needs == (two,)
