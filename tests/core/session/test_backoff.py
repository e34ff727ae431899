"""A failed task is retried after a delay that grows up to a limit."""

from hypothesis import given
from hypothesis import strategies as st

from corral.core.session.backoff import Patience

NAMES = st.text(st.characters(codec="utf-8"), max_size=20)
FAILURES = st.integers(1, 1000)


@st.composite
def patiences(draw: st.DrawFn) -> Patience:
    first_s, most_s = draw(st.integers(0, 10_000)), draw(st.integers(0, 100_000))
    return Patience(draw(st.integers(1, 100)), first_s, most_s)


@given(patiences(), FAILURES, NAMES)
def test_the_rest_is_between_half_and_all_of_a_bounded_time(
    patience: Patience, failures: int, name: str
) -> None:
    full = min(patience.most_s, patience.first_s * 2 ** min(failures - 1, 20))
    assert full / 2 <= patience.rest_s(failures, name) <= full
    assert 0 <= patience.rest_s(failures, name) <= patience.most_s


@given(patiences(), FAILURES, NAMES)
def test_the_rest_never_shrinks_and_doubles_until_the_bound(
    patience: Patience, failures: int, name: str
) -> None:
    now, later = patience.rest_s(failures, name), patience.rest_s(failures + 1, name)
    assert later >= now
    if failures <= 20 and patience.first_s << failures <= patience.most_s:
        assert later == 2 * now


@given(patiences(), FAILURES, NAMES)
def test_asked_again_it_is_the_same(patience: Patience, failures: int, name: str) -> None:
    again = Patience(patience.attempts, patience.first_s, patience.most_s)
    assert patience.rest_s(failures, name) == again.rest_s(failures, name)


def test_a_replay_in_years_gives_the_same_rest() -> None:
    patience = Patience(first_s=30, most_s=3600)
    rests = [round(patience.rest_s(failures, "AF-1.1"), 3) for failures in (1, 2, 3, 9)]
    assert rests == [23.4, 46.8, 93.601, 2808.027]


def test_a_fleet_that_failed_together_does_not_come_back_together() -> None:
    patience = Patience(first_s=60)
    rests = sorted(patience.rest_s(1, f"AF-{number}.1") for number in range(100))
    assert rests[0] < 35
    assert rests[-1] > 55
    assert len({int(rest * 10) for rest in rests}) > 50
