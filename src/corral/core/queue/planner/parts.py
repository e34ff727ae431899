"""What the queue is made of: changes that wait, runs of the checks, and what earlier runs taught.

Values only. `learning` folds facts into them, `model` puts them together for `plan`.
"""

from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace


class Kind(StrEnum):
    LAND = "land"  # stands on the target, or on a landing run that stands there: may be landed
    PROBE = "probe"  # tries changes on the target as it is, beside the landing runs
    HUNT = "hunt"  # repeats only the check that failed, on a part of a red stack; proves little
    BASE = "base"  # no change at all: is the target itself still green?


class CheckOutcome(StrEnum):
    GREEN = "green"
    RED = "red"
    FLAKY = "flaky"  # green, after a check was repeated by whoever ran it
    CANCELLED = "cancelled"


class QueueEntry(Struct, frozen=True):
    """One change that waits to land."""

    task: str
    commit: str
    order: int  # the number of the event that queued it: ties are broken by it
    queued_at: int
    priority: int = 0
    needs: frozenset[str] = frozenset()  # tasks that have not landed; they go below it or with it
    paths: frozenset[str] = frozenset()  # what it changes; empty is unknown, and meets everything
    attempts: int = 1  # how often it was handed in
    since: int = 0  # landings of the target before its fork point: only later ones can clash
    prechecked: bool = True  # its own acceptance passed


class PlannedRun(Struct, frozen=True):
    """A check run: it goes on, or was green and may still be landed."""

    id: str
    members: tuple[str, ...]  # stacked in this order on `tip`
    tip: str  # the target's commit that it stands on
    kind: Kind
    started_at: int
    green: bool = False

    def after_landing(self, landed: "PlannedRun", tip: str) -> "PlannedRun":
        """Return the same run as seen from the new tip of the target, if it was built on it.

        Otherwise it stays as it is, and `plan` finds that it no longer fits.
        """
        count = len(landed.members)
        fits = self.tip == landed.tip and self.members[:count] == landed.members
        if self.kind is not Kind.LAND or not fits or self.id == landed.id:
            return self
        return replace(self, members=self.members[count:], tip=tip)


class PlannedLanding(Struct, frozen=True):
    """One change that landed; `tip` is empty for all but the last one of a stack."""

    number: int
    task: str
    order: int
    paths: tuple[str, ...]  # sorted: the state is the same to the byte
    tip: str = ""


class Failure(Struct, frozen=True):
    """A stack that was red: at least one is bad, or two clash, or a check was flaky.

    Hunts narrow it down: the first `clear` members are green together in the check that failed.
    When one suspect is left and it is green `apart` from the others, it clashes with them.
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
        """Return the failure without members that were green elsewhere, or landed."""
        rest = tuple(task for task in self.members if task not in good)
        clear = sum(task not in good for task in self.members[: self.clear])
        if len(rest) == len(self.members):
            return self
        return Failure(rest, self.run, clear) if len(rest) > clear else None


class GreenProof(Struct, frozen=True):
    """A change was green in this run, on the target as it was after so many landings."""

    run: str
    number: int


class Base(Struct, frozen=True):
    """The last check of the target by itself."""

    tip: str
    green: bool
    ended_at: int
    reds: int = 0  # how often in a row it was red
