"""Fills free check slots: the anchor, runs nested on it, and probes beside it.

`plan` says why; this module chooses the members. It never starts a stack that contains a failed
set, two conflicting changes, or a change without its dependencies.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from corral.core.queue.planner.model import Hunt, Queue, QueuePolicy, Rerun, Start
from corral.core.queue.planner.odds import Odds
from corral.core.queue.planner.parts import Failure, Kind, PlannedRun

_TRUSTED = 0.5  # do not build on a chain less likely to pass than this
_PROBE = 0.65  # the value of a green probe, whose members still need a landing run


class Lanes:
    def __init__(
        self,
        queue: Queue,
        odds: Odds,
        going: Sequence[PlannedRun],
        policy: QueuePolicy,
        doubted: Mapping[str, str],
    ) -> None:
        self._queue = queue
        self._odds = odds
        self._policy = policy
        self._doubted = doubted
        self._going = going
        self.started = 0
        # Changes that await a verdict about themselves take part in nothing else.
        self._out = odds.mask(task for task in doubted if task in odds.number)
        self._chain: list[int] = []
        self._landing = self._probed = self._hunted = 0
        # Whether red stacks are taken apart by landing halves, not by hunts.
        self._halved = not policy.hunts
        # Stacks that are being checked: no need to hunt for what they will show.
        self._stacks = {run.members for run in going if run.kind in (Kind.LAND, Kind.PROBE)}
        self._lengths = {len(stack) for stack in self._stacks}
        for run in going:
            members = [odds.number[task] for task in run.members]
            if run.kind is Kind.HUNT:
                continue
            if run.kind is not Kind.LAND:
                self._probed |= sum(1 << i for i in members)
                continue
            self._landing |= sum(1 << i for i in members)
            if len(members) > len(self._chain):
                self._chain = members

    def again(self, free: int) -> Iterator[Rerun]:
        """Yield second runs of changes that were red alone, perhaps because of a flake."""
        tried = {run.members for run in self._going}
        for task, run in self._doubted.items():
            if run and self.started < free and (task,) not in tried:
                self.started += 1
                yield Rerun((task,), Kind.HUNT if self._policy.hunts else Kind.PROBE, run)

    def hunting(self, free: int) -> Iterator[Hunt]:
        """Yield the next step in each red stack, and keep its suspects out of other runs."""
        if not self._policy.hunts:
            return
        gone = [run.members for run in self._going if run.kind is Kind.HUNT]
        for failure in self._queue.learned.failed:
            whole = self._odds.known(failure.members)
            if failure.apart or whole is None or whole & self._out:
                continue
            part = self._part(failure)
            if part is None:
                self._halved = True
                continue
            busy = any(one in (failure.members[: len(one)], failure.members[-1:]) for one in gone)
            if not busy and free > 0:
                free -= 1
                self.started += 1
                gone.append(part)
                yield Hunt(part, failure.run)
            self._hunted |= self._odds.mask(failure.suspects)
        self._out |= self._hunted

    def _part(self, failure: Failure) -> tuple[str, ...] | None:
        """Return the most informative stack: half of the suspicion is in it, half above it."""
        odds = self._odds
        members = [odds.number[task] for task in failure.members]
        clear = max((n for n in self._lengths if failure.members[:n] in self._stacks), default=0)
        clear = max(clear, failure.clear)
        suspects = members[clear:]
        if len(suspects) <= 1:
            known = len(failure.suspects) == 1 and odds.fits(members[-1], 0)
            return failure.members[-1:] if known else None
        if not odds.stacks(members):
            return None  # a dependency was green elsewhere and is no longer in it
        masses = [1 - odds.alone[i] for i in suspects]
        half, mass, best = sum(masses) / 2, 0.0, 1
        for place, one in enumerate(masses[:-1], 1):
            if abs(mass + one - half) < abs(mass - half):
                best = place
            mass += one
        return odds.tasks(members[: clear + best])

    def filled(self, free: int) -> Iterator[Start]:
        """Yield a run for each free slot, the anchor first."""
        while free > 0:
            chosen = self._next(free)
            if chosen is None:
                return
            members, kind = chosen
            yield Start(self._odds.tasks(members), kind)
            free -= 1
            taken = sum(1 << i for i in members)
            if kind is Kind.LAND:
                self._chain = members
                self._landing |= taken
            else:
                self._probed |= taken

    def _next(self, free: int) -> tuple[list[int], Kind] | None:
        if self._policy.mode == "serial":
            first = next((i for i in self._in_line() if self._odds.fits(i, 0)), None)
            return None if first is None else ([first], Kind.LAND)
        if not self._chain:
            anchor = self._anchor(free)
            return (anchor, Kind.LAND) if anchor else None
        return self._nest_or_probe(free)

    def _nest_or_probe(self, free: int) -> tuple[list[int], Kind] | None:
        odds, chain = self._odds, self._chain
        below = sum(1 << i for i in chain)
        trust = odds.chance_of(chain)
        most = self._share(free)
        best: tuple[list[int], Kind] | None = None
        value = 0.0
        if trust >= _TRUSTED:
            segment = self._gathered(self._waiting(self._probed | below), below, most)
            if segment:
                best, value = ([*chain, *segment], Kind.LAND), trust * self._value(segment, below)
        group = self._gathered(self._waiting(self._probed | self._landing | odds.proven), 0, most)
        if group and _PROBE * self._value(group, 0) > value:
            return group, Kind.PROBE
        if best is None and trust >= _TRUSTED:
            # Nothing better to do with the slot than not to wait for the probes.
            segment = self._gathered(self._waiting(below), below, most)
            best = ([*chain, *segment], Kind.LAND) if segment else None
        return best

    def _anchor(self, free: int) -> list[int]:
        urgent = [i for i in self._in_line() if self._odds.entries[i].priority > 0]
        number = self._odds.number
        focus = [number[task] for task in self._queue.learned.focus if task in number]
        focus = [i for i in focus if not self._out >> i & 1]
        if focus and self._halved:
            if urgent and not set(urgent) & set(focus):
                first = self._gathered(urgent, 0, self._policy.max_batch)
                if first:
                    return first
            half = self._safer_half(focus)
            if half:
                return half
        cleared = self._cleared()
        if cleared:
            return cleared
        if urgent:
            line = {*urgent, *self._waiting(self._probed)}
            first = self._gathered(sorted(line), 0, max(len(urgent), self._share(free)))
            if first:
                return first
        leader = self._overtaken()
        if leader is not None:
            if self._odds.passes[leader] < _TRUSTED:
                return [leader]
            followers = self._waiting(self._probed | 1 << leader)
            return [leader, *self._gathered(followers, 1 << leader, self._share(free))]
        return self._gathered(self._waiting(self._probed), 0, self._share(free)) or self._gathered(
            self._waiting(0), 0, self._share(free)
        )

    def _cleared(self) -> list[int]:
        """Return the part of a red stack below a clash that a hunt found.

        Nothing is added to it, so that each red landing run leads to a smaller one.
        """
        for failure in self._queue.learned.failed:
            if failure.apart and self._odds.known(failure.members) is not None:
                found, below = [], 0
                for i in (self._odds.number[task] for task in failure.members[:-1]):
                    if not self._out >> i & 1 and self._odds.fits(i, below):
                        found.append(i)
                        below |= 1 << i
                if found:
                    return found
        return []

    def _safer_half(self, focus: list[int]) -> list[int]:
        """Return at most half of a failed stack: the part with the best (weight x chance).

        The chance is exact here: of all the ways in which the whole can be red, those in which
        this part is green.
        """
        odds = self._odds
        line = sorted(focus, key=lambda i: -odds.alone[i])
        whole = _chance_alone(odds, line) * (1 - odds.flake)
        found: list[int] = []
        best = value = weight = 0.0
        chance, below = 1 - odds.flake, 0
        for i in _in_order(odds, line):
            if len(found) >= (len(focus) + 1) // 2:
                break
            if not odds.fits(i, below):
                continue
            met = (odds.overlap[i] & below & ~odds.together[i]).bit_count()
            chance *= odds.alone[i] * (1 - odds.clash) ** met
            weight += odds.weight[i]
            value = weight * max(chance - whole, 1e-9) / max(1 - whole, 1e-9)
            if found and value <= best:
                break
            best = value
            found.append(i)
            below |= 1 << i
        return found

    def _in_line(self) -> list[int]:
        """Return what waits, by priority and then by age."""
        entries = self._odds.entries
        return sorted(self._waiting(0), key=lambda i: (-entries[i].priority, entries[i].order))

    def _overtaken(self) -> int | None:
        """Return the oldest change that too many newer ones have overtaken."""
        orders = sorted(one.order for one in self._queue.learned.landings)
        oldest = min(
            (i for i in self._waiting(0) if self._odds.fits(i, 0)),
            key=lambda i: self._odds.entries[i].order,
            default=None,
        )
        if oldest is None:
            return None
        ahead = len(orders) - bisect_right(orders, self._odds.entries[oldest].order)
        return oldest if ahead > self._policy.overtaken else None

    def _share(self, free: int) -> int:
        """Return how many changes one stack may take, so that each free slot gets a share."""
        waiting = (self._odds.everything & ~(self._out | self._landing | self._probed)).bit_count()
        return max(1, min(self._policy.max_batch, -(-waiting // free)))

    def _waiting(self, without: int) -> list[int]:
        without |= self._out
        return [i for i in range(len(self._odds.entries)) if not without >> i & 1]

    def _value(self, members: Iterable[int], below: int) -> float:
        found, chance = 0.0, 1.0
        for i in members:
            chance *= self._odds.chance(i, below)
            below |= 1 << i
            found += self._odds.weight[i]
        return found * chance

    def _gathered(self, line: list[int], below: int, most: int) -> list[int]:
        """Add changes to a stack, the best first, while (weight x chance) grows."""
        odds = self._odds
        weights, passes, entries = odds.weight, odds.passes, odds.entries

        def rank(i: int) -> tuple[int, float, int]:
            value = weights[i] * passes[i] / (1.0001 - passes[i])
            return -max(0, entries[i].priority), -value, entries[i].order

        found: list[int] = []
        total = 0.0
        for i in _in_order(odds, sorted(line, key=rank)):
            if len(found) >= most:
                break
            if not odds.fits(i, below):
                continue
            good = odds.chance(i, below)
            if found and (total + weights[i]) * good <= total:
                continue
            found.append(i)
            below |= 1 << i
            total += weights[i]
        return found


def _chance_alone(odds: Odds, members: list[int]) -> float:
    found, below = 1.0, 0
    for i in members:
        met = (odds.overlap[i] & below & ~odds.together[i]).bit_count()
        found *= odds.alone[i] * (1 - odds.clash) ** met
        below |= 1 << i
    return found


def _in_order(odds: Odds, line: list[int]) -> list[int]:
    """Put each change after its dependencies, and otherwise keep the order."""
    if not any(odds.needs[i] for i in line):
        return line
    found: list[int] = []
    inside = set(line)
    seen: set[int] = set()

    def visit(i: int) -> None:
        if i in seen or i not in inside:
            return
        seen.add(i)
        for other in sorted(inside):
            if odds.needs[i] >> other & 1:
                visit(other)
        found.append(i)

    for i in line:
        visit(i)
    return found
