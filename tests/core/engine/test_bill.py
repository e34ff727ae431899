"""Token counts and costs are exact, and an unknown cost is not zero."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from corral.core.engine.bill import Bill, Price, charged
from corral.core.engine.facts import Spent

COUNTS = st.integers(0, 10**9)
PRICES = {"m": Price(input=2.0, output=10.0, cached=0.5), "plain": Price(input=1.0, output=1.0)}
SPENT = st.builds(
    Spent,
    fresh=COUNTS,
    cached=COUNTS,
    output=COUNTS,
    cost_usd=st.one_of(st.none(), st.floats(0, 100)),
    model=st.sampled_from(["m", "plain", "other", ""]),
)


@given(st.lists(SPENT, max_size=8))
def test_a_bill_is_the_sum_of_its_parts_in_whatever_order(parts: list[Spent]) -> None:
    bill = Bill()
    for part in parts:
        bill = charged(bill, part, PRICES)
    backwards = Bill()
    for part in reversed(parts):
        backwards = charged(backwards, part, PRICES)
    assert bill == backwards
    assert bill.tokens == sum(part.fresh + part.cached + part.output for part in parts)
    unknown = sum(
        part.fresh + part.cached + part.output
        for part in parts
        if part.cost_usd is None and part.model not in PRICES
    )
    assert bill.unpriced == unknown
    assert (bill.usd is None) == bool(unknown)


@given(st.lists(SPENT, max_size=5), SPENT)
def test_a_total_takes_the_place_of_all_before_it(parts: list[Spent], last: Spent) -> None:
    before = Bill()
    for part in parts:
        before = charged(before, part, {})
    total = Spent(last.fresh, last.cached, last.output, cost_usd=1.5, total=True)
    assert charged(before, total, {}) == Bill(last.fresh, last.cached, last.output, 1_500_000_000)


def test_prices_are_for_a_million_tokens_and_a_cached_one_may_have_its_own() -> None:
    used = Spent(fresh=1_000_000, cached=1_000_000, output=1_000_000)
    assert charged(Bill(), replace(used, model="m"), PRICES).usd == 12.5
    assert charged(Bill(), replace(used, model="plain"), PRICES).usd == 3.0
    assert charged(Bill(), used, PRICES).usd is None


def test_a_total_without_a_cost_takes_no_known_cost_back() -> None:
    known = charged(Bill(), Spent(fresh=5, cost_usd=0.25), {})
    assert charged(known, Spent(fresh=6, total=True), {}) == Bill(fresh=6, nano_usd=250_000_000)


def test_what_was_said_wrongly_takes_nothing_away() -> None:
    assert charged(Bill(), Spent(fresh=-5, cost_usd=-1.0), {}) == Bill()
