"""The queue as the log has it: what waits, what is being checked, where the trunks are.

Part of the state (`core/log/state`), so a restarted refinery knows all that the one before it knew.
"""

from msgspec import Struct

from corral.core.ids import ConvoyId, TaskId
from corral.core.queue.planner.learning import Learned

REMEMBERED_CHECKS = 400  # ended ones: their verdicts are reused for the same tree


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
    since: int  # so many changes had landed on the trunk when it left it


class CheckRun(Struct, frozen=True, array_like=True, gc=False):
    """One run of the checks, going on or over. Once the lower part of its stack has landed, it
    stands on that."""

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
    """A move of the trunk that was announced and is not known to be done."""

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
    paused: str = ""  # why, if it is
    finished: str = ""  # how it came to the base branch
    finished_commit: str = ""


class Returned(Struct, frozen=True, array_like=True, gc=False):
    """Why the work of a task came back, for its next attempt. Forgotten once it lands."""

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
