"""What the queue learns is a fold of facts: rates, failed sets, deadlines, slots."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corral.core.queue.planner.learning import Learned, Level
from corral.core.queue.planner.parts import (
    CheckOutcome,
    Failure,
    GreenProof,
    Kind,
    PlannedRun,
    QueueEntry,
)
from corral.core.queue.planner.rates import OWN, UNCHECKED, Rates
from corral.core.queue.planner.timing import check_slots, deadline_s


def entry(task: str, order: int = 1, since: int = 0, paths: str = "a") -> QueueEntry:
    return QueueEntry(
        task=task, commit="c", order=order, queued_at=0, since=since, paths=frozenset(paths)
    )


def run(*members: str, kind: Kind = Kind.LAND, name: str = "r1", tip: str = "t0") -> PlannedRun:
    return PlannedRun(name, members, tip, kind, 0)


def red(*sets: tuple[str, ...]) -> Learned:
    found = Learned()
    for place, members in enumerate(sets):
        found = found.after_run(run(*members, name=f"r{place}"), CheckOutcome.RED)
    return found


def members_of(learned: Learned) -> list[tuple[str, ...]]:
    return [one.members for one in learned.failed]


def test_a_failed_set_shrinks_by_what_lands_or_is_green_and_ends_with_its_culprit() -> None:
    learned = red(("A", "B", "C", "D"))
    assert learned.focus == ("A", "B", "C", "D")
    learned = learned.after_run(run("A", kind=Kind.PROBE), CheckOutcome.GREEN, seconds=60)
    assert members_of(learned) == [("B", "C", "D")]
    learned = learned.after_landed([entry("B")], "t1")
    assert members_of(learned) == [("C", "D")]
    assert learned.focus == ()
    assert members_of(learned.after_sent_back(entry("C"), "red")) == []


def test_a_smaller_failed_set_explains_a_larger_one_in_either_order() -> None:
    assert members_of(red(("A", "B", "C"), ("A", "B"))) == [("A", "B")]
    assert members_of(red(("A", "B"), ("A", "B", "C"))) == [("A", "B")]


def test_hunts_narrow_a_failure_from_its_bottom() -> None:
    failure = Failure(("A", "B", "C", "D"), "r1")
    clear = failure.hunted(("A", "B"), green=True)
    assert clear is not None
    assert clear.suspects == ("C", "D")
    lower = clear.hunted(("A", "B", "C"), green=False)
    assert lower == Failure(("A", "B", "C"), "r1", clear=2)
    assert lower.hunted(("C",), green=True) == Failure(("A", "B", "C"), "r1", 2, apart=True)
    assert lower.without({"A", "B"}) == Failure(("C",), "r1")
    assert lower.without({"C"}) is None
    assert Failure(("C",), "r1").hunted(("C",), green=True) is None
    assert failure.hunted(("X",), green=False) is failure


def test_a_red_hunt_of_one_alone_counts_against_it_and_a_green_one_clears_it() -> None:
    learned = red(("A", "B")).after_run(run("A", kind=Kind.HUNT, name="h1"), CheckOutcome.RED)
    assert learned.reds == {"A": ("h1",)}
    assert learned.after_run(run("A", kind=Kind.HUNT, name="h2"), CheckOutcome.GREEN).reds == {}
    assert learned.proofs == {}


def test_green_runs_prove_their_members_on_the_target_that_they_stood_on() -> None:
    learned = Learned().after_landed([entry("X"), entry("Y")], "t2")
    learned = learned.after_landed([entry("Z")], "t3")
    learned = learned.after_run(run("A", "B", tip="t2"), CheckOutcome.GREEN, seconds=60)
    assert learned.proofs == {"A": GreenProof("r1", 2), "B": GreenProof("r1", 2)}
    assert learned.meets(entry("A")) == ("Z",)
    assert learned.meets(entry("C")) == ("X", "Y", "Z")
    assert learned.meets(entry("C", since=1)) == ("Y", "Z")
    assert learned.meets(entry("C", paths="b")) == ()
    assert learned.meets(entry("C", paths="")) == ("X", "Y", "Z")
    assert learned.after_landed([entry("A")], "t4").proofs == {"B": GreenProof("r1", 2)}


def test_a_change_that_leaves_takes_its_failed_sets_with_it() -> None:
    learned = red(("A", "B"), ("C", "D")).after_left("A")
    assert members_of(learned) == [("C", "D")]
    assert learned.focus == ("B",)


@pytest.mark.parametrize(("own", "clash"), [(0.02, 0.0), (0.3, 0.0), (0.05, 0.1)])
def test_own_faults_and_clashes_are_told_apart(own: float, clash: float) -> None:
    chance = random.Random(7)
    rates = Rates()
    for _ in range(1500):
        met = chance.choice([0, 0, 1, 3, 8, 15])
        bad = chance.random() > (1 - own) * (1 - clash) ** met
        rates = rates.judged(OWN, met, red=bad)
    assert abs(rates.own - own) < 0.06
    assert abs(rates.clash - clash) < 0.03


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 200), st.booleans()), max_size=40))
def test_rates_stay_rates(judged: list[tuple[int, int, bool]]) -> None:
    rates = Rates()
    for kind, met, bad in judged:
        rates = rates.judged(kind, met, red=bad)
    for one in (rates.own, rates.of(UNCHECKED), rates.clash, rates.flake):
        assert 0 < one < 1


def test_flakes_are_counted_when_what_was_red_is_green() -> None:
    steady, flaky = Learned(), red(("A",))
    for place in range(20):
        steady = steady.after_run(run("A"), CheckOutcome.GREEN, seconds=60)
        flaky = flaky.after_run(
            run("A"), CheckOutcome.FLAKY if place % 2 else CheckOutcome.GREEN, seconds=60
        )
    assert steady.rates.flake < 0.02
    assert flaky.rates.flake > 0.15


def test_the_deadline_follows_green_runs_within_bounds() -> None:
    def after(seconds: list[float]) -> float:
        learned = Learned()
        for one in seconds:
            learned = learned.after_run(run("A"), CheckOutcome.GREEN, seconds=one)
        return deadline_s(learned)

    assert after([]) == after([100.0] * 4) == 3600
    assert after([100.0] * 5) == 150
    assert after([float(n) for n in range(1, 101)]) == 1.5 * 96
    assert after([1.0] * 20) == 60
    assert after([1e6] * 20) == 6 * 3600


@pytest.mark.parametrize(
    ("levels", "slots"),
    [
        ({}, 1),
        ({1: Level(4, 100)}, 1),
        ({1: Level(5, 100)}, 2),
        ({1: Level(5, 100), 2: Level(5, 139)}, 3),
        ({1: Level(5, 100), 2: Level(5, 141)}, 1),
        ({1: Level(5, 100), 2: Level(4, 900)}, 2),
        ({1: Level(9, 10), 2: Level(9, 10), 3: Level(9, 10), 4: Level(9, 10)}, 4),
    ],
)
def test_slots_are_added_one_by_one_while_runs_do_not_slow_each_other(
    levels: dict[int, Level], slots: int
) -> None:
    assert check_slots(Learned(levels=levels), cores=4) == slots
    assert check_slots(Learned(levels=levels), cores=1) == 1


def test_the_mean_time_is_kept_for_each_number_of_runs_at_once() -> None:
    learned = Learned()
    for seconds, beside in ((10.0, 1), (20.0, 1), (50.0, 2)):
        learned = learned.after_run(
            run("A"), CheckOutcome.GREEN, seconds=seconds, concurrency=beside
        )
    assert learned.levels == {1: Level(2, 15.0), 2: Level(1, 50.0)}
