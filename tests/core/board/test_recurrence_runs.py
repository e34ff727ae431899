"""One run per date and one at a time, whatever the clock, restarts and outcomes do."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from corral.core.board import commands as c
from corral.core.board.recurrence import next_at
from corral.core.log.codec import decode
from corral.core.log.state import TaskState
from corral.roles.log import recur
from corral.store.service import perform
from tests.contract.memory_store import MemoryStore
from tests.core.board.recurring_board import BEAT, BEAT_S, TASK, Recurring, ms


def finish(board: Recurring, how: str) -> None:
    """Carry the task on from wherever it is, as people and the witness do."""
    task = board.task
    if task.state is TaskState.TODO and task.not_before_at <= board.now:
        board.claim(TASK)
    if board.task.claim is None:
        return
    token = board.task.claim.token
    ways: dict[str, Callable[[], list[c.Command]]] = {
        "land": lambda: [c.SubmitTask(task=TASK, token=token), c.LandTask(task=TASK)],
        "submit": lambda: [c.SubmitTask(task=TASK, token=token)],
        "fail": lambda: [c.FailTask(task=TASK, token=token)],
        "retry": lambda: [c.FailTask(task=TASK, token=token), c.RetryTask(task=TASK)],
        "block": lambda: [c.BlockTask(task=TASK, token=token)],
        "hold": list,
    }
    for command in ways[how]():
        board.do(command)


SCHEDULES = st.one_of(
    st.fixed_dictionaries({"every": st.integers(1, 4)}),
    st.fixed_dictionaries({"cron": st.sampled_from(["*/7 * * * *", "@hourly", "5 4 * * mon"])}),
)
STEPS = st.lists(
    st.tuples(
        st.one_of(st.integers(-2_000, 5_000), st.integers(0, 10 * BEAT_S), st.just(900_000)),
        st.sampled_from(["land", "submit", "fail", "retry", "block", "hold", "tend", "restart"]),
    ),
    max_size=60,
)


@settings(max_examples=300, deadline=None)
@given(SCHEDULES, st.sampled_from(["", "once", "skip"]), STEPS)
def test_no_date_is_used_twice_and_no_run_begins_while_one_is_open(
    schedule: dict[str, Any], missed: str, steps: list[tuple[int, str]]
) -> None:
    board = Recurring(**schedule, missed=missed)
    used = [board.task.covered_at]
    for seconds, what in steps:
        board.wait(seconds)
        if what == "restart":
            before = msgspec.msgpack.encode(board.state.tasks)
            board.restart()
            assert msgspec.msgpack.encode(board.state.tasks) == before
        elif what != "tend":
            finish(board, what)
        waiting = not board.task.attempts
        finished = board.task.state in (TaskState.DONE, TaskState.FAILED)
        soon = next_at(board.state, board.now, BEAT_S)
        dates = board.tend()
        assert len(dates) <= 1
        assert bool(dates) == (soon == board.now)
        assert board.tend() == []  # at once again: nothing more
        for date in dates:
            assert finished or (waiting and missed == "skip")
            assert date > used[-1]
            assert date <= board.now or waiting
            used.append(date)
            assert board.task.state is TaskState.TODO


@settings(max_examples=100, deadline=None)
@given(SCHEDULES, st.sampled_from(["once", "skip"]), st.integers(0, 10_000_000))
def test_sleeping_until_the_next_date_misses_none(
    schedule: dict[str, Any], missed: str, offset: int
) -> None:
    board = Recurring(ms(2026, 3, 2) + offset, **schedule, missed=missed)
    board.now = max(board.now, board.task.not_before_at)
    for _ in range(5):
        board.tend()
        board.land(TASK)
        at = next_at(board.state, board.now, BEAT_S)
        assert at is not None
        assert at > board.now
        board.now = at - 1
        assert board.tend() == []
        board.now = at
        assert board.tend() == [at]


def test_two_witnesses_at_once_use_a_date_once() -> None:
    clock = Clock(ms(2026, 3, 2, 12, 5))
    store = MemoryStore(clock)
    land(store)
    clock.now += BEAT
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: recur(store, "witness", BEAT_S, clock), range(32)))
    assert answers == [None] * 32  # it is open: nothing to wait for
    kinds = [decode(stored.line).type for stored in store.read()]
    assert kinds.count("task.recurred") == 1


def test_nothing_is_written_while_nothing_is_due() -> None:
    clock = Clock(ms(2026, 3, 2, 12, 5))
    store = MemoryStore(clock)
    assert recur(store, "witness", BEAT_S, clock) is None
    land(store)
    before = store.state().seq
    assert recur(store, "witness", BEAT_S, clock) == ms(2026, 3, 2, 12, 15)
    assert store.state().seq == before


class Clock:
    def __init__(self, now: int) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now


def land(store: MemoryStore) -> None:
    """Add a task that comes back every beat, and finish its first run."""
    for command in (
        c.CreateConvoy(title="Auth fix"),
        c.AddTask(title="Audit", every=1),
        c.ClaimTask(task=TASK),
    ):
        perform(store, command, "ana", lambda state, stored: None)
    claim = store.state().tasks[TASK].claim
    assert claim is not None
    for ending in (c.SubmitTask(task=TASK, token=claim.token), c.LandTask(task=TASK)):
        perform(store, ending, "ana", lambda state, stored: None)
