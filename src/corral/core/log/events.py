"""What can happen, in the past tense. Each class is one `type` of the log.

An event carries facts only, and never changes its meaning: a new meaning is a new type, a new fact
is a new field with a default. `codec` turns events into lines and back. The events of the concepts
in `_CONCEPTS` are in modules of their own, which are loaded when one of their events occurs.
"""

from importlib import import_module
from typing import Any, ClassVar

from msgspec import Struct, field

from corral.core.ids import ConvoyId, SessionId, TaskId, Token

EVENTS: dict[str, type["Event"]] = {}  # those that are loaded, by type
_CONCEPTS = ("queue", "message", "mayor")


class Event(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One fact. Subclasses register themselves under their `type`."""

    type: ClassVar[str] = ""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.type:
            EVENTS[cls.type] = cls


def event_class(kind: str) -> type[Event] | None:
    """Return the class of a type of event, None for a type that this version does not know."""
    for concept in _CONCEPTS:
        if kind in EVENTS:
            break
        import_module(f"corral.core.{concept}.events")
    return EVENTS.get(kind)


def every_event() -> dict[str, type[Event]]:
    """Return the classes of all types of events."""
    event_class("")
    return EVENTS


class LogCreated(Event, frozen=True, kw_only=True):
    """The log began; `log` tells this log from every other one."""

    type = "log.created"
    log: str
    format: int


class ConvoyCreated(Event, frozen=True, kw_only=True):
    """A convoy was opened; its prefix starts the ids of its tasks."""

    type = "convoy.created"
    convoy: ConvoyId
    title: str
    prefix: str
    base: str = ""
    strategy: str = ""
    checks: tuple[str, ...] = ()


class TaskAdded(Event, frozen=True, kw_only=True):
    """A task was put on the board."""

    type = "task.added"
    task: TaskId
    convoy: ConvoyId
    title: str
    priority: int = 0
    needs: tuple[TaskId, ...] = ()
    paths: tuple[str, ...] = ()
    accept: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    engine: str = ""
    brief: str = ""
    assignee: str = ""
    run: tuple[str, ...] = ()
    role: str = ""
    urgent: bool = False
    parent: TaskId = TaskId("")
    budget: int = 0
    levels: int = 0
    every: int = 0
    cron: str = ""
    missed: str = ""
    key: str = ""  # its name in the plan that it comes from
    spec: str = ""  # tells its wording in that plan from any other
    reasons: dict[TaskId, str] = field(default_factory=dict)  # of the needs that were inferred


class TaskEdited(Event, frozen=True, kw_only=True):
    """Fields of a task were replaced; a field that is absent did not change."""

    type = "task.edited"
    task: TaskId
    title: str | None = None
    priority: int | None = None
    needs: tuple[TaskId, ...] | None = None
    paths: tuple[str, ...] | None = None
    accept: tuple[str, ...] | None = None
    inputs: tuple[str, ...] | None = None
    engine: str | None = None
    brief: str | None = None
    run: tuple[str, ...] | None = None
    role: str | None = None
    spec: str | None = None
    reasons: dict[TaskId, str] | None = None


class TaskClaimed(Event, frozen=True, kw_only=True):
    """A holder took the task until `expires_at`; every write it makes shows the token."""

    type = "task.claimed"
    task: TaskId
    holder: str
    token: Token
    expires_at: int


class TaskRenewed(Event, frozen=True, kw_only=True):
    """The holder's claim was extended."""

    type = "task.renewed"
    task: TaskId
    token: Token
    expires_at: int


class TaskLapsed(Event, frozen=True, kw_only=True):
    """A claim ran out and was taken away; its token is worth nothing from here on."""

    type = "task.lapsed"
    task: TaskId
    holder: str
    token: Token


class TaskSubmitted(Event, frozen=True, kw_only=True):
    """The holder handed in its work, for review and landing."""

    type = "task.submitted"
    task: TaskId
    token: Token
    commit: str = ""


class TaskBlocked(Event, frozen=True, kw_only=True):
    """The task cannot go on until somebody unblocks it; its claim ended."""

    type = "task.blocked"
    task: TaskId
    reason: str


class TaskUnblocked(Event, frozen=True, kw_only=True):
    """The task may be claimed again."""

    type = "task.unblocked"
    task: TaskId


class TaskRetried(Event, frozen=True, kw_only=True):
    """The task went back to the board for another attempt."""

    type = "task.retried"
    task: TaskId
    reason: str = ""


class TaskCancelled(Event, frozen=True, kw_only=True):
    """The task will not be done; what needs it can never start."""

    type = "task.cancelled"
    task: TaskId
    reason: str = ""


class TaskHandedOff(Event, frozen=True, kw_only=True):
    """The task went back to the board, for `to` (or for anyone)."""

    type = "task.handed_off"
    task: TaskId
    to: str = ""
    note: str = ""


class TaskFailed(Event, frozen=True, kw_only=True):
    """The attempt ended without a result."""

    type = "task.failed"
    task: TaskId
    reason: str


class TaskDelayed(Event, frozen=True, kw_only=True):
    """The attempt came to nothing; the task may be tried again, not before `until_at`."""

    type = "task.delayed"
    task: TaskId
    reason: str
    until_at: int


class TaskLanded(Event, frozen=True, kw_only=True):
    """The work is on the target branch; what needed it may start."""

    type = "task.landed"
    task: TaskId
    commit: str = ""


class TaskRecurred(Event, frozen=True, kw_only=True):
    """A recurring task was put on the board for `date`, which no other run is for."""

    type = "task.recurred"
    task: TaskId
    date: int


class TaskCommented(Event, frozen=True, kw_only=True):
    """Somebody said something about the task."""

    type = "task.commented"
    task: TaskId
    text: str


class LeaseAcquired(Event, frozen=True, kw_only=True):
    """A holder got a resource until `expires_at`."""

    type = "lease.acquired"
    resource: str
    holder: str
    token: Token
    expires_at: int


class LeaseRenewed(Event, frozen=True, kw_only=True):
    """The holder's lease was extended."""

    type = "lease.renewed"
    resource: str
    token: Token
    expires_at: int


class LeaseReleased(Event, frozen=True, kw_only=True):
    """The holder gave the resource back."""

    type = "lease.released"
    resource: str
    token: Token


class LeaseLapsed(Event, frozen=True, kw_only=True):
    """A lease ran out and was taken away."""

    type = "lease.lapsed"
    resource: str
    holder: str
    token: Token


class AlertRaised(Event, frozen=True, kw_only=True):
    """Something needs a person's eye; one alert is open for a subject and kind at a time."""

    type = "alert.raised"
    alert: str
    kind: str
    subject: str
    text: str


class AlertCleared(Event, frozen=True, kw_only=True):
    """An alert was dealt with."""

    type = "alert.cleared"
    alert: str


class SessionStarted(Event, frozen=True, kw_only=True):
    """A slot was given to a session: one run of one engine on one task, in a tree of its own."""

    type = "session.started"
    session: SessionId
    task: TaskId
    token: Token
    profile: str
    branch: str
    base: str
    pool: str = ""
    wall_s: int = 0
    trunk: str = ""
    account: str = ""
    resume: str = ""
    takes: str = ""  # how it gets text while it runs: turn, typed, resume; empty: not at all


class SessionProgressed(Event, frozen=True, kw_only=True):
    """The agent said where it is, and how many outputs it has made so far."""

    type = "session.progressed"
    session: SessionId
    text: str
    outputs: int = 0


class SessionStopAsked(Event, frozen=True, kw_only=True):
    """Somebody, or a limit, wants the session to end."""

    type = "session.stop_asked"
    session: SessionId
    verdict: str
    reason: str


class SessionEnded(Event, frozen=True, kw_only=True):
    """The session is over, nothing that it started is alive, and this is what it came to."""

    type = "session.ended"
    session: SessionId
    verdict: str
    detail: str = ""
    commit: str = ""
    code: int | None = None
    signal: int | None = None
    killed: int = 0  # processes that it had left behind, and that were ended


class SessionEngaged(Event, frozen=True, kw_only=True):
    """The engine is up: its model, and its own name for the conversation, to resume it by."""

    type = "session.engaged"
    session: SessionId
    thread: str = ""
    model: str = ""
    version: str = ""


class SessionSpent(Event, frozen=True, kw_only=True):
    """What the session has used so far, in all; recorded now and then, and exactly at its end.

    `unpriced` are the tokens whose cost nobody knows; `nano_usd` is the cost of the others.
    """

    type = "session.spent"
    session: SessionId
    model: str = ""
    fresh: int = 0
    cached: int = 0
    output: int = 0
    nano_usd: int = 0
    unpriced: int = 0
    turns: int = 0


class SessionLimited(Event, frozen=True, kw_only=True):
    """The engine met a limit of its account, which is left alone until `until_at`."""

    type = "session.limited"
    session: SessionId
    account: str
    trouble: str
    until_at: int
    text: str = ""


class SessionAsked(Event, frozen=True, kw_only=True):
    """The engine waits for an answer; `call` is its own name for the question."""

    type = "session.asked"
    session: SessionId
    text: str
    options: tuple[str, ...] = ()
    call: str = ""


class SessionAnswered(Event, frozen=True, kw_only=True):
    """The engine does not wait for an answer any more: it has one, or goes on without."""

    type = "session.answered"
    session: SessionId


class SessionReacted(Event, frozen=True, kw_only=True):
    """The witness stepped in: why (`cause`, mostly a verdict) and what it did (`action`).

    `resume` and `restart` start the session's program once more, in the same tree; `afresh`: the
    conversation that it was to go on with is gone; `wait`: only an answer is missing.
    """

    type = "session.reacted"
    session: SessionId
    cause: str
    action: str
    text: str = ""


class TaskParked(Event, frozen=True, kw_only=True):
    """The session ended for a reason that is not the task's: no attempt was used up."""

    type = "task.parked"
    task: TaskId
    reason: str
    until_at: int


class ChoreDone(Event, frozen=True, kw_only=True):
    """The deacon went over something: what it found, and what it did about it.

    Recorded when something was done, and else once in an hour.
    """

    type = "chore.done"
    chore: str
    found: int = 0
    done: int = 0


class TracesSent(Event, frozen=True, kw_only=True):
    """The traces of all tasks that were over at event `upto` have been sent to the collector."""

    type = "traces.sent"
    upto: int
    number: int = 0


class OverlapSeen(Event, frozen=True, kw_only=True):
    """The work of two tasks would conflict, or that of one with what landed (no `other`).

    Told again only if it is about more paths than before.
    """

    type = "overlap.seen"
    task: TaskId
    other: TaskId = TaskId("")
    paths: tuple[str, ...] = ()


class OverlapOver(Event, frozen=True, kw_only=True):
    """It would not conflict any more: one of them landed, left, or was mended."""

    type = "overlap.over"
    task: TaskId
    other: TaskId = TaskId("")
    reason: str = ""


class AlertAcknowledged(Event, frozen=True, kw_only=True):
    """Somebody has seen an alert and is at it; it stays open."""

    type = "alert.acknowledged"
    alert: str
    by: str


class WorkPaused(Event, frozen=True, kw_only=True):
    """No new sessions are started for a convoy, or at all; those that run go on."""

    type = "work.paused"
    convoy: ConvoyId = ConvoyId("")
    by: str = ""
    reason: str = ""


class WorkResumed(Event, frozen=True, kw_only=True):
    """Sessions are started again."""

    type = "work.resumed"
    convoy: ConvoyId = ConvoyId("")
