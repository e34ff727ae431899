"""What the queue is made of: changes that wait, runs of the checks, and what earlier runs taught.

Values only. `learning` folds facts into them, `model` puts them together for `plan`.
"""

from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace


class Kind(StrEnum):
    LAND = "land"  # stands on the target, or on a landing run that stands there: may be landed
    PROBE = "probe"  # tries changes on the target as it is, beside the landing runs
    BASE = "base"  # no change at all: is the target itself still green?


class Outcome(StrEnum):
    GREEN = "green"
    RED = "red"
    FLAKY = "flaky"  # green, after a check was repeated by whoever ran it
    CANCELLED = "cancelled"


class Entry(Struct, frozen=True):
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


class Run(Struct, frozen=True):
    """A check run: it goes on, or was green and may still be landed."""

    id: str
    members: tuple[str, ...]  # stacked in this order on `tip`
    tip: str  # the target's commit that it stands on
    kind: Kind
    started_at: int
    green: bool = False

    def after_landing(self, landed: "Run", tip: str) -> "Run":
        """Return the same run as seen from the new tip of the target, if it was built on it.

        Otherwise it stays as it is, and `plan` finds that it no longer fits.
        """
        count = len(landed.members)
        fits = self.tip == landed.tip and self.members[:count] == landed.members
        if self.kind is not Kind.LAND or not fits or self.id == landed.id:
            return self
        return replace(self, members=self.members[count:], tip=tip)


class Landing(Struct, frozen=True):
    """One change that landed; `tip` is empty for all but the last one of a stack."""

    number: int
    task: str
    order: int
    paths: tuple[str, ...]  # sorted: the state is the same to the byte
    tip: str = ""


class Failure(Struct, frozen=True):
    """Changes that were red together: at least one is bad, or two clash, or a check was flaky."""

    members: tuple[str, ...]
    run: str


class Proof(Struct, frozen=True):
    """A change was green in this run, on the target as it was after so many landings."""

    run: str
    number: int


class Base(Struct, frozen=True):
    """The last check of the target by itself."""

    tip: str
    green: bool
    ended_at: int
