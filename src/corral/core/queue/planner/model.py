"""The queue's whole input, its policy, and its decisions. `plan.plan` joins them."""

from typing import Literal

from msgspec import Struct

from corral.core.queue.planner.learning import Learned
from corral.core.queue.planner.parts import Kind, PlannedRun, QueueEntry


class Queue(Struct, frozen=True):
    """The input of `plan` for one target branch.

    A change that conflicts with the target itself is not in it: it is sent back before the queue
    is built. `conflicts` are pairs of entries that conflict with each other.
    """

    entries: tuple[QueueEntry, ...]
    tip: str
    runs: tuple[PlannedRun, ...] = ()
    learned: Learned = Learned()
    conflicts: frozenset[frozenset[str]] = frozenset()
    proven: bool = True  # whether the target as it is now was green in some run

    def base_was(self, *, green: bool) -> bool:
        """Say whether the target as it is now was checked alone, with this result."""
        base = self.learned.base
        return base is not None and base.green == green and base.tip == self.tip


class QueuePolicy(Struct, frozen=True):
    mode: Literal["serial", "lanes"] = "lanes"
    max_batch: int = 64
    reruns: int = 1  # retries of a change that was red alone, if it may be a flake
    flake_odds: float = 0.2  # the probability above which it may be
    base_after: int = 3  # after this many blamed in a row, check the target itself
    base_again_s: int = 600  # delay before a red target is checked again
    overtaken: int = 60  # a change overtaken by this many newer ones leads the next landing run
    # Send back changes that are probably stale before they take a slot. This is faster, but each
    # counts as an attempt: where conflicts are common, more changes run out of attempts.
    refresh: bool = False
    refresh_at: float = 0.35
    hunt_cost: float = 1.0  # of the failed check, as a share of all checks; worth it up to half

    @property
    def hunts(self) -> bool:
        return self.hunt_cost <= 0.5


# What the refinery runs, by the setting `refinery.mode`; benchmarks measure just these. An agent's
# time costs more than a check's, so no change is blamed for a single red run.
POLICIES = {
    "lanes": QueuePolicy(flake_odds=0.0),
    "serial": QueuePolicy(mode="serial", flake_odds=0.0),
}


class Start(Struct, frozen=True):
    """Start a check run of these changes, stacked on the target in this order."""

    members: tuple[str, ...]
    kind: Kind


class Rerun(Struct, frozen=True):
    """The same, without using a cached result of the same tree."""

    members: tuple[str, ...]
    kind: Kind
    of: str


class Hunt(Struct, frozen=True):
    """Start a run of only the check that failed in run `of`, on a part of its stack."""

    members: tuple[str, ...]
    of: str


class Land(Struct, frozen=True):
    """Move the target to this green run's commit. Plan again afterwards."""

    run: str


class Cancel(Struct, frozen=True):
    run: str
    why: Literal["stale", "contains-red", "member-left", "moot"]


class SendBack(Struct, frozen=True):
    """Send a change back to its agent.

    `red`: its run alone on the target was red; `stale`: changes landed since its fork point
    probably break it, though this was not checked. `with_` names what it may clash with.
    """

    task: str
    why: Literal["red", "stale"]
    run: str = ""
    with_: tuple[str, ...] = ()


Action = Start | Rerun | Hunt | Land | Cancel | SendBack
