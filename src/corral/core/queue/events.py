"""What can happen to work on its way to the target branch: the refinery's part of the log.

A *change* is the work of one task, as it was handed in: one commit, pinned. A *check run* tries a
stack of changes on a tip of the trunk. Like all events these are facts; `core/log/events` says how
they may grow.
"""

from corral.core.ids import ConvoyId, TaskId
from corral.core.log.events import Event


class ChangeQueued(Event, frozen=True, kw_only=True):
    """The work of a task was pinned and waits to land; `fork` is where it left the trunk."""

    type = "change.queued"
    task: TaskId
    commit: str
    fork: str
    paths: tuple[str, ...] = ()
    many: bool = False  # more paths than are listed


class ChangeReturned(Event, frozen=True, kw_only=True):
    """The work cannot land as it is and went back, with what its next attempt has to know."""

    type = "change.returned"
    task: TaskId
    commit: str
    why: str  # conflict, red, timed_out, gone
    detail: str = ""
    beside: tuple[TaskId, ...] = ()  # what it does not go together with
    paths: tuple[str, ...] = ()  # where
    run: str = ""
    tip: str = ""


class CheckStarted(Event, frozen=True, kw_only=True):
    """The checks of a convoy are run on a stack of changes."""

    type = "check.started"
    run: str
    convoy: ConvoyId
    members: tuple[TaskId, ...]
    tip: str
    commit: str
    tree: str
    key: str  # which checks, as a hash
    commits: tuple[str, ...] = ()  # the stack with each member, the lowest first
    kind: str = "land"  # or probe; or base, without members
    slot: int = 0
    deadline_s: int = 0
    external: bool = False  # somebody else runs them, and reports


class CheckEnded(Event, frozen=True, kw_only=True):
    """A check run is over: green, red, timed_out, cancelled or lost."""

    type = "check.ended"
    run: str
    result: str
    command: str = ""
    detail: str = ""
    took_ms: int = 0
    beside: int = 1  # how many ran at once, with this one
    cached: str = ""  # the run whose result this is


class LandingBegun(Event, frozen=True, kw_only=True):
    """The trunk is about to be moved from `old` to `new`: whoever reads this can see it through."""

    type = "landing.begun"
    run: str
    convoy: ConvoyId
    old: str
    new: str
    tasks: tuple[TaskId, ...]
    commits: tuple[str, ...] = ()  # of each task, as it is on the trunk then


class LandingEnded(Event, frozen=True, kw_only=True):
    """The trunk was moved, or somebody was quicker."""

    type = "landing.ended"
    run: str
    convoy: ConvoyId
    landed: bool
    reason: str = ""


class TrunkMoved(Event, frozen=True, kw_only=True):
    """A trunk was made, or moved by somebody else than the refinery."""

    type = "trunk.moved"
    convoy: ConvoyId
    new: str
    old: str = ""
    who: str = ""


class QueuePaused(Event, frozen=True, kw_only=True):
    """Nothing of the convoy lands until it is resumed; without a convoy, nothing at all."""

    type = "queue.paused"
    convoy: ConvoyId = ConvoyId("")
    reason: str = ""


class QueueResumed(Event, frozen=True, kw_only=True):
    """Landing goes on."""

    type = "queue.resumed"
    convoy: ConvoyId = ConvoyId("")


class ConvoyFinished(Event, frozen=True, kw_only=True):
    """All of a convoy has landed, and its trunk was brought to the base branch, or left for it."""

    type = "convoy.finished"
    convoy: ConvoyId
    how: str  # merged, fast_forwarded, left, or asked (a pull request)
    base: str = ""
    commit: str = ""
    note: str = ""
