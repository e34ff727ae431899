"""A world for merge queues: branches that arrive, break, clash and come back; runs that take time.

Arrivals, bad attempts, clashing pairs and the duration of the n-th run come from a seed and are the
same for every queue. A queue sees arrivals and the ends of its runs, and acts through `World`. The
truth is derived from the seed, so a landing that breaks the target is counted even if its checks
were green.
"""

import heapq
import random
from collections.abc import Callable, Iterator, Sequence
from math import comb
from typing import Protocol

from msgspec import Struct

RUN_S = 300.0
ATTEMPTS = 8
PARTS = 4
_CONFLICT_S, _RED_S, _WARNED_S = 180.0, 600.0, 60.0
_TOO_LONG_S = 14 * 24 * 3600.0


class Load(Struct, frozen=True):
    """One cell of the grid."""

    branches: int
    slots: int
    bad: float
    clash: float
    flake: float


class Result(Struct, frozen=True):
    minutes: tuple[float, ...]  # from the first hand-in to the landing, for each branch that landed
    runs: float  # a run of one part of the checks counts as a fraction
    red: int  # landings that broke the target
    innocent: int  # changes sent back as red that were good
    escalated: int
    hours: float
    stuck: bool


class Check(Struct):
    """A run in progress."""

    id: int
    members: tuple[int, ...]
    onto: int  # the number of landings below it
    ends_at: float
    green: bool
    part: int | None = None  # which of the checks failed


class MergeQueue(Protocol):
    def arrived(self, branch: int) -> None: ...

    def ended(self, check: Check) -> None: ...

    def decide(self) -> None:
        """Start, cancel, land and send back until nothing is left to do for now."""


class World:
    def __init__(self, load: Load, seed: int) -> None:
        self.load = load
        self.now = 0.0
        self.landed: dict[int, int] = {}  # branch -> its number
        self.going: dict[int, Check] = {}
        self.attempt: dict[int, int] = {}
        self.fixes: dict[int, int] = {}  # a rebase leaves a bad change bad, a fix may not
        self.since: dict[int, int] = {}
        self.early_warning = False
        self.work_done = 0.0
        self.runs = self.red = self.innocent = self.escalated = 0
        self._minutes: list[float] = []
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._counter = 0
        self._waiting: MergeQueue | None = None
        self._draw(seed)

    def _draw(self, seed: int) -> None:
        load, count = self.load, self.load.branches
        chance = random.Random(f"{seed} branches {count} {load.clash}")
        self.handed_in = sorted(chance.uniform(0, 3600) for _ in range(count))
        self.work = [chance.uniform(600, 2400) for _ in range(count)]
        self.is_bad = [[chance.random() for _ in range(ATTEMPTS)] for _ in range(count)]
        self._hint = [[chance.random() for _ in range(ATTEMPTS)] for _ in range(count)]
        self._draw_clashes(chance)
        self._times = random.Random(f"{seed} runs")

    def _draw_clashes(self, chance: random.Random) -> None:
        """Draw paths so that pairs overlap with the right probability, and clashes to match."""
        count, clash = self.load.branches, self.load.clash
        overlap = max(0.1, 2.5 * clash)
        each, files = _files(overlap)
        self.paths = [frozenset(chance.sample(range(files), each)) for _ in range(count)]
        self.text: list[set[int]] = [set() for _ in range(count)]
        self.semantic: list[set[int]] = [set() for _ in range(count)]
        for i in range(count):
            for j in range(i):
                drawn = chance.random()
                meets = not self.paths[i].isdisjoint(self.paths[j])
                text = 0.7 * clash / overlap if meets else 0.0
                hidden = 0.27 * clash / overlap if meets else 0.03 * clash / (1 - overlap)
                if drawn < text + hidden:
                    where = self.text if drawn < text else self.semantic
                    where[i].add(j)
                    where[j].add(i)

    def bad(self, branch: int) -> bool:
        return self.is_bad[branch][self.fixes[branch]] < self.load.bad

    def flagged(self, branch: int) -> bool:
        """Pre-check a branch: flag 60 % of the bad ones and 8 % of the good ones."""
        return self._hint[branch][self.fixes[branch]] < (0.6 if self.bad(branch) else 0.08)

    def conflicts_with_target(self, branch: int) -> bool:
        return self._meets_landed(branch, self.text, len(self.landed))

    def good(self, members: Sequence[int], onto: int) -> bool:
        """Return whether a stack would be green if there were no flakes."""
        return next(self.faults(members, onto), None) is None

    def faults(self, members: Sequence[int], onto: int) -> Iterator[int]:
        """Yield the checks that would fail, from the bottom of a stack to its top.

        The checks consist of `PARTS` equal parts. A bad change breaks one, a clash another.
        """
        below: set[int] = set()
        for branch in members:
            if self.bad(branch):
                yield (branch + self.fixes[branch]) % PARTS
            if self.semantic[branch] & below or self._meets_landed(branch, self.semantic, onto):
                yield (branch + 1) % PARTS
            below.add(branch)

    def _meets_landed(self, branch: int, with_whom: list[set[int]], onto: int) -> bool:
        since, landed = self.since[branch], self.landed
        return any(since < landed.get(other, 0) <= onto for other in with_whom[branch])

    def free(self) -> int:
        return self.load.slots - len(self.going)

    def start(self, members: Sequence[int], part: int | None = None) -> Check:
        """Start a run of all checks, or of one part, for a stack on the current target."""
        assert self.free() > 0, "there is no free slot"
        onto = len(self.landed)
        seconds, lied, early = (self._times.random() for _ in range(3))
        whole = 1.0 if part is None else 1 / PARTS
        self.runs += 1
        self.work_done += whole
        found = (one for one in self.faults(members, onto) if part is None or one == part)
        fault = next(found, None)
        if fault is None and lied < self.load.flake * whole:
            fault = self.runs % PARTS if part is None else part
        lasts = RUN_S * whole * (0.9 + 0.2 * seconds)
        if fault is not None:
            lasts *= 0.3 + 0.7 * early
        check = Check(self.runs, tuple(members), onto, self.now + lasts, fault is None, fault)
        self.going[check.id] = check
        self._at(check.ends_at, lambda: self._end(check))
        return check

    def _end(self, check: Check) -> None:
        if self.going.pop(check.id, None) is not None and self._waiting is not None:
            self._waiting.ended(check)

    def cancel(self, check: int) -> None:
        del self.going[check]

    def land(self, members: Sequence[int]) -> None:
        """Land a stack on the current target."""
        if not self.good(members, len(self.landed)):
            self.red += 1
        for branch in members:
            assert branch not in self.landed, "landed twice"
            self.landed[branch] = len(self.landed) + 1
            self._minutes.append((self.now - self.handed_in[branch]) / 60)

    def send_back(self, branch: int, *, conflict: bool) -> None:
        """Send a branch back; it returns after a while, rebased on the target of that time."""
        if not conflict and self.good([branch], len(self.landed)):
            self.innocent += 1
        if self.attempt[branch] >= ATTEMPTS:
            self.escalated += 1
            return
        self.attempt[branch] += 1
        self.fixes[branch] += not conflict
        self.since[branch] = len(self.landed)
        back = self.now + (_CONFLICT_S if conflict else _RED_S)
        self._at(back, lambda: self._hand_in(branch))

    def _hand_in(self, branch: int) -> None:
        if self.early_warning and self.conflicts_with_target(branch):
            # Its agent was told while it worked, and rebased before the hand-in.
            self.since[branch] = len(self.landed)
            self._at(self.now + _WARNED_S, lambda: self._hand_in(branch))
        elif self._waiting is not None:
            self._waiting.arrived(branch)

    def _fork(self, branch: int) -> None:
        self.since[branch] = len(self.landed)

    def _at(self, when: float, what: Callable[[], None]) -> None:
        self._counter += 1
        heapq.heappush(self._events, (when, self._counter, what))

    def run(self, queue: MergeQueue) -> Result:
        """Let a queue work until every branch has landed or been given up."""
        self._waiting = queue
        for branch in range(self.load.branches):
            self.attempt[branch] = 1
            self.fixes[branch] = 0
            self.since[branch] = 0
            fork = self.handed_in[branch] - self.work[branch]
            if fork > 0:
                self._at(fork, lambda b=branch: self._fork(b))  # type: ignore[misc]
            self._at(self.handed_in[branch], lambda b=branch: self._hand_in(b))  # type: ignore[misc]
        while self._events and self.now < _TOO_LONG_S:
            self.now, _, happen = heapq.heappop(self._events)
            happen()
            queue.decide()
        done = len(self.landed) + self.escalated
        return Result(
            minutes=tuple(self._minutes),
            runs=self.work_done,
            red=self.red,
            innocent=self.innocent,
            escalated=self.escalated,
            hours=self.now / 3600,
            stuck=done < self.load.branches,
        )


def _files(overlap: float) -> tuple[int, int]:
    """Return how many of how many files a branch touches, for this probability of overlap."""
    each = 3 if overlap < 0.3 else 4
    files = min(
        range(2 * each, 400),
        key=lambda many: abs(1 - comb(many - each, each) / comb(many, each) - overlap),
    )
    return each, files
