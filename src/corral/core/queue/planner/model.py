"""The queue's whole input, its policy, and what it may decide. `planning.plan` joins them."""

from typing import Literal

from msgspec import Struct

from corral.core.queue.planner.learning import Learned
from corral.core.queue.planner.parts import (
    Base,
    CheckOutcome,
    Failure,
    GreenProof,
    Kind,
    PlannedLanding,
    PlannedRun,
    QueueEntry,
)

__all__ = [
    "Action",
    "Base",
    "Cancel",
    "CheckOutcome",
    "Failure",
    "GreenProof",
    "Hunt",
    "Kind",
    "Land",
    "Learned",
    "PlannedLanding",
    "PlannedRun",
    "Queue",
    "QueueEntry",
    "QueuePolicy",
    "Rerun",
    "SendBack",
    "Start",
]


class Queue(Struct, frozen=True):
    """All that `plan` looks at, for one target branch.

    A change that conflicts with the target itself is not in it: whoever builds the queue asks git
    first, and sends it back. `conflicts` are pairs of entries that conflict with each other.
    """

    entries: tuple[QueueEntry, ...]
    tip: str
    runs: tuple[PlannedRun, ...] = ()
    learned: Learned = Learned()
    conflicts: frozenset[frozenset[str]] = frozenset()


class QueuePolicy(Struct, frozen=True):
    mode: Literal["serial", "lanes"] = "lanes"
    max_batch: int = 64
    reruns: int = 1  # how often a change that was red alone is tried again, if it may be a flake
    flake_odds: float = 0.2  # above this, it may be
    base_after: int = 3  # so many blamed in a row: check the target itself before the next one
    base_again_s: int = 600  # a red target is checked again after this long
    overtaken: int = 60  # a change that so many newer ones overtook leads the next landing run
    # Send back what has probably gone stale, before it takes a slot. Faster, but each counts as an
    # attempt: where much conflicts, more changes run out of attempts.
    refresh: bool = False
    refresh_at: float = 0.35
    hunt_cost: float = 1.0  # the check that failed, as a part of all checks; worth it up to a half

    @property
    def hunts(self) -> bool:
        return self.hunt_cost <= 0.5


class Start(Struct, frozen=True):
    """Begin a check run of these changes, stacked on the target in this order."""

    members: tuple[str, ...]
    kind: Kind


class Rerun(Struct, frozen=True):
    """The same, but a remembered result of the same tree must not be used."""

    members: tuple[str, ...]
    kind: Kind
    of: str


class Hunt(Struct, frozen=True):
    """Begin a run of only the check that failed in run `of`, on a part of its stack."""

    members: tuple[str, ...]
    of: str


class Land(Struct, frozen=True):
    """Move the target to this green run's commit. The queue has to be planned again after it."""

    run: str


class Cancel(Struct, frozen=True):
    run: str
    why: Literal["stale", "contains-red", "member-left", "moot"]


class SendBack(Struct, frozen=True):
    """Give a change back to its agent.

    `red`: the run of it alone on the target was red; `stale`: what landed since its fork point
    probably breaks it, and it has not been checked with that. `with_` names what it may clash with.
    """

    task: str
    why: Literal["red", "stale"]
    run: str = ""
    with_: tuple[str, ...] = ()


Action = Start | Rerun | Hunt | Land | Cancel | SendBack
