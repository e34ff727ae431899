"""An upcoming conflict is reported once, cleared when it is over, and can hold a task back."""

from collections.abc import Sequence

import pytest

from corral.core.board import commands as c
from corral.core.ids import TaskId
from corral.core.log import events as e
from corral.core.log.state import TaskState
from corral.core.queue.overlaps import FoundOverlap, obstacle, update
from corral.core.session.slots import Limits, startable
from corral.core.show.queries import overlaps
from corral.core.show.why import explain
from tests.core.memory_board import Board

NOBODY = TaskId("")
HOLD = Limits(10, hold=True)


@pytest.fixture
def board() -> Board:
    """AF-1 was handed in, AF-2 and AF-3 are being worked on, AF-4 is to do."""
    board = Board()
    states = (TaskState.REVIEW, TaskState.DOING, TaskState.DOING, TaskState.TODO)
    for state in states:
        board.bring(board.task(), state)
        board.wait(1)
    return board


def found(one: int, other: int, *paths: str) -> FoundOverlap:
    there = TaskId(f"AF-{other}") if other else NOBODY
    return FoundOverlap(TaskId(f"AF-{one}"), there, paths or ("src/a.py",))


def sweep(
    board: Board, *seen: FoundOverlap, quiet: Sequence[str] = ()
) -> list[tuple[str, str, str]]:
    events = board.record(update(board.state, seen, frozenset(quiet)))
    assert all(isinstance(event, e.OverlapSeen | e.OverlapOver) for event in events)
    return [(one.type.removeprefix("overlap."), one.task, one.other) for one in events]  # type: ignore[attr-defined]


def test_it_is_told_once_about_the_later_one(board: Board) -> None:
    pairs = (found(1, 2), found(3, 2), found(3, 0))
    told = [("seen", "AF-2", "AF-1"), ("seen", "AF-3", "AF-2"), ("seen", "AF-3", "")]
    assert sweep(board, *pairs) == told
    assert sweep(board, *reversed(pairs)) == []
    assert len(overlaps(board.state)) == 3
    assert [view.other for view in overlaps(board.state, TaskId("AF-3"))] == ["AF-2", ""]


def test_more_paths_are_told_but_not_for_ever(board: Board) -> None:
    assert len(sweep(board, found(2, 3, "a"))) == 1
    assert len(sweep(board, found(2, 3, "b"))) == 1
    assert board.state.overlaps["AF-2 AF-3"].paths == ("a", "b")
    many = tuple(f"f{number}" for number in range(100))
    assert len(sweep(board, found(2, 3, *many))) == 1
    assert sweep(board, found(2, 3, *many, "one more")) == []
    assert len(board.state.overlaps["AF-2 AF-3"].paths) == 20


def test_odd_paths_can_be_stored_and_shown(board: Board) -> None:
    sweep(board, found(2, 3, "a\nb\x1b[2J", "caf\udce9"))
    assert overlaps(board.state)[0].text.isprintable()


def test_it_is_over_when_it_is_not_found_any_more(board: Board) -> None:
    sweep(board, found(1, 2), found(2, 3))
    board.do(c.LandTask(task=TaskId("AF-1")))
    assert [view.other for view in overlaps(board.state)] == ["AF-2"]  # at once
    events = update(board.state, [found(2, 3)])
    assert events == [
        e.OverlapOver(task=TaskId("AF-2"), other=TaskId("AF-1"), reason="AF-1 has landed")
    ]
    board.record(events)
    assert sweep(board) == [("over", "AF-3", "AF-2")]
    assert board.state.overlaps == {}


def test_what_comes_and_goes_is_not_told_each_time(board: Board) -> None:
    assert sweep(board, found(2, 3), quiet=["AF-2 AF-3"]) == []
    assert sweep(board, found(2, 3)) == [("seen", "AF-3", "AF-2")]


def test_a_conflict_needs_somebody_at_work(board: Board) -> None:
    rests = board.task()
    assert sweep(board, FoundOverlap(TaskId("AF-4"), rests, ("a",))) == []
    assert sweep(board, FoundOverlap(TaskId("AF-4"), TaskId("AF-2"), ("a",))) == [
        ("seen", "AF-4", "AF-2")
    ]
    board.do(c.BlockTask(task=TaskId("AF-2"), token=board.get("AF-2").claim.token))  # type: ignore[union-attr]
    assert overlaps(board.state) == []


def test_the_last_attempt_of_a_task_holds_it_back_until_the_other_is_gone(board: Board) -> None:
    sweep(board, found(4, 1))
    task = board.get("AF-4")
    held = obstacle(board.state, task)
    assert held is not None
    assert held.text == "the work on AF-4 so far conflicts with AF-1 in src/a.py, so it waits"
    assert list(startable(board.state, HOLD, {}, board.now, "witness")) == []
    assert list(startable(board.state, Limits(10), {}, board.now, "witness")) == [task]
    said = explain(board.state, task, board.now, HOLD)
    assert [one.code for one in said.obstacles] == ["overlap"]
    assert said.summary == "AF-4 is ready, but is held back: it would run into a conflict"
    board.do(c.LandTask(task=TaskId("AF-1")))
    assert list(startable(board.state, HOLD, {}, board.now, "witness")) == [task]


def test_so_do_the_files_that_it_is_about(board: Board) -> None:
    sweep(board, found(2, 3, "src/a.py"))
    about = board.one(e.TaskAdded, c.AddTask(title="x", paths=("src/**",))).task
    apart = board.one(e.TaskAdded, c.AddTask(title="y", paths=("docs/**",))).task
    below = TaskId("AF-9")
    convoy, above = board.get(about).convoy, TaskId("AF-2")
    board.add(e.TaskAdded(task=below, convoy=convoy, title="z", paths=("src/**",), parent=above))
    assert obstacle(board.state, board.get(about)) is not None
    assert obstacle(board.state, board.get(apart)) is None
    assert obstacle(board.state, board.get(below)) is None, "AF-2 may wait for it"
    sweep(board, found(2, 0, "src/a.py"))
    assert obstacle(board.state, board.get(about)) is None, "it starts from what has landed"
