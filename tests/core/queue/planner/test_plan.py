"""Only what was checked green lands; culprits are found, and no change waits forever."""

import random
from itertools import combinations
from math import ceil, log2
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corral.core.queue.planner.model import (
    Cancel,
    Hunt,
    Land,
    Queue,
    QueuePolicy,
    Rerun,
    SendBack,
    Start,
)
from corral.core.queue.planner.parts import CheckOutcome, Kind, PlannedRun, QueueEntry
from corral.core.queue.planner.plan import plan, wake_at
from tests.core.queue.planner.simulated_world import MINUTE, SimulatedQueue, Truth

LANES = QueuePolicy(refresh=False)
HUNTS = QueuePolicy(refresh=False, hunt_cost=0.25)
POLICIES = {"lanes": LANES, "hunts": HUNTS, "serial": QueuePolicy(mode="serial")}


def entry(task: str, order: int, at: int = 0, **more: Any) -> QueueEntry:
    return QueueEntry(task=task, commit=f"c-{task}", order=order, queued_at=at, **more)


def queue(
    tasks: int,
    policy: QueuePolicy = LANES,
    truth: Truth | None = None,
    *,
    slots: int = 1,
    **more: Any,
) -> SimulatedQueue:
    found = SimulatedQueue(policy, truth or Truth(), slots=slots)
    for number in range(tasks):
        paths = frozenset({f"file{number}"})
        found.add(entry(f"A-{number}", number + 1, paths=paths, **more))
    return found


def drawn(seed: int, policy: QueuePolicy) -> SimulatedQueue:
    """Draw a world: needs, paths, priorities, conflicts, faults, clashes and lies."""
    chance = random.Random(seed)
    names = [f"A-{number}" for number in range(chance.randint(1, 14))]
    pairs = [frozenset(pair) for pair in combinations(names, 2)]
    truth = Truth(
        bad=frozenset(name for name in names if chance.random() < chance.choice([0, 0.1, 0.5])),
        clashes=frozenset(pair for pair in pairs if chance.random() < 0.03),
        lies=chance.choice([0.0, 0.0, 0.1]),
    )
    found = SimulatedQueue(policy, truth, slots=chance.randint(1, 4), chance=chance)
    needing: set[frozenset[str]] = set()
    for order, name in enumerate(names, 1):
        needs = frozenset(other for other in names[: order - 1] if chance.random() < 0.04)
        needing |= {frozenset((name, other)) for other in needs}
        found.add(
            entry(
                name,
                order,
                priority=chance.choice([0, 0, 0, 1, -1]),
                needs=needs,
                paths=frozenset(chance.sample("abcdefgh", chance.randint(0, 2))),
                prechecked=chance.random() < 0.8,
            )
        )
    found.conflicts = frozenset(
        pair for pair in pairs if chance.random() < 0.03 and pair not in needing
    )
    return found


def drop_needing(world: SimulatedQueue) -> None:
    """Remove changes whose dependency is gone, as the builder of the queue would."""
    absent = {one.task for one in world.sent_back} | world.left
    for task, found in list(world.entries.items()):
        if found.needs & absent:
            world.leave(task)
            absent.add(task)


@pytest.mark.parametrize("name", POLICIES)
@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 10**9))
def test_whatever_happens_only_green_stacks_land_and_all_are_settled(name: str, seed: int) -> None:
    world = drawn(seed, POLICIES[name])
    members = set(world.entries)
    for _ in range(60 * len(members) + 60):
        world.settle()
        drop_needing(world)
        world.settle()
        assert world.plan() == []
        if not world.going:
            break
        most = 2 * ceil(log2(len(members) + 1)) + 8
        assert world.idle_runs <= most * world.slots, "nothing lands and nobody is blamed"
        if world.entries and world.chance.random() < 0.02:
            world.leave(world.chance.choice(sorted(world.entries)))
            continue
        world.end(world.chance.choice(world.going))
    assert world.entries == {}, "left over"
    assert len(set(world.landed)) == len(world.landed)
    for place in range(len(world.landed)):
        assert world.truth.good(set(world.landed[: place + 1])), "the target is red"
    if not world.truth.lies:
        for one in world.sent_back:
            below = [*world.landed, one.task]
            assert one.task in world.truth.bad or not world.truth.good(set(below))


@pytest.mark.parametrize("policy", [LANES, HUNTS], ids=["lanes", "hunts"])
@pytest.mark.parametrize("culprit", [0, 3, 7, 15])
def test_one_bad_change_of_sixteen_is_found_in_about_log2_runs(
    policy: QueuePolicy, culprit: int
) -> None:
    world = queue(16, policy, Truth(bad=frozenset({f"A-{culprit}"})))
    runs = 0
    world.settle()
    while not world.sent_back:
        (run,) = world.going
        world.end(run)
        runs += 1
        world.settle()
        assert world.idle_runs <= log2(16) + 2
    assert [one.task for one in world.sent_back] == [f"A-{culprit}"]
    assert runs <= 12
    assert set(world.landed).isdisjoint({f"A-{culprit}"})


def test_after_a_red_anchor_the_next_is_at_most_half_of_it_and_nothing_is_added() -> None:
    world = queue(8)
    world.settle()
    (anchor,) = world.going
    assert len(anchor.members) == 8
    for number in range(20, 30):
        world.add(entry(f"A-{number}", number))
    size = 8
    while size > 1:
        world.end(world.going[0], CheckOutcome.RED)
        world.settle()
        (smaller,) = world.going
        assert set(smaller.members) < set(anchor.members)
        assert len(smaller.members) <= (size + 1) // 2
        anchor, size = smaller, len(smaller.members)


def test_a_clash_of_two_good_changes_lands_one_and_blames_the_other_by_name() -> None:
    for policy in (LANES, HUNTS):
        world = SimulatedQueue(
            policy, Truth(clashes=frozenset({frozenset({"A-1", "A-2"})})), slots=1
        )
        for number in range(4):
            world.add(entry(f"A-{number}", number + 1, paths=frozenset({"same"})))
        world.settle()
        while world.going:
            world.end(world.going[0])
            world.settle()
        (blamed,) = world.sent_back
        landed = ({"A-1", "A-2"} - {blamed.task}).pop()
        assert set(world.landed) == {"A-0", "A-3", landed}
        assert landed in blamed.with_


def test_a_change_that_was_red_alone_is_tried_again_if_flakes_are_likely() -> None:
    world = queue(1)
    flaky = world.learned.rates.ran(12.0)
    world.learned = type(world.learned)(rates=flaky)
    world.settle()
    first = world.going[0]
    world.end(first, CheckOutcome.RED)
    again = [one for one in world.plan() if isinstance(one, Rerun)]
    assert again == [Rerun(("A-0",), Kind.PROBE, first.id)]
    world.settle()
    world.end(world.going[0], CheckOutcome.GREEN)
    world.settle()
    assert world.landed == ["A-0"]
    assert world.sent_back == []


def test_a_change_that_is_red_twice_is_sent_back_even_if_flakes_are_likely() -> None:
    world = queue(1)
    world.learned = type(world.learned)(rates=world.learned.rates.ran(12.0))
    world.settle()
    for _ in range(2):
        world.end(world.going[0], CheckOutcome.RED)
        world.settle()
    assert [(one.task, one.why) for one in world.sent_back] == [("A-0", "red")]


def test_when_everyone_is_red_the_target_itself_is_checked_and_nobody_else_is_blamed() -> None:
    world = queue(9, QueuePolicy(mode="serial"), prechecked=False)
    world.settle()
    while not any(run.kind is Kind.BASE for run in world.going):
        world.end(world.going[0], CheckOutcome.RED)
        world.settle()
    assert len(world.sent_back) == world.policy.base_after
    for _ in range(2):
        (base,) = world.going
        assert base.members == ()
        world.end(base, CheckOutcome.RED)
        world.settle()
    assert world.going == []
    due = wake_at(world.queue(), world.policy)
    assert due == world.now + world.policy.base_again_s * 1000
    world.now = due
    world.settle()
    world.end(world.going[0], CheckOutcome.GREEN)
    world.settle()
    assert len(world.sent_back) == world.policy.base_after + 1
    assert world.going, "the queue goes on"


def test_a_landing_run_on_an_older_target_is_cancelled_and_a_nested_one_moves_along() -> None:
    anchor = PlannedRun("r1", ("A-1",), "t0", Kind.LAND, 0)
    nested = PlannedRun("r2", ("A-1", "A-2"), "t0", Kind.LAND, 0)
    other = PlannedRun("r3", ("A-3",), "t0", Kind.LAND, 0, green=True)
    probe = PlannedRun("r4", ("A-2",), "t0", Kind.PROBE, 0)
    assert nested.after_landing(anchor, "t1") == PlannedRun("r2", ("A-2",), "t1", Kind.LAND, 0)
    assert other.after_landing(anchor, "t1") is other
    assert probe.after_landing(anchor, "t1") is probe
    entries = (entry("A-2", 2), entry("A-3", 3))
    stale = PlannedRun("r5", ("A-3",), "t0", Kind.LAND, 0)
    queue = Queue(entries, tip="t1", runs=(other, probe, stale))
    actions = plan(queue, 0, MINUTE, LANES)
    assert Cancel("r5", "stale") in actions
    assert not any(isinstance(one, Land) for one in actions)


def test_a_green_probe_lands_only_while_no_landing_run_goes_on() -> None:
    entries = (entry("A-1", 1), entry("A-2", 2))
    probe = PlannedRun("r1", ("A-1",), "t0", Kind.PROBE, 0, green=True)
    landing = PlannedRun("r2", ("A-2",), "t0", Kind.LAND, 0)
    assert plan(Queue(entries, "t0", (probe,)), 1, 0, LANES) == [Land("r1")]
    busy = plan(Queue(entries, "t0", (probe, landing)), 0, 0, LANES)
    assert busy == []


def test_a_hunt_is_never_landed() -> None:
    hunt = PlannedRun("r1", ("A-1",), "t0", Kind.HUNT, 0, green=True)
    actions = plan(Queue((entry("A-1", 1),), "t0", (hunt,)), 1, 0, HUNTS)
    assert actions == [Start(("A-1",), Kind.LAND)]


def test_one_that_leaves_disappears_from_all_plans_and_its_runs_are_cancelled() -> None:
    world = queue(4, slots=2)
    world.settle()
    first = world.going[0]
    world.leave(first.members[0])
    actions = world.plan()
    assert Cancel(first.id, "member-left") in actions
    for one in actions:
        if isinstance(one, Start):
            assert first.members[0] not in one.members


def test_urgent_work_goes_into_the_next_anchor_and_probes_are_left_alone() -> None:
    world = queue(6, slots=1)
    world.slots = 3
    probe = PlannedRun("r9", ("A-5",), "t0", Kind.PROBE, 0)
    world.runs["r9"] = probe
    world.add(entry("A-9", 99, priority=2))
    actions = world.plan()
    assert not any(isinstance(one, Cancel) for one in actions)
    first = next(one for one in actions if isinstance(one, Start))
    assert first.kind is Kind.LAND
    assert first.members[0] == "A-9"


def test_urgent_work_is_not_added_to_a_suspect_stack_but_goes_before_it() -> None:
    world = queue(4)
    world.settle()
    world.end(world.going[0], CheckOutcome.RED)
    world.add(entry("A-9", 99, priority=2))
    world.settle()
    assert world.going[0].members == ("A-9",)


def test_a_suspect_that_many_overtake_gets_its_turn() -> None:
    world = SimulatedQueue(LANES, Truth(), slots=1)
    world.add(entry("A-0", 1, prechecked=False))
    world.learned = world.learned.after_run(
        PlannedRun("r0", ("A-0", "A-x"), "t0", Kind.PROBE, 0), CheckOutcome.RED
    )
    world.learned = world.learned.after_landed([entry("A-x", 0)], "t0")
    for number in range(1, 400):
        world.add(entry(f"B-{number}", number + 1, at=world.now))
        world.settle()
        world.end(world.going[0])
        world.settle()
        if "A-0" in world.landed:
            break
    assert "A-0" in world.landed
    assert number <= world.policy.overtaken + 5


def test_serial_checks_one_at_a_time_in_order_of_priority_and_arrival() -> None:
    world = queue(3, QueuePolicy(mode="serial"), slots=4)
    world.add(entry("A-9", 99, priority=1))
    world.settle()
    while world.going:
        (run,) = world.going
        assert len(run.members) == 1
        world.end(run)
        world.settle()
    assert world.landed == ["A-9", "A-0", "A-1", "A-2"]


def test_changes_that_probably_went_stale_are_sent_back_before_they_take_a_slot() -> None:
    world = queue(1, QueuePolicy(refresh=True))
    rates = world.learned.rates
    for _ in range(40):
        rates = rates.judged(0, 8, red=True).judged(0, 0, red=False)
    world.learned = type(world.learned)(rates=rates)
    landed = [entry(f"B-{n}", n, paths=frozenset({"file0"})) for n in range(12)]
    world.learned = world.learned.after_landed(landed, "t0")
    stale = [one for one in world.plan() if isinstance(one, SendBack)]
    assert [(one.task, one.why) for one in stale] == [("A-0", "stale")]
    world.policy = QueuePolicy(refresh=False)
    assert world.plan() == [Start(("A-0",), Kind.LAND)]


def test_a_hunt_repeats_the_check_of_the_red_run_while_others_land() -> None:
    world = queue(8, HUNTS)
    world.settle()
    red = world.going[0]
    world.slots = 2
    world.end(red, CheckOutcome.RED)
    world.add(entry("A-20", 20))
    actions = world.plan()
    hunts = [one for one in actions if isinstance(one, Hunt)]
    assert [one.of for one in hunts] == [red.id]
    assert hunts[0].members == red.members[: len(hunts[0].members)]
    assert Start(("A-20",), Kind.LAND) in actions
