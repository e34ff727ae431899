"""The benchmark's simulator on a few loads: nothing red, nothing left over, not slower."""

import pytest

from benchmarks.queue import QUICK
from benchmarks.queue_simulation import ORACLE, Sums, ratio, simulate, sums

CORRAL = ("lanes", "lanes+", "corral-serial")


@pytest.fixture(scope="module")
def found() -> Sums:
    return sums([*CORRAL, "zuul", ORACLE], QUICK, 1, 1, 1)


def test_nothing_breaks_the_target_and_no_change_is_left_over(found: Sums) -> None:
    for name in CORRAL:
        for load in QUICK:
            assert found[name, load].red == 0
            assert found[name, load].stuck == 0


def test_it_is_not_clearly_slower_than_it_was(found: Sums) -> None:
    assert ratio(found, "lanes", QUICK) < 3.9
    assert ratio(found, "lanes+", QUICK) < 2.5
    assert ratio(found, "lanes", QUICK, "zuul") < 0.8


def test_the_same_seed_gives_the_same_world() -> None:
    load = QUICK[0]
    assert simulate("lanes+", load, 3) == simulate("lanes+", load, 3)
    assert simulate("lanes+", load, 3) != simulate("lanes+", load, 4)
