"""What the log adds up to. Built by `fold` alone; everything in it can be derived again.

Long text (briefs, comments) is not copied into the state: it stays in the log, and the state keeps
the number of the event that holds it. Bump VERSION when a field changes: old snapshots are then
thrown away and the log is replayed.
"""

from enum import StrEnum

from msgspec import Struct, field

from corral.core.engine.bill import Bill
from corral.core.ids import ConvoyId, SessionId, TaskId, Token
from corral.core.mayor.state import MayorConversation
from corral.core.queue.state import Change, CheckRun, Returned, Trunk

VERSION = 6


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
    run: tuple[str, ...] = ()
    role: str = ""
    urgent: bool = False
    parent: TaskId = TaskId("")
    budget: int = 0  # tasks below it that may be open at once
    levels: int = 0  # how deep they may go
    failures: int = 0  # attempts in a row that came to nothing
    not_before_at: int = 0
    session: SessionId = SessionId("")  # the last one that worked on it
    every: int = 0  # it comes back every so many beats
    cron: str = ""  # or at the dates of this line
    missed: str = ""  # what becomes of dates that nobody saw: once or skip
    covered_at: int = 0  # its dates up to here are used up
    before: str = ""  # what was last said about how it went: for the next attempt
    key: str = ""  # its name in the plan that it comes from
    spec: str = ""  # tells its wording in that plan from any other
    reasons: dict[TaskId, str] = field(default_factory=dict)  # of those needs that were inferred
    parks: int = 0  # sessions in a row that ended without using up an attempt


class Session(Struct, frozen=True, array_like=True, gc=False):
    """One run of one engine on one task. The last one of each task is remembered."""

    id: SessionId
    task: TaskId
    token: Token
    profile: str
    pool: str
    branch: str
    base: str
    wall_s: int
    started_at: int
    ended_at: int = 0
    verdict: str = ""
    detail: str = ""
    commit: str = ""
    stop: str = ""  # the verdict that it was asked to stop for
    progress: str = ""
    progress_at: int = 0
    outputs: int = 0
    outputs_at: int = 0  # when the number of outputs last rose
    trunk: str = ""  # where the convoy's trunk was when it started
    account: str = ""  # whose limits it counts against
    resume: str = ""  # the engine's conversation that it was to go on with
    thread: str = ""  # the engine's own name for the conversation
    model: str = ""
    bill: Bill = Bill()
    bill_before: Bill = Bill()  # of the launches before the newest one
    talk: Bill = Bill()  # of the conversation that the newest launch goes on with, before it
    turns: int = 0
    turns_before: int = 0
    limited: bool = False
    asked: str = ""  # what the engine waits for an answer to, until it has one
    asked_call: str = ""
    launches: int = 1  # of its program, in all
    reactions: tuple[str, ...] = ()  # what was done about it, and why, the last ones
    relaunched: tuple[str, ...] = ()  # the cause of each launch but the first
    fresh: bool = False  # the newest launch does not go on with a conversation
    takes: str = ""  # how it gets text while it runs: turn, typed, resume; empty: not at all
    waits: str = ""  # the message whose answer it waits for
    waited_at: int = 0  # until when it last did
    idle_at: int = 0  # since when its program is over, and only the answer is missing

    @property
    def live(self) -> bool:
        return not self.ended_at

    @property
    def conversation(self) -> str:
        """The conversation that the newest launch goes on with; empty: a new one."""
        if self.fresh:
            return ""
        return self.thread if self.launches > 1 else self.resume

    @property
    def talked(self) -> Bill:
        """What the conversation of the newest launch has used by now."""
        return self.talk + (self.bill - self.bill_before)


class Alert(Struct, frozen=True, array_like=True, gc=False):
    id: str
    kind: str
    subject: str
    text: str
    raised_at: int
    seen_by: str = ""


class SessionPause(Struct, frozen=True, array_like=True, gc=False):
    """No sessions are started, since when and by whom."""

    by: str
    reason: str
    since_at: int


class Message(Struct, frozen=True, array_like=True, gc=False):
    """A message that is not over: not read, not acknowledged, or a question without an answer."""

    id: str
    sender: str
    to: str
    text: str
    sent_at: int
    expires_at: int
    question: bool = False  # the sender waits for an answer
    reply_to: str = ""
    reader: str = ""
    read_at: int = 0
    acknowledged: bool = False
    plain: bool = False  # to be said as it is, without who sent it
    answers: str = ""  # the engine's own name of the question that it answers
    # Taken (there is a reader, and it was not read yet): in the prompt of this launch; 0: in the
    # inbox of its reader.
    launch: int = 0


class Account(Struct, frozen=True, array_like=True, gc=False):
    """Something that limits all who use it together: an engine and its key."""

    name: str
    until_at: int = 0  # nothing starts on it before
    limited_at: int = 0
    allowed: float = 0.0  # sessions at once; 0: no limit was met yet
    ceiling: float = 0.0  # with so many, it was limited
    strikes: int = 0  # rounds of limits since something last went well
    trouble: str = ""
    text: str = ""


class Spending(Struct, frozen=True, array_like=True, gc=False):
    """What one task has spent with one profile and one model, over all its sessions."""

    task: TaskId
    profile: str
    model: str
    bill: Bill
    sessions: int = 0


class Chore(Struct, frozen=True, array_like=True, gc=False):
    """When the deacon last recorded one of its jobs, and what that came to."""

    name: str
    ran_at: int
    found: int
    done: int


class AnsweredRequest(Struct, frozen=True, array_like=True, gc=False):
    """A request with a key that was carried out: its last event, and a digest of what it asked."""

    seq: int
    at: int
    digest: str


class Overlap(Struct, frozen=True, array_like=True, gc=False):
    """Work that would conflict as it is now: of two tasks, or of one with what landed (no other).

    The `task` is the later one: it is the one to give way.
    """

    task: TaskId
    other: TaskId
    paths: tuple[str, ...]  # the first of those in conflict
    since_at: int


def overlap_name(task: TaskId, other: TaskId) -> str:
    """Return what an overlap is kept under, whichever of the two is the later one."""
    return " ".join(sorted((task, other)))


class State(Struct):
    """The fold of the log up to and with event `seq`, whose chain hash is `head`."""

    seq: int = 0
    head: bytes = bytes(32)
    log: str = ""
    convoys: dict[ConvoyId, Convoy] = field(default_factory=dict)
    tasks: dict[TaskId, Task] = field(default_factory=dict)
    leases: dict[str, Claim] = field(default_factory=dict)
    alerts: dict[str, Alert] = field(default_factory=dict)
    sessions: dict[SessionId, Session] = field(default_factory=dict)
    chores: dict[str, Chore] = field(default_factory=dict)
    changes: dict[TaskId, Change] = field(default_factory=dict)
    checks: dict[str, CheckRun] = field(default_factory=dict)
    trunks: dict[ConvoyId, Trunk] = field(default_factory=dict)
    returned: dict[TaskId, Returned] = field(default_factory=dict)
    flakes: dict[str, int] = field(default_factory=dict)  # by command: same tree, two answers
    runs: int = 0  # check runs so far; they are named by it
    held: str = ""  # why nothing lands, if all queues are paused
    accounts: dict[str, Account] = field(default_factory=dict)
    ledger: dict[str, Spending] = field(default_factory=dict)
    days: dict[int, Bill] = field(default_factory=dict)  # spent, by day since 1970 in UTC
    mayors: dict[str, MayorConversation] = field(default_factory=dict)  # conversations about plans
    paused: dict[str, SessionPause] = field(default_factory=dict)  # by convoy; "" is everything
    messages: dict[str, Message] = field(default_factory=dict)
    requests: dict[str, AnsweredRequest] = field(
        default_factory=dict
    )  # by actor and key, oldest first
    overlaps: dict[str, Overlap] = field(default_factory=dict)  # see `core/queue/overlaps`
    traced: int = 0  # the traces of tasks that were over at this event have been sent
