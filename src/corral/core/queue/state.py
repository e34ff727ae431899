"""The queue in the state: waiting changes, check runs, and where the trunks are.

It is part of `core/log/state`, so a restarted refinery knows everything its predecessor knew.
"""

from msgspec import Struct

from corral.core.ids import ConvoyId, TaskId
from corral.core.queue.planner.learning import Learned

REMEMBERED_CHECKS = 400  # of those that have ended: a verdict is reused for the same tree


class Change(Struct, frozen=True, array_like=True, gc=False):
    """The work of one task, pinned, waiting to land."""

    task: TaskId
    convoy: ConvoyId
    commit: str
    fork: str
    paths: tuple[str, ...]
    many: bool
    order: int
    queued_at: int
    since: int  # how many changes had landed on the trunk when it branched off


class CheckRun(Struct, frozen=True, array_like=True, gc=False):
    """One run of the checks, in progress or ended.

    Once the lower part of its stack has landed, it is based on that.
    """

    run: str
    convoy: ConvoyId
    members: tuple[TaskId, ...]
    commits: tuple[str, ...]
    tip: str
    commit: str
    tree: str
    key: str
    kind: str
    slot: int
    deadline_s: int
    external: bool
    order: int
    started_at: int
    ended_at: int = 0
    result: str = ""
    command: str = ""
    detail: str = ""
    took_ms: int = 0
    cached: str = ""

    @property
    def live(self) -> bool:
        return not self.ended_at

    @property
    def due_at(self) -> int:
        return self.started_at + self.deadline_s * 1000


class AnnouncedLanding(Struct, frozen=True, array_like=True, gc=False):
    """A move of the trunk that was announced and may not have been carried out yet."""

    run: str
    old: str
    new: str
    tasks: tuple[TaskId, ...]
    commits: tuple[str, ...]


class Trunk(Struct, frozen=True, array_like=True, gc=False):
    convoy: ConvoyId
    tip: str
    landing: AnnouncedLanding | None = None
    learned: Learned = Learned()
    paused: str = ""  # the reason; empty: it is not paused
    finished: str = ""  # how it reached the base branch
    finished_commit: str = ""


class Returned(Struct, frozen=True, array_like=True, gc=False):
    """Why the work of a task was sent back, for its next attempt. Forgotten once it lands."""

    task: TaskId
    commit: str
    fork: str
    why: str
    detail: str
    beside: tuple[TaskId, ...]
    paths: tuple[str, ...]
    run: str
    tip: str
    times: int
    at: int
