"""There are never more sessions than allowed; the reserve is for urgent tasks."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, composite

from corral.core.board import commands as c
from corral.core.board.claims import offers
from corral.core.ids import ConvoyId, SessionId, TaskId, Token
from corral.core.log.state import Session, State, Task, TaskState
from corral.core.session import rules as session_rules
from corral.core.session.slots import Limits, TakenSlots, startable
from tests.core.memory_board import START, Board

POOLS = ("", "a", "b")
PROFILES = {"default": "b", "one": "a", "two": "a", "three": "b", "four": ""}
WITNESS = "witness"


def session(name: str, pool: str, *, live: bool = True, task: str = "AF-0") -> Session:
    return Session(
        id=SessionId(name),
        task=TaskId(task),
        token=Token("1"),
        profile="default",
        pool=pool,
        branch="convoy/auth-fix/AF-0",
        base="a" * 40,
        wall_s=60,
        started_at=START,
        ended_at=0 if live else START,
    )


def task(number: int, *, urgent: bool, priority: int, engine: str, state: TaskState) -> Task:
    return Task(
        id=TaskId(f"AF-{number}"),
        convoy=ConvoyId("auth-fix"),
        title="T",
        state=state,
        priority=priority,
        needs=(),
        paths=(),
        accept=(),
        inputs=(),
        engine=engine,
        assignee="",
        added_at=START,
        changed_at=START,
        order=number,
        brief_seq=0,
        urgent=urgent,
    )


@composite
def limits(draw: DrawFn) -> Limits:
    total = draw(st.integers(1, 6))
    reserve = draw(st.integers(0, total - 1))
    return Limits(total, reserve, draw(st.dictionaries(st.sampled_from(POOLS), st.integers(0, 3))))


@composite
def states(draw: DrawFn) -> State:
    """Any state: perhaps with more sessions than the limits would allow, perhaps with none."""
    state = State()
    for number in range(draw(st.integers(0, 8))):
        made = session(f"X-{number}.1", draw(st.sampled_from(POOLS)), live=draw(st.booleans()))
        state.sessions[made.id] = made
    for number in range(draw(st.integers(0, 10))):
        added = task(
            number,
            urgent=draw(st.booleans()),
            priority=draw(st.integers(-1, 1)),
            engine=draw(st.sampled_from(["", *PROFILES, "unknown"])),
            state=draw(st.sampled_from([TaskState.TODO, TaskState.TODO, TaskState.REVIEW])),
        )
        state.tasks[added.id] = added
    return state


def planned(state: State, given: Limits) -> list[Task]:
    return list(startable(state, given, PROFILES, START, WITNESS))


def pool_of(found: Task) -> str:
    return PROFILES.get(found.engine or "default", "")


@given(states(), limits())
def test_a_plan_never_goes_beyond_a_limit_whatever_the_state(state: State, given: Limits) -> None:
    taken = Counter(session.pool for session in state.sessions.values() if session.live)
    for found in planned(state, given):
        room = given.total if found.urgent else given.total - given.reserve
        assert taken.total() < room
        assert taken[pool_of(found)] < given.pools.get(pool_of(found), given.total)
        taken[pool_of(found)] += 1


@given(states(), limits())
def test_a_plan_leaves_nothing_waiting_that_could_start(state: State, given: Limits) -> None:
    taken, started = TakenSlots(state), planned(state, given)
    for found in started:
        taken.add(pool_of(found))
    for waiting in offers(state, START, WITNESS):
        if waiting not in started:
            assert taken.obstacle(waiting, pool_of(waiting), given) is not None


@given(states(), limits())
def test_the_urgent_come_first_then_the_important_then_the_oldest(
    state: State, given: Limits
) -> None:
    order = [(not found.urgent, -found.priority, found.order) for found in planned(state, given)]
    assert order == sorted(order)


@given(states(), limits())
def test_a_plan_is_made_of_tasks_that_are_ready_each_once(state: State, given: Limits) -> None:
    found = planned(state, given)
    assert len({found.id for found in found}) == len(found)
    assert all(task.state is TaskState.TODO for task in found)


@pytest.mark.parametrize(
    ("live", "urgent", "starts"),
    [(0, False, 8), (9, False, 1), (10, False, 0), (10, True, 2), (12, True, 0), (50, True, 0)],
)
def test_the_reserve_is_for_the_urgent(live: int, urgent: bool, starts: int) -> None:
    state = State()
    for number in range(live):
        made = session(f"X-{number}.1", "")
        state.sessions[made.id] = made
    for number in range(8):
        added = task(number, urgent=urgent, priority=0, engine="", state=TaskState.TODO)
        state.tasks[added.id] = added
    assert len(planned(state, Limits(12, 2))) == starts


def test_a_full_pool_lets_the_others_pass() -> None:
    state = State()
    for number, engine in enumerate(["one", "two", "three", "one"]):
        added = task(number, urgent=False, priority=0, engine=engine, state=TaskState.TODO)
        state.tasks[added.id] = added
    found = planned(state, Limits(12, 0, {"a": 1}))
    assert [task.id for task in found] == ["AF-0", "AF-2"]


def test_a_waiting_task_says_what_it_waits_for() -> None:
    state = State()
    state.sessions[SessionId("X-1.1")] = session("X-1.1", "a")
    calm = task(1, urgent=False, priority=0, engine="", state=TaskState.TODO)
    urgent = task(2, urgent=True, priority=0, engine="one", state=TaskState.TODO)
    no_slot = TakenSlots(state).obstacle(calm, "", Limits(3, 2))
    assert no_slot is not None
    assert no_slot.code == "no_slot"
    assert no_slot.text == "AF-1 waits for a slot: 1 of 3 in use, with 2 kept for urgent tasks"
    full = TakenSlots(state).obstacle(urgent, "a", Limits(3, 2, {"a": 1}))
    assert full is not None
    assert (full.code, full.text) == (
        "pool_full",
        "AF-2 waits for a slot in the pool 'a': 1 of 1 in use",
    )
    assert TakenSlots(state).obstacle(urgent, "b", Limits(3, 2, {"a": 1})) is None


@given(st.data(), limits())
def test_the_rule_accepts_what_the_plan_proposes_and_nothing_beyond(
    data: st.DataObject, given: Limits
) -> None:
    board = Board()
    board.convoy()
    for _ in range(data.draw(st.integers(1, 8))):
        engine = data.draw(st.sampled_from(["", *PROFILES]))
        assignee = data.draw(st.sampled_from(["", "", "ana"]))
        urgent = data.draw(st.booleans())
        board.do(c.AddTask(title="T", engine=engine, urgent=urgent, assignee=assignee))
    for found in planned(board.state, given):
        board.record(started(board, found, given))
    assert planned(board.state, given) == []


def test_what_was_handed_off_to_the_witness_can_be_started_by_it() -> None:
    board = Board()
    board.task(assignee=WITNESS)
    for found in planned(board.state, Limits(1)):
        board.record(started(board, found, Limits(1)))
    assert [session.task for session in board.state.sessions.values()] == ["AF-1"]


def started(board: Board, found: Task, given: Limits) -> session_rules.Decision:
    return session_rules.start(
        board.state,
        found.id,
        profile=found.engine or "default",
        pool=pool_of(found),
        base="a" * 40,
        limits=given,
        ttl_s=60,
        wall_s=600,
        now=board.now,
    )
