"""What the log adds up to. Built by `fold` alone; everything in it can be derived again.

Long text (briefs, comments) is not copied into the state: it stays in the log, and the state keeps
the number of the event that holds it. Bump VERSION when a field changes: old snapshots are then
thrown away and the log is replayed.
"""

from enum import StrEnum

from msgspec import Struct, field

from corral.core.ids import ConvoyId, TaskId, Token

VERSION = 1


class TaskState(StrEnum):
    TODO = "todo"
    DOING = "doing"
    BLOCKED = "blocked"
    REVIEW = "review"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Convoy(Struct, frozen=True, array_like=True, gc=False):
    id: ConvoyId
    title: str
    prefix: str
    base: str
    strategy: str
    checks: tuple[str, ...]
    created_at: int
    last_number: int = 0


class Claim(Struct, frozen=True, array_like=True, gc=False):
    """The right to work on a task (or, in a lease, to use a resource) for a time."""

    holder: str
    token: Token
    since_at: int
    expires_at: int

    def lapsed(self, now: int) -> bool:
        return now >= self.expires_at


class Task(Struct, frozen=True, array_like=True, gc=False):
    id: TaskId
    convoy: ConvoyId
    title: str
    state: TaskState
    priority: int
    needs: tuple[TaskId, ...]
    paths: tuple[str, ...]
    accept: tuple[str, ...]
    inputs: tuple[str, ...]
    engine: str
    assignee: str
    added_at: int
    changed_at: int
    order: int  # the event that added it: tasks of one priority are offered in this order
    brief_seq: int  # the event that holds the brief; 0 if there is none
    claim: Claim | None = None
    attempts: int = 0
    reason: str = ""
    commit: str = ""
    comments: tuple[int, ...] = ()


class Alert(Struct, frozen=True, array_like=True, gc=False):
    id: str
    kind: str
    subject: str
    text: str
    raised_at: int


class State(Struct):
    """The fold of the log up to and with event `seq`, whose chain hash is `head`."""

    seq: int = 0
    head: bytes = bytes(32)
    log: str = ""
    convoys: dict[ConvoyId, Convoy] = field(default_factory=dict)
    tasks: dict[TaskId, Task] = field(default_factory=dict)
    leases: dict[str, Claim] = field(default_factory=dict)
    alerts: dict[str, Alert] = field(default_factory=dict)
