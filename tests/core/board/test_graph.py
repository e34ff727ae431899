"""No accepted sequence of edits makes a cycle, and a refusal names a real cycle."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from corral.core.board import commands as c
from corral.core.board.graph import cycle, dependents, doomed, unmet
from corral.core.errors import Refused
from corral.core.ids import TaskId
from corral.core.log.state import TaskState
from tests.core.memory_board import Board

SIZE = 6
numbers = st.integers(1, SIZE)
Edit = tuple[int, list[int], list[int]]
edits: st.SearchStrategy[list[Edit]] = st.lists(
    st.tuples(numbers, st.lists(numbers, max_size=3), st.lists(numbers, max_size=1)), max_size=15
)


def tid(number: int) -> TaskId:
    return TaskId(f"AF-{number}")


def board_of(size: int) -> Board:
    board = Board()
    for _ in range(size):
        board.task()
    return board


def edges(board: Board) -> dict[str, set[str]]:
    return {task.id: set(task.needs) for task in board.state.tasks.values()}


def has_cycle(graph: dict[str, set[str]]) -> bool:
    """Peel off, again and again, the tasks that need nothing; what is left goes in circles."""
    left = {node: set(needs) for node, needs in graph.items()}
    while free := [node for node, needs in left.items() if not needs & left.keys()]:
        for node in free:
            del left[node]
    return bool(left)


@given(edits)
def test_no_accepted_sequence_of_edits_makes_a_cycle(changes: list[Edit]) -> None:
    board = board_of(SIZE)
    for task, more, fewer in changes:
        if not more and not fewer:
            continue
        command = c.EditTask(
            task=tid(task), needs=tuple(map(tid, more)), drop_needs=tuple(map(tid, fewer))
        )
        wanted = edges(board)
        wanted[tid(task)] = (wanted[tid(task)] - set(map(tid, fewer))) | set(map(tid, more))
        missing = set(map(tid, fewer)) - edges(board)[tid(task)]
        try:
            board.do(command)
        except Refused as refusal:
            assert (refusal.code == "cycle") == (not missing)  # noqa: PT017 - both ways are fine
            assert missing or has_cycle(wanted)
        else:
            assert not missing
            assert edges(board) == wanted
        assert not has_cycle(edges(board))


@given(st.lists(st.tuples(numbers, numbers), max_size=12), numbers, st.lists(numbers, max_size=4))
def test_a_cycle_that_is_named_is_one(
    pairs: list[tuple[int, int]], task: int, more: list[int]
) -> None:
    board = board_of(SIZE)
    for later, earlier in pairs:
        if later > earlier:
            board.do(c.EditTask(task=tid(later), needs=(tid(earlier),)))
    wanted = edges(board)
    wanted[tid(task)] = set(map(tid, more))
    circle = cycle(board.state.tasks, tid(task), map(tid, more))
    assert (circle is not None) == has_cycle(wanted)
    if circle is not None:
        assert circle[0] == circle[-1] == tid(task)
        assert len(set(circle)) == len(circle) - 1
        assert all(need in wanted[node] for node, need in pairwise(circle))


def test_a_cycle_is_found_at_the_end_of_a_very_long_chain() -> None:
    board = board_of(1)
    for number in range(1, 1200):
        board.task(f"AF-{number}")
    circle = cycle(board.state.tasks, tid(1), [tid(1200)])
    assert circle is not None
    assert len(circle) == 1201


def test_what_is_unmet_is_what_has_not_landed() -> None:
    board = board_of(2)
    last = board.task("AF-1", "AF-2")
    board.land(tid(1))
    assert [task.id for task in unmet(board.state, board.get(last))] == ["AF-2"]
    assert [task.id for task in dependents(board.state, tid(2))] == [last]


def test_a_task_is_doomed_by_a_cancelled_one_unless_what_is_between_has_landed() -> None:
    board = board_of(1)
    two = board.task("AF-1")
    three = board.task(two)
    assert doomed(board.state, board.get(three)) is None
    board.do(c.CancelTask(task=tid(1)))
    lost = doomed(board.state, board.get(three))
    assert lost is not None
    assert lost.id == "AF-1"
    board.do(c.EditTask(task=two, drop_needs=(tid(1),)))
    board.land(two)
    assert doomed(board.state, board.get(three)) is None
    assert board.get(two).state is TaskState.DONE
