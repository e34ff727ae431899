"""What the queue learns from events. `Learned` is a fold: the same facts give the same value.

Each method takes one fact and returns the new value. Failed sets only shrink: by members that
landed or were green elsewhere, or by a smaller set that explains them. `focus` is the failed stack
from which the next landing run must be taken; it ends when something lands or is sent back.
"""

from collections.abc import Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from corral.core.queue.planner import parts
from corral.core.queue.planner.parts import Failure, Kind, PlannedRun, QueueEntry
from corral.core.queue.planner.rates import AGAIN, OWN, UNCHECKED, Rates

_LANDINGS = 500  # older ones are dropped: few changes are that stale
_TIMES = 100


class Level(Struct, frozen=True):
    """The number and mean time of green runs at one level of concurrency."""

    runs: int = 0
    mean_s: float = 0.0


class Learned(Struct, frozen=True):
    landed: int = 0
    landings: tuple[parts.PlannedLanding, ...] = ()
    failed: tuple[Failure, ...] = ()
    focus: tuple[str, ...] = ()
    proofs: dict[str, parts.GreenProof] = field(default_factory=dict)
    reds: dict[str, tuple[str, ...]] = field(default_factory=dict)  # red alone on the target
    red_in_a_row: int = 0  # changes that were red alone since anything was green
    base: parts.Base | None = None
    rates: Rates = Rates()
    green_s: tuple[float, ...] = ()
    levels: dict[int, Level] = field(default_factory=dict)

    def after_run(
        self,
        run: PlannedRun,
        outcome: parts.CheckOutcome,
        *,
        seconds: float = 0.0,
        concurrency: int = 1,
        ended_at: int = 0,
    ) -> "Learned":
        """Return what is known after a run; `concurrency` counts it and those beside it."""
        match outcome:
            case parts.CheckOutcome.CANCELLED:
                return self
            case _ if run.kind is Kind.HUNT:
                return self._after_hunt(run, green=outcome is not parts.CheckOutcome.RED)
            case parts.CheckOutcome.RED:
                return self._after_red(run, ended_at)
            case parts.CheckOutcome.GREEN | parts.CheckOutcome.FLAKY:
                flakes = 1.0 if outcome is parts.CheckOutcome.FLAKY else 0.0
                return self._after_green(run, flakes, seconds, concurrency, ended_at)

    def after_landed(self, entries: Sequence[QueueEntry], tip: str) -> "Learned":
        """Return what is known after a stack landed, in this order; `tip` is the new target."""
        rates = self.rates
        landings = list(self.landings)
        for place, entry in enumerate(entries, 1):
            rates = rates.judged(kind_of(entry), len(self._met(entry, entry.since)), red=False)
            if entry.task in self.proofs:
                rates = rates.judged(AGAIN, len(self.meets(entry)), red=False)
            last = tip if place == len(entries) else ""
            number = self.landed + place
            paths = tuple(sorted(entry.paths))
            landings.append(parts.PlannedLanding(number, entry.task, entry.order, paths, last))
        gone = {entry.task for entry in entries}
        return replace(
            self._without(gone),
            landed=self.landed + len(entries),
            landings=tuple(landings[-_LANDINGS:]),
            failed=_shrunk(self.failed, gone),
            focus=(),
            red_in_a_row=0,
            rates=rates,
        )

    def after_sent_back(self, entry: QueueEntry, why: str) -> "Learned":
        """Return what is known after a change went back to its agent; "red" blames it."""
        left = self.after_left(entry.task)
        if why != "red":
            return left
        kind = AGAIN if entry.task in self.proofs else kind_of(entry)
        rates = self.rates.judged(kind, len(self.meets(entry)), red=True)
        return replace(left, focus=(), rates=rates)

    def after_left(self, task: str) -> "Learned":
        """Return what is known after a change was cancelled: it is not blamed."""
        return replace(
            self._without({task}),
            failed=tuple(one for one in self.failed if task not in one.members),
            focus=tuple(one for one in self.focus if one != task),
        )

    def meets(self, entry: QueueEntry) -> tuple[str, ...]:
        """Return the overlapping tasks that landed since its fork point, or its last proof."""
        return self._met(entry, self.since(entry))

    def since(self, entry: QueueEntry) -> int:
        """Return how many landings there were at its fork point, or at its last proof."""
        proof = self.proofs.get(entry.task)
        return max(entry.since, proof.number) if proof else entry.since

    def number_of(self, tip: str) -> int:
        """Return how many landings there were when the target was at this commit."""
        for landing in reversed(self.landings):
            if landing.tip == tip:
                return landing.number
        return self.landed - len(self.landings)

    def _met(self, entry: QueueEntry, since: int) -> tuple[str, ...]:
        fresh = self.landed - since
        paths = entry.paths
        return tuple(
            one.task
            for one in (self.landings[-fresh:] if fresh > 0 else ())
            if not paths or not one.paths or not paths.isdisjoint(one.paths)
        )

    def _after_red(self, run: PlannedRun, ended_at: int) -> "Learned":
        rates = self.rates.ran(0.0)
        if run.kind is Kind.BASE:
            reds = self.base.reds if self.base is not None and self.base.tip == run.tip else 0
            return replace(self, base=parts.Base(run.tip, False, ended_at, reds + 1), rates=rates)
        members = set(run.members)
        failed = _explained([*self.failed, Failure(run.members, run.id)])
        if len(members) == 1:
            return replace(self._red_alone(run), failed=failed, focus=(), rates=rates)
        focus = self.focus
        if run.kind is Kind.LAND and (not focus or members < set(focus)):
            focus = run.members
        return replace(self, failed=failed, focus=focus, rates=rates)

    def _after_hunt(self, run: PlannedRun, *, green: bool) -> "Learned":
        hunted = [one.hunted(run.members, green=green) for one in self.failed]
        failed = _explained([one for one in hunted if one is not None])
        rates = self.rates.ran(float(hunted.count(None)))
        if not green:
            found = self._red_alone(run) if len(run.members) == 1 else self
            return replace(found, failed=failed, rates=rates)
        reds = {task: runs for task, runs in self.reds.items() if (task,) != run.members}
        return replace(self, failed=failed, rates=rates, reds=reds, red_in_a_row=0)

    def _red_alone(self, run: PlannedRun) -> "Learned":
        (task,) = run.members
        streak = self.red_in_a_row + (task not in self.reds)
        reds = {**self.reds, task: (*self.reds.get(task, ()), run.id)}
        return replace(self, reds=reds, red_in_a_row=streak)

    def _after_green(
        self, run: PlannedRun, flakes: float, seconds: float, concurrency: int, ended_at: int
    ) -> "Learned":
        members = set(run.members)
        flakes += sum(1.0 for one in self.failed if members.issuperset(one.members))
        base = parts.Base(run.tip, True, ended_at) if run.kind is Kind.BASE else self.base
        number = self.number_of(run.tip)
        proofs = {**self.proofs, **{task: parts.GreenProof(run.id, number) for task in run.members}}
        level = self.levels.get(concurrency, Level())
        runs = level.runs + 1
        # The newest twenty or so count most: checks get slower as a project grows.
        mean = level.mean_s + (seconds - level.mean_s) / min(runs, 20)
        return replace(
            self,
            failed=_shrunk(self.failed, members),
            focus=tuple(one for one in self.focus if one not in members),
            proofs=proofs,
            reds={task: runs for task, runs in self.reds.items() if task not in members},
            red_in_a_row=0,
            base=base,
            rates=self.rates.ran(flakes),
            green_s=(*self.green_s, seconds)[-_TIMES:],
            levels={**self.levels, concurrency: Level(runs, mean)},
        )

    def _without(self, tasks: set[str]) -> "Learned":
        return replace(
            self,
            proofs={task: proof for task, proof in self.proofs.items() if task not in tasks},
            reds={task: runs for task, runs in self.reds.items() if task not in tasks},
        )


def kind_of(entry: QueueEntry) -> int:
    return OWN if entry.prechecked else UNCHECKED


def _shrunk(failed: tuple[Failure, ...], good: set[str]) -> tuple[Failure, ...]:
    rest = (one.without(good) for one in failed)
    return _explained([one for one in rest if one is not None])


def _explained(failed: list[Failure]) -> tuple[Failure, ...]:
    """Drop the failed sets that a smaller one explains."""
    sets = [set(one.members) for one in failed]
    return tuple(
        one
        for place, one in enumerate(failed)
        if not any(
            other < sets[place] or (other == sets[place] and before < place)
            for before, other in enumerate(sets)
        )
    )
