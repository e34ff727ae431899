"""Whether a convoy can still make progress on its own, and what its report says."""

import pytest

from corral.core.board import commands as c
from corral.core.ids import ConvoyId, TaskId
from corral.core.log import events as e
from corral.core.log.state import TaskState
from corral.core.session.slots import Limits
from corral.core.show.outlook import EXIT_CODES, Lot, Outlook, Standing, outlook, report
from tests.core.memory_board import Board

LIMITS = Limits(total=4)
CONVOY = ConvoyId("auth-fix")


def seen(board: Board) -> Outlook:
    return outlook(board.state, CONVOY, LIMITS, board.now)


@pytest.mark.parametrize(
    ("state", "lot", "standing"),
    [
        (TaskState.TODO, Lot.WORKING, Standing.RUNNING),
        (TaskState.DOING, Lot.WORKING, Standing.RUNNING),
        (TaskState.REVIEW, Lot.WORKING, Standing.RUNNING),
        (TaskState.BLOCKED, Lot.PERSON, Standing.NEEDS_PERSON),
        (TaskState.FAILED, Lot.FAILED, Standing.FAILED),
        (TaskState.CANCELLED, Lot.OVER, Standing.LANDED),
    ],
)
def test_one_task(state: TaskState, lot: Lot, standing: Standing) -> None:
    board = Board()
    task = board.task()
    board.bring(task, state)
    assert seen(board) == Outlook(standing, {task: lot})


def test_what_needs_a_task_shares_its_lot() -> None:
    board = Board()
    first, good = board.task(), board.task()
    second = board.task(first)
    third = board.task(second)
    board.bring(first, TaskState.FAILED)
    assert seen(board).lots == {
        first: Lot.FAILED,
        good: Lot.WORKING,
        second: Lot.FAILED,
        third: Lot.FAILED,
    }
    assert seen(board).standing is Standing.RUNNING  # the good one can still be done
    board.land(good)
    assert seen(board).standing is Standing.FAILED
    told = report(board.state, CONVOY, seen(board), board.now)
    assert (told.landed, told.failed, told.waiting, told.exit_code) == (1, 3, 0, 1)


def test_a_need_that_was_cancelled_wants_a_person() -> None:
    board = Board()
    first = board.task()
    second = board.task(first)
    board.bring(first, TaskState.CANCELLED)
    assert seen(board).lots[second] is Lot.PERSON


def test_what_is_over_budget_is_told_apart_from_what_failed() -> None:
    board = Board()
    task = board.task()
    board.claim(task)
    board.add(e.TaskFailed(task=task, reason="over_budget: it has used $2"))
    assert seen(board).standing is Standing.OUT_OF_BUDGET


@pytest.mark.parametrize("convoy", ["", CONVOY])
def test_work_that_was_paused_wants_a_person(convoy: str) -> None:
    board = Board()
    board.task()
    board.do(c.Pause(sessions=True, convoy=ConvoyId(convoy)))
    assert seen(board).standing is Standing.NEEDS_PERSON
    (told,) = report(board.state, CONVOY, seen(board), board.now).tasks
    assert told.reason.endswith("has paused new sessions")


def test_a_chain_of_any_length() -> None:
    board = Board()
    last = board.task()
    for number in range(2_000):
        board.add(
            e.TaskAdded(task=TaskId(f"AF-{number + 2}"), convoy=CONVOY, title="x", needs=(last,))
        )
        last = TaskId(f"AF-{number + 2}")
    assert seen(board).count(Lot.WORKING) == 2_001
    board.bring(TaskId("AF-1"), TaskState.FAILED)
    assert seen(board).count(Lot.FAILED) == 2_001


def test_every_end_has_an_exit_code_of_its_own() -> None:
    ends = set(Standing) - {Standing.RUNNING}
    assert set(EXIT_CODES) == ends
    assert len(set(EXIT_CODES.values())) == len(ends)
