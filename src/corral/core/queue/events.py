"""Events of work on its way to the target branch: the refinery's part of the log.

A *change* is the work of one task as it was handed in: one pinned commit. A *check run* tests a
stack of changes on top of the trunk. `core/log/events` says how events may change.
"""

from corral.core.ids import ConvoyId, TaskId
from corral.core.log.events import Event


class ChangeQueued(Event, frozen=True, kw_only=True):
    """A task's work was pinned and waits to land; `fork` is where it branched off the trunk."""

    type = "change.queued"
    task: TaskId
    commit: str
    fork: str
    paths: tuple[str, ...] = ()
    many: bool = False  # more paths than are listed


class ChangeReturned(Event, frozen=True, kw_only=True):
    """The work cannot land as it is; it went back with what its next attempt needs to know."""

    type = "change.returned"
    task: TaskId
    commit: str
    why: str  # conflict, red, timed_out, gone, settings
    detail: str = ""
    beside: tuple[TaskId, ...] = ()  # the tasks that it conflicts with
    paths: tuple[str, ...] = ()  # the paths in conflict
    run: str = ""
    tip: str = ""


class CheckStarted(Event, frozen=True, kw_only=True):
    """A check run on a stack of changes started."""

    type = "check.started"
    run: str
    convoy: ConvoyId
    members: tuple[TaskId, ...]
    tip: str
    commit: str
    tree: str
    key: str  # a hash of the checks
    commits: tuple[str, ...] = ()  # the stack after each member, lowest first
    kind: str = "land"  # or probe, or base (no members)
    slot: int = 0
    deadline_s: int = 0
    external: bool = False  # another CI runs the checks and reports the result


class CheckEnded(Event, frozen=True, kw_only=True):
    """A check run ended: green, red, timed_out, cancelled or lost."""

    type = "check.ended"
    run: str
    result: str
    command: str = ""
    detail: str = ""
    took_ms: int = 0
    beside: int = 1  # how many runs there were at once, including this one
    cached: str = ""  # the earlier run whose result was reused


class LandingBegun(Event, frozen=True, kw_only=True):
    """The trunk is about to move from `old` to `new`; after a crash this suffices to finish."""

    type = "landing.begun"
    run: str
    convoy: ConvoyId
    old: str
    new: str
    tasks: tuple[TaskId, ...]
    commits: tuple[str, ...] = ()  # of each task, as it will be on the trunk


class LandingEnded(Event, frozen=True, kw_only=True):
    """The trunk was moved, or someone else moved it first."""

    type = "landing.ended"
    run: str
    convoy: ConvoyId
    landed: bool
    reason: str = ""


class TrunkMoved(Event, frozen=True, kw_only=True):
    """A trunk was created, or moved by someone other than the refinery."""

    type = "trunk.moved"
    convoy: ConvoyId
    new: str
    old: str = ""
    who: str = ""


class QueuePaused(Event, frozen=True, kw_only=True):
    """Landing is paused for the convoy, or for all convoys if `convoy` is empty."""

    type = "queue.paused"
    convoy: ConvoyId = ConvoyId("")
    reason: str = ""


class QueueResumed(Event, frozen=True, kw_only=True):
    """Landing continues."""

    type = "queue.resumed"
    convoy: ConvoyId = ConvoyId("")


class ConvoyFinished(Event, frozen=True, kw_only=True):
    """All of a convoy's work has landed; its trunk was merged into the base branch, or left."""

    type = "convoy.finished"
    convoy: ConvoyId
    how: str  # merged, fast_forwarded, left, or asked (by a pull request)
    base: str = ""
    commit: str = ""
    note: str = ""
