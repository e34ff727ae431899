"""What sessions used and what it cost: exact tokens, and money as far as it is known.

Money is whole nano-dollars, so that sums are exact in any order. Tokens of unknown cost are counted
separately: unknown is never zero.
"""

from collections.abc import Mapping
from operator import add, sub
from typing import TYPE_CHECKING, Annotated

from msgspec import Meta, Struct
from msgspec.structs import astuple

if TYPE_CHECKING:
    from corral.core.engine.facts import Spent

NANO = 1_000_000_000
DAY_MS = 86_400_000
MOST_DOLLARS = 1e300  # TOML can express infinity, which is not an amount of money
Dollars = Annotated[float, Meta(ge=0, le=MOST_DOLLARS)]


class Price(Struct, frozen=True, forbid_unknown_fields=True):
    """What a model costs, in dollars per million tokens."""

    input: Dollars
    """dollars per million input tokens of the model NAME"""
    output: Dollars
    """dollars per million output tokens"""
    cached: Dollars | None = None
    """dollars per million cached input tokens; unset: the same as `input`"""


class Bill(Struct, frozen=True, array_like=True, gc=False):
    fresh: int = 0
    cached: int = 0
    output: int = 0
    nano_usd: int = 0  # the known part of the cost
    unpriced: int = 0  # tokens of unknown cost

    def __add__(self, other: "Bill") -> "Bill":
        return Bill(*map(add, astuple(self), astuple(other)))

    def __sub__(self, other: "Bill") -> "Bill":
        return Bill(*map(sub, astuple(self), astuple(other)))

    @property
    def tokens(self) -> int:
        return self.fresh + self.cached + self.output

    @property
    def usd(self) -> float | None:
        """Return the cost in dollars; None if some of it is unknown."""
        return None if self.unpriced else self.nano_usd / NANO


def nano(usd: float) -> int:
    return round(usd * NANO)


def charged(before: Bill, spent: "Spent", prices: Mapping[str, Price]) -> Bill:
    """Return the bill after another report of an engine."""
    found = _priced(spent, prices)
    if not spent.total:
        return before + found
    if found.unpriced and not before.unpriced and before.nano_usd:
        # The calls were reported with their cost, so a total without one keeps that.
        return Bill(found.fresh, found.cached, found.output, before.nano_usd)
    return found


def _priced(spent: "Spent", prices: Mapping[str, Price]) -> Bill:
    tokens = (max(0, spent.fresh), max(0, spent.cached), max(0, spent.output))
    if spent.cost_usd is not None:
        return Bill(*tokens, nano_usd=max(0, nano(spent.cost_usd)))
    price = prices.get(spent.model)
    if price is None:
        return Bill(*tokens, unpriced=sum(tokens))
    cached = price.input if price.cached is None else price.cached
    each = (price.input, cached, price.output)
    # A dollar for a million tokens is a thousand nano-dollars for one.
    cost = sum(count * usd * 1000 for count, usd in zip(tokens, each, strict=True))
    return Bill(*tokens, nano_usd=round(cost))


def in_words(usd: float | None, known_usd: float, digits: int) -> str:
    """Return a cost in words; an unknown cost is never shown as zero."""
    if usd is not None:
        return f"${usd:.{digits}f}"
    return f"${known_usd:.{digits}f} and more (unknown)" if known_usd else "unknown"
