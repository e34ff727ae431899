"""Everything that can happen, in the past tense. Each class is one `type` of event in the log.

An event carries facts only and never changes its meaning: a new meaning needs a new type, a new
fact a new field with a default. `codec` turns events into lines and back. The events of the
concepts in `_CONCEPTS` have modules of their own, which are loaded when one of their events occurs.
"""

from importlib import import_module
from typing import Any, ClassVar

from msgspec import Struct, field

from corral.core.ids import ConvoyId, SessionId, TaskId, Token

EVENTS: dict[str, type["Event"]] = {}  # loaded so far, by type
_CONCEPTS = ("queue", "message", "mayor")


class Event(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One fact. Subclasses register themselves under their `type`."""

    type: ClassVar[str] = ""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.type:
            EVENTS[cls.type] = cls


def event_class(kind: str) -> type[Event] | None:
    """Return the class of an event type; None if this version does not know the type."""
    for concept in _CONCEPTS:
        if kind in EVENTS:
            break
        import_module(f"corral.core.{concept}.events")
    return EVENTS.get(kind)


def every_event() -> dict[str, type[Event]]:
    """Return the classes of all event types."""
    event_class("")
    return EVENTS


class LogCreated(Event, frozen=True, kw_only=True):
    """The log was created; `log` distinguishes it from every other log."""

    type = "log.created"
    log: str
    format: int


class ConvoyCreated(Event, frozen=True, kw_only=True):
    """A convoy was created; the ids of its tasks start with its prefix."""

    type = "convoy.created"
    convoy: ConvoyId
    title: str
    prefix: str
    base: str = ""
    strategy: str = ""
    checks: tuple[str, ...] = ()


class TaskAdded(Event, frozen=True, kw_only=True):
    """A task was added to the board."""

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
    key: str = ""  # its key in the plan that it comes from
    spec: str = ""  # a hash of its wording in that plan
    reasons: dict[TaskId, str] = field(default_factory=dict)  # for the needs that were inferred


class TaskEdited(Event, frozen=True, kw_only=True):
    """Fields of a task were changed; an absent field kept its value."""

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
    """A holder claimed the task until `expires_at`; each of its writes must show the token."""

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
    """A claim expired and was withdrawn; its token is no longer valid."""

    type = "task.lapsed"
    task: TaskId
    holder: str
    token: Token


class TaskSubmitted(Event, frozen=True, kw_only=True):
    """The holder handed in its work for review and landing."""

    type = "task.submitted"
    task: TaskId
    token: Token
    commit: str = ""


class TaskBlocked(Event, frozen=True, kw_only=True):
    """The task cannot continue until someone unblocks it; its claim has ended."""

    type = "task.blocked"
    task: TaskId
    reason: str


class TaskUnblocked(Event, frozen=True, kw_only=True):
    """The task can be claimed again."""

    type = "task.unblocked"
    task: TaskId


class TaskRetried(Event, frozen=True, kw_only=True):
    """The task went back to the board for another attempt."""

    type = "task.retried"
    task: TaskId
    reason: str = ""


class TaskCancelled(Event, frozen=True, kw_only=True):
    """The task will not be done; tasks that need it can never start."""

    type = "task.cancelled"
    task: TaskId
    reason: str = ""


class TaskHandedOff(Event, frozen=True, kw_only=True):
    """The task went back to the board, for `to` or, if that is empty, for anyone."""

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
    """The attempt failed; the task can be tried again from `until_at` on."""

    type = "task.delayed"
    task: TaskId
    reason: str
    until_at: int


class TaskLanded(Event, frozen=True, kw_only=True):
    """The work is on the target branch; tasks that need it can start."""

    type = "task.landed"
    task: TaskId
    commit: str = ""


class TaskRecurred(Event, frozen=True, kw_only=True):
    """A recurring task was put on the board for `date`; no other run is for that date."""

    type = "task.recurred"
    task: TaskId
    date: int


class TaskCommented(Event, frozen=True, kw_only=True):
    """Someone commented on the task."""

    type = "task.commented"
    task: TaskId
    text: str


class LeaseAcquired(Event, frozen=True, kw_only=True):
    """A holder leased a resource until `expires_at`."""

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
    """The holder released the resource."""

    type = "lease.released"
    resource: str
    token: Token


class LeaseLapsed(Event, frozen=True, kw_only=True):
    """A lease expired and was withdrawn."""

    type = "lease.lapsed"
    resource: str
    holder: str
    token: Token


class AlertRaised(Event, frozen=True, kw_only=True):
    """Something needs a person's attention; a subject has at most one open alert of each kind."""

    type = "alert.raised"
    alert: str
    kind: str
    subject: str
    text: str


class AlertCleared(Event, frozen=True, kw_only=True):
    """An alert was resolved."""

    type = "alert.cleared"
    alert: str


class SessionStarted(Event, frozen=True, kw_only=True):
    """A session got a slot: one run of one engine on one task, in a working tree of its own."""

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
    takes: str = ""  # how it receives messages: turn, typed or resume; empty: not at all


class SessionProgressed(Event, frozen=True, kw_only=True):
    """The agent reported its progress and how many outputs it has made so far."""

    type = "session.progressed"
    session: SessionId
    text: str
    outputs: int = 0


class SessionStopAsked(Event, frozen=True, kw_only=True):
    """A person or a limit asked the session to stop."""

    type = "session.stop_asked"
    session: SessionId
    verdict: str
    reason: str


class SessionEnded(Event, frozen=True, kw_only=True):
    """The session has ended, with this verdict; none of its processes is alive."""

    type = "session.ended"
    session: SessionId
    verdict: str
    detail: str = ""
    commit: str = ""
    code: int | None = None
    signal: int | None = None
    killed: int = 0  # processes that it left behind, which were killed


class SessionEngaged(Event, frozen=True, kw_only=True):
    """The engine started: its model, and the id by which it can resume the conversation."""

    type = "session.engaged"
    session: SessionId
    thread: str = ""
    model: str = ""
    version: str = ""


class SessionSpent(Event, frozen=True, kw_only=True):
    """The session's total usage so far; recorded from time to time, and exactly at its end.

    `unpriced` counts the tokens of unknown cost; `nano_usd` is the cost of the others.
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
    """The engine hit a limit of its account, which is not used again until `until_at`."""

    type = "session.limited"
    session: SessionId
    account: str
    trouble: str
    until_at: int
    text: str = ""


class SessionAsked(Event, frozen=True, kw_only=True):
    """The engine is waiting for an answer; `call` is its own id for the question."""

    type = "session.asked"
    session: SessionId
    text: str
    options: tuple[str, ...] = ()
    call: str = ""


class SessionAnswered(Event, frozen=True, kw_only=True):
    """The engine is no longer waiting: it has an answer, or continues without one."""

    type = "session.answered"
    session: SessionId


class SessionReacted(Event, frozen=True, kw_only=True):
    """The witness intervened: why (`cause`, usually a verdict) and what it did (`action`).

    `resume` and `restart` start the session's program again in the same tree; `afresh` means that
    the conversation to resume is gone; `wait` means that only an answer is missing.
    """

    type = "session.reacted"
    session: SessionId
    cause: str
    action: str
    text: str = ""


class TaskParked(Event, frozen=True, kw_only=True):
    """The session ended for a reason outside the task; no attempt was used up."""

    type = "task.parked"
    task: TaskId
    reason: str
    until_at: int


class ChoreDone(Event, frozen=True, kw_only=True):
    """The deacon did a chore: how many things it found and how many it dealt with.

    Recorded whenever it dealt with something, and otherwise once an hour.
    """

    type = "chore.done"
    chore: str
    found: int = 0
    done: int = 0


class TracesSent(Event, frozen=True, kw_only=True):
    """Traces were sent to the collector for all tasks that had ended by event `upto`."""

    type = "traces.sent"
    upto: int
    number: int = 0


class OverlapSeen(Event, frozen=True, kw_only=True):
    """The work of two tasks would conflict; without `other`, one with what has landed.

    Recorded again only if more paths are affected than before.
    """

    type = "overlap.seen"
    task: TaskId
    other: TaskId = TaskId("")
    paths: tuple[str, ...] = ()


class OverlapOver(Event, frozen=True, kw_only=True):
    """The work would no longer conflict: a task landed, was given up, or was fixed."""

    type = "overlap.over"
    task: TaskId
    other: TaskId = TaskId("")
    reason: str = ""


class AlertAcknowledged(Event, frozen=True, kw_only=True):
    """Someone has seen the alert and is working on it; it stays open."""

    type = "alert.acknowledged"
    alert: str
    by: str


class WorkPaused(Event, frozen=True, kw_only=True):
    """No new sessions start for the convoy, or for any if it is empty; running ones continue."""

    type = "work.paused"
    convoy: ConvoyId = ConvoyId("")
    by: str = ""
    reason: str = ""


class WorkResumed(Event, frozen=True, kw_only=True):
    """New sessions start again."""

    type = "work.resumed"
    convoy: ConvoyId = ConvoyId("")


class SettingsChanged(Event, frozen=True, kw_only=True):
    """A role that runs has taken over a changed configuration file."""

    type = "settings.changed"
    role: str
