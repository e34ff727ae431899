"""The parts of the queue: waiting changes, check runs, and what earlier runs taught.

Values only. `learning` folds facts into them, `model` combines them for `plan`.
"""

from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace


class Kind(StrEnum):
    LAND = "land"  # based on the target, or on a landing run that is: may be landed
    PROBE = "probe"  # tries changes on the current target, beside the landing runs
    HUNT = "hunt"  # repeats only the failed check on a part of a red stack; proves little
    BASE = "base"  # no changes: is the target itself still green?


class CheckOutcome(StrEnum):
    GREEN = "green"
    RED = "red"
    FLAKY = "flaky"  # green after a check was repeated
    CANCELLED = "cancelled"


class QueueEntry(Struct, frozen=True):
    """One change waiting to land."""

    task: str
    commit: str
    order: int  # the number of the event that queued it; breaks ties
    queued_at: int
    priority: int = 0
    # Tasks that have not landed; they must land before it or with it.
    needs: frozenset[str] = frozenset()
    paths: frozenset[str] = frozenset()  # changed; empty means unknown, and overlaps everything
    attempts: int = 1  # how often it was submitted
    since: int = 0  # landings before its fork point; only later ones can clash
    prechecked: bool = True  # its own acceptance passed


class PlannedRun(Struct, frozen=True):
    """A check run that is running, or was green and may still be landed."""

    id: str
    members: tuple[str, ...]  # stacked in this order on `tip`
    tip: str  # the target's commit that it is based on
    kind: Kind
    started_at: int
    green: bool = False

    def after_landing(self, landed: "PlannedRun", tip: str) -> "PlannedRun":
        """Return the run relative to the new tip of the target, if it was built on that.

        Otherwise it is unchanged, and `plan` finds that it no longer fits.
        """
        count = len(landed.members)
        fits = self.tip == landed.tip and self.members[:count] == landed.members
        if self.kind is not Kind.LAND or not fits or self.id == landed.id:
            return self
        return replace(self, members=self.members[count:], tip=tip)


class PlannedLanding(Struct, frozen=True):
    """One landed change; `tip` is empty except for the last one of a stack."""

    number: int
    task: str
    order: int
    paths: tuple[str, ...]  # sorted, so that the state is the same to the byte
    tip: str = ""


class Failure(Struct, frozen=True):
    """A red stack: at least one change is bad, or two clash, or a check was flaky.

    Hunts narrow it down: the first `clear` members are green together in the failed check. If one
    suspect is left and is green `apart` from the others, it clashes with them.
    """

    members: tuple[str, ...]
    run: str
    clear: int = 0
    apart: bool = False

    @property
    def suspects(self) -> tuple[str, ...]:
        return self.members[self.clear :]

    def hunted(self, part: tuple[str, ...], *, green: bool) -> "Failure | None":
        """Return what is left of the failure after a hunt; None if there is nothing to explain."""
        if part == self.members:
            return None if green else self
        if part == self.members[-1:] and len(self.suspects) == 1:
            return replace(self, apart=green)
        if part != self.members[: len(part)]:
            return self
        if green:
            return replace(self, clear=max(self.clear, len(part)))
        return replace(self, members=part, clear=min(self.clear, len(part) - 1))

    def without(self, good: set[str]) -> "Failure | None":
        """Return the failure without members that were green elsewhere or have landed."""
        rest = tuple(task for task in self.members if task not in good)
        clear = sum(task not in good for task in self.members[: self.clear])
        if len(rest) == len(self.members):
            return self
        return Failure(rest, self.run, clear) if len(rest) > clear else None


class GreenProof(Struct, frozen=True):
    """A change was green in this run, on the target after `number` landings."""

    run: str
    number: int


class Base(Struct, frozen=True):
    """The last check of the target alone."""

    tip: str
    green: bool
    ended_at: int
    reds: int = 0  # how often in a row it was red
