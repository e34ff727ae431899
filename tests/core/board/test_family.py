"""The children that a session may start are bounded at every level, and a refusal says why."""

import pytest

from corral.core.board import commands as c
from corral.core.ids import TaskId
from corral.core.log import events as e
from corral.core.log.state import TaskState
from tests.core.memory_board import Board


@pytest.fixture
def board() -> Board:
    board = Board()
    board.convoy()
    return board


def add(board: Board, parent: str = "", *, budget: int = 0, levels: int = 0) -> TaskId:
    command = c.AddTask(title="T", parent=TaskId(parent), budget=budget, levels=levels)
    return board.one(e.TaskAdded, command).task


def below(parent: str) -> c.AddTask:
    return c.AddTask(title="T", parent=TaskId(parent))


def test_a_budget_of_four_gets_four_of_ten_and_a_refusal_that_says_so(board: Board) -> None:
    root = add(board, budget=4)
    for _ in range(4):
        add(board, root)
    for _ in range(6):
        refusal = board.refusal(below(root))
        assert (refusal.code, refusal.exit_code) == ("over_budget", 3)
        assert refusal.message == (
            "AF-1 already has 4 open tasks below it, and may have at most 4; nothing was changed"
        )
    assert len(board.state.tasks) == 5


def test_the_budget_counts_the_whole_subtree_not_only_children(board: Board) -> None:
    root = add(board, budget=3, levels=2)
    child = add(board, root, levels=1)
    add(board, child)
    add(board, child)
    for parent in (root, child):
        assert board.refusal(below(parent)).code == "over_budget"


def test_every_level_above_has_its_say(board: Board) -> None:
    root = add(board, budget=5, levels=3)
    child = add(board, root, budget=2, levels=2)
    grandchild = add(board, child, budget=9, levels=1)
    add(board, grandchild)
    refusal = board.refusal(below(grandchild))
    assert (refusal.code, refusal.message.split()[0]) == ("over_budget", child)
    assert add(board, root)
    assert add(board, root)
    assert board.refusal(below(root)).message.startswith(f"{root} already has 5 open tasks")


@pytest.mark.parametrize("over", [TaskState.DONE, TaskState.FAILED, TaskState.CANCELLED])
def test_what_is_over_no_longer_counts(board: Board, over: TaskState) -> None:
    root = add(board, budget=1)
    child = add(board, root)
    assert board.refusal(below(root)).code == "over_budget"
    board.bring(child, over)
    assert add(board, root)


@pytest.mark.parametrize("waits", [TaskState.TODO, TaskState.DOING, TaskState.BLOCKED, "review"])
def test_what_still_waits_counts(board: Board, waits: str) -> None:
    root = add(board, budget=1)
    board.bring(add(board, root), TaskState(waits))
    assert board.refusal(below(root)).code == "over_budget"


def test_what_is_open_below_something_that_is_over_counts_too(board: Board) -> None:
    root = add(board, budget=2, levels=2)
    child = add(board, root, levels=1)
    add(board, child)
    board.bring(child, TaskState.CANCELLED)
    add(board, root)
    assert board.refusal(below(root)).code == "over_budget"


def test_others_budgets_are_not_touched(board: Board) -> None:
    first, second = add(board, budget=1), add(board, budget=1)
    add(board, first)
    assert add(board, second)
    assert add(board)


@pytest.mark.parametrize("deep", [1, 2, 3])
def test_depth_shrinks_by_one_from_parent_to_child(board: Board, deep: int) -> None:
    parent = add(board, levels=deep)
    for level in range(deep):
        assert board.get(parent).levels == deep - level
        parent = add(board, parent, levels=10)
    assert board.get(parent).levels == 0
    refusal = board.refusal(below(parent))
    assert (refusal.code, refusal.exit_code) == ("too_deep", 3)
    assert refusal.message.startswith(f"{parent} may not have tasks below it")


def test_a_task_has_nothing_below_it_unless_it_was_allowed_to(board: Board) -> None:
    assert board.refusal(below(add(board))).code == "too_deep"
    assert add(board, add(board, levels=1))


def test_a_budget_alone_means_one_level(board: Board) -> None:
    root = add(board, budget=4)
    assert board.get(root).levels == 1
    assert board.get(add(board, root)).levels == 0


def test_a_child_cannot_give_itself_a_level_by_asking_for_a_budget(board: Board) -> None:
    child = add(board, add(board, levels=1), budget=100)
    assert board.get(child).levels == 0
    assert board.refusal(below(child)).code == "too_deep"


def test_levels_without_a_budget_are_bounded_by_depth_alone(board: Board) -> None:
    root = add(board, levels=1)
    for _ in range(20):
        add(board, root)


def test_the_parent_is_found_in_either_case_and_kept_as_it_is_spelled(board: Board) -> None:
    root = add(board, levels=1)
    assert board.get(add(board, root.lower())).parent == root


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (below("AF-9"), "not_found"),
        (c.AddTask(title="T", levels=-1), "bad_input"),
        (c.AddTask(title="T", levels=11), "bad_input"),
        (c.AddTask(title="T", budget=-1), "bad_input"),
        (c.AddTask(title="T", budget=1001), "bad_input"),
    ],
)
def test_a_family_that_cannot_be_is_refused(board: Board, command: c.AddTask, code: str) -> None:
    assert board.refusal(command).code == code
