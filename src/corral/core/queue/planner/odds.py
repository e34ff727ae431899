"""How likely changes are to pass, alone and stacked. Computed once per plan.

Sets of entries are integers with one bit per entry, so that "how many of these overlap that one",
which a plan asks thousands of times, is one operation.

    passes(i | stack) = (1 - own) (1 - clash) ^ (overlapping changes landed since, or below it)

A member of a failed set is at least as suspect as Bayes says: by its share of all the ways in which
the set could have been red, including a flaky check.
"""

from collections.abc import Iterator

from corral.core.queue.planner.model import Queue
from corral.core.queue.planner.parts import QueueEntry
from corral.core.queue.planner.rates import PROVEN

_AGEING = 0.05  # the weight that a change gains in the time of one check run


class Odds:
    """The entries by number, with their weight, chance to pass, and overlaps."""

    def __init__(
        self, queue: Queue, entries: tuple[QueueEntry, ...], now: int, mean_s: float
    ) -> None:
        learned = queue.learned
        self.entries = entries
        self.number = {entry.task: i for i, entry in enumerate(entries)}
        self.everything = (1 << len(entries)) - 1
        rates = learned.rates
        self.clash = rates.clash
        self.flake = rates.flake
        self.weight = [_weight(entry, now, mean_s) for entry in entries]
        self.overlap = self._overlaps()
        self.conflict = self._conflicts(queue)
        self.needs = [self._mask_of_needs(entry) for entry in entries]
        self.proven = self.mask(task for task in learned.proofs if task in self.number)
        self.together = self._proven_together(queue)
        self.alone = self._chances(queue)
        self.failed = [
            mask
            for one in learned.failed
            if (mask := self.known(one.members)) is not None and mask & (mask - 1)
        ]
        self.passes = self._with_suspicion(queue)

    def mask(self, tasks: Iterator[str] | tuple[str, ...]) -> int:
        found = 0
        for task in tasks:
            found |= 1 << self.number[task]
        return found

    def known(self, tasks: tuple[str, ...]) -> int | None:
        """Return the set of these tasks, or None if one of them is not in the queue."""
        return self.mask(tasks) if all(task in self.number for task in tasks) else None

    def tasks(self, members: list[int]) -> tuple[str, ...]:
        return tuple(self.entries[i].task for i in members)

    def chance(self, i: int, below: int) -> float:
        """Return the chance that an entry passes on top of these others."""
        met = self.overlap[i] & below & ~self.together[i]
        if not met:
            return self.passes[i]
        return self.passes[i] * (1 - self.clash) ** met.bit_count()

    def chance_of(self, members: list[int]) -> float:
        """Return the chance that a whole stack passes."""
        found, below = 1 - self.flake, 0
        for i in members:
            found *= self.chance(i, below)
            below |= 1 << i
        return found

    def fits(self, i: int, below: int) -> bool:
        """Say whether an entry fits on a stack: no conflict, needs met, not known to be red."""
        if self.conflict[i] & below or self.needs[i] & ~below:
            return False
        whole = below | 1 << i
        return not any(whole & red == red for red in self.failed)

    def stacks(self, members: list[int]) -> bool:
        """Say whether each of these has its dependencies below it."""
        below = 0
        for i in members:
            if self.needs[i] & ~below:
                return False
            below |= 1 << i
        return True

    def _overlaps(self) -> list[int]:
        by_path: dict[str, int] = {}
        unknown = 0
        for i, entry in enumerate(self.entries):
            if not entry.paths:
                unknown |= 1 << i
            for path in entry.paths:
                by_path[path] = by_path.get(path, 0) | 1 << i
        found = []
        for i, entry in enumerate(self.entries):
            met = unknown if entry.paths else self.everything
            for path in entry.paths:
                met |= by_path[path]
            found.append(met & ~(1 << i))
        return found

    def _conflicts(self, queue: Queue) -> list[int]:
        found = [0] * len(self.entries)
        for pair in queue.conflicts:
            numbers = [self.number[task] for task in pair if task in self.number]
            if len(numbers) == 2:
                one, other = numbers
                found[one] |= 1 << other
                found[other] |= 1 << one
        for failure in queue.learned.failed:
            if failure.apart and (mask := self.known(failure.members)) is not None:
                last = self.number[failure.members[-1]]
                found[last] |= mask & ~(1 << last)
                for task in failure.members[:-1]:
                    found[self.number[task]] |= 1 << last
        return found

    def _mask_of_needs(self, entry: QueueEntry) -> int:
        found = self.known(tuple(entry.needs))
        # A bit that no stack has: a dependency is missing, so it has to wait.
        return found if found is not None else 1 << len(self.entries)

    def _proven_together(self, queue: Queue) -> list[int]:
        """Return, for each entry, those that were green in the same run."""
        groups: dict[str, int] = {}
        for task, proof in queue.learned.proofs.items():
            if task in self.number:
                groups[proof.run] = groups.get(proof.run, 0) | 1 << self.number[task]
        proofs = queue.learned.proofs
        return [
            groups[proofs[entry.task].run] if entry.task in proofs else 0 for entry in self.entries
        ]

    def _chances(self, queue: Queue) -> list[float]:
        """Return the chance of each entry to pass alone on the current target."""
        learned = queue.learned
        rates = learned.rates
        since = [learned.since(entry) for entry in self.entries]
        first = min(since, default=0)
        fresh = learned.landed - first
        landings = learned.landings[-fresh:] if fresh > 0 else ()
        first = learned.landed - len(landings)
        by_path: dict[str, int] = {}
        unknown = 0
        for place, landing in enumerate(landings):
            if not landing.paths:
                unknown |= 1 << place
            for path in landing.paths:
                by_path[path] = by_path.get(path, 0) | 1 << place
        own, unchecked, keeps = 1 - rates.own, 1 - rates.unchecked, 1 - self.clash
        found = []
        for i, entry in enumerate(self.entries):
            met = unknown if entry.paths else (1 << len(landings)) - 1
            for path in entry.paths:
                met |= by_path.get(path, 0)
            count = (met >> max(0, since[i] - first)).bit_count()
            good = own if entry.prechecked else unchecked
            if entry.task in learned.proofs:
                good = 1 - PROVEN
            found.append(good * keeps**count)
        return found

    def _with_suspicion(self, queue: Queue) -> list[float]:
        found = list(self.alone)
        for failure in queue.learned.failed:
            if failure.apart:
                continue  # it is good alone: `_conflicts` keeps it from the others
            members = [self.number[task] for task in failure.suspects if task in self.number]
            whole = sum(1 << i for i in members)
            green = 1 - self.flake
            shares = []
            for i in members:
                # A clash has two sides: each takes half of the blame.
                met = (self.overlap[i] & whole & ~self.together[i]).bit_count() / 2
                good = self.alone[i] * (1 - self.clash) ** met
                shares.append(1 - good)
                green *= good
            red = max(1 - green, 1e-9)
            for i, share in zip(members, shares, strict=True):
                found[i] = min(found[i], 1 - min(share / red, 0.98))
        return found


def _weight(entry: QueueEntry, now: int, mean_s: float) -> float:
    """Return what landing a change is worth: more the longer it waits, more if it is urgent."""
    waited = max(0, now - entry.queued_at) / 1000 / mean_s
    return (1 + _AGEING * waited) * 2.0 ** max(-3, min(entry.priority, 4))
