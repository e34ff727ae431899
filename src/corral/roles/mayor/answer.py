"""The answer of an engine: what it said since its last tool call, up to a limit."""

from corral.core.engine.facts import Answered, Fact, Said, Used
from corral.core.plan.answer import means_a_plan
from corral.core.plan.schema import MOST_BYTES

_MOST = MOST_BYTES + 1  # characters: one more than allowed, so that a longer answer is noticed


class Words:
    def __init__(self, between: str) -> None:
        """`between` joins two pieces; it is empty for engines that stream them."""
        self._between = between
        self._parts: list[list[str]] = [[]]
        self._size = 0

    def hear(self, fact: Fact) -> None:
        if isinstance(fact, Said):
            self._parts[-1].append(fact.text)
            self._size += len(fact.text) + len(self._between)
            self._drop()
        elif isinstance(fact, Used | Answered) and self._parts[-1]:
            self._parts.append([])

    def answer(self) -> str:
        """Return the last part in which a plan begins, else the last part that is not empty."""
        parts = [self._between.join(part) for part in self._parts if part]
        plans = [part for part in parts if means_a_plan(part)]
        return (plans or parts or [""])[-1][-_MOST:]

    def _drop(self) -> None:
        """Drop the oldest parts while there is more text than an answer may have."""
        while self._size > 2 * _MOST and len(self._parts) > 1:
            self._size -= sum(len(text) + len(self._between) for text in self._parts.pop(0))
        while self._size > 2 * _MOST and len(self._parts[0]) > 1:
            self._size -= len(self._parts[0].pop(0)) + len(self._between)
