"""The state that the log adds up to. Only `fold` builds it, and can always build it again.

Long texts (briefs, comments) stay in the log; the state keeps the number of the event that holds
each. Bump VERSION when a field changes: old snapshots are then discarded and the log is replayed.
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
    order: int  # the event that added it; tasks of equal priority are offered in this order
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
    budget: int = 0  # how many tasks below it may be open at once
    levels: int = 0  # how many levels of them there may be
    failures: int = 0  # failed attempts in a row
    not_before_at: int = 0
    session: SessionId = SessionId("")  # the last one that worked on it
    every: int = 0  # recurs after this many beats
    cron: str = ""  # or at the times of this cron line
    missed: str = ""  # what to do about missed dates: once or skip
    covered_at: int = 0  # its dates up to here are done
    before: str = ""  # how the last attempt ended, for the next one
    key: str = ""  # its key in the plan that it comes from
    spec: str = ""  # a hash of its wording in that plan
    reasons: dict[TaskId, str] = field(default_factory=dict)  # for the needs that were inferred
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
    stop: str = ""  # the verdict with which it was asked to stop
    progress: str = ""
    progress_at: int = 0
    outputs: int = 0
    outputs_at: int = 0  # when the number of outputs last rose
    trunk: str = ""  # the convoy's trunk when it started
    account: str = ""  # the account whose limits it shares
    resume: str = ""  # the conversation that it was to resume
    thread: str = ""  # the engine's own id of the conversation
    model: str = ""
    bill: Bill = Bill()
    bill_before: Bill = Bill()  # of all launches but the newest
    talk: Bill = Bill()  # of the conversation that the newest launch resumes, before it
    turns: int = 0
    turns_before: int = 0
    limited: bool = False
    asked: str = ""  # the question that the engine is waiting on
    asked_call: str = ""
    launches: int = 1  # of its program, in total
    reactions: tuple[str, ...] = ()  # the witness's latest interventions, with causes
    relaunched: tuple[str, ...] = ()  # the cause of each launch but the first
    fresh: bool = False  # the newest launch started a new conversation
    takes: str = ""  # how it receives messages: turn, typed or resume; empty: not at all
    waits: str = ""  # the message to which it awaits an answer
    waited_at: int = 0  # when it last stopped waiting
    idle_at: int = 0  # when its program ended, with only the answer missing

    @property
    def live(self) -> bool:
        return not self.ended_at

    @property
    def conversation(self) -> str:
        """The conversation that the newest launch resumes; empty: a new one."""
        if self.fresh:
            return ""
        return self.thread if self.launches > 1 else self.resume

    @property
    def talked(self) -> Bill:
        """What the conversation of the newest launch has used so far."""
        return self.talk + (self.bill - self.bill_before)


class Alert(Struct, frozen=True, array_like=True, gc=False):
    id: str
    kind: str
    subject: str
    text: str
    raised_at: int
    seen_by: str = ""


class SessionPause(Struct, frozen=True, array_like=True, gc=False):
    """Starting sessions is paused: by whom, why and since when."""

    by: str
    reason: str
    since_at: int


class Message(Struct, frozen=True, array_like=True, gc=False):
    """An open message: unread, not acknowledged, or a question without an answer."""

    id: str
    sender: str
    to: str
    text: str
    sent_at: int
    expires_at: int
    question: bool = False  # the sender is waiting for an answer
    reply_to: str = ""
    reader: str = ""
    read_at: int = 0
    acknowledged: bool = False
    plain: bool = False  # deliver the text as it is, without naming the sender
    answers: str = ""  # the engine's own id of the question that it answers
    # While it is taken (it has a reader, who has not read it): the launch in whose prompt it is; 0
    # if it is in the reader's inbox.
    launch: int = 0


class Account(Struct, frozen=True, array_like=True, gc=False):
    """An engine and its API key: all sessions that use it share its limits."""

    name: str
    until_at: int = 0  # no session starts on it before
    limited_at: int = 0
    allowed: float = 0.0  # sessions at once; 0: no limit was hit yet
    ceiling: float = 0.0  # the number of sessions at which it was limited
    strikes: int = 0  # consecutive rounds that hit a limit
    trouble: str = ""
    text: str = ""


class Spending(Struct, frozen=True, array_like=True, gc=False):
    """What one task has spent with one profile and model, over all of its sessions."""

    task: TaskId
    profile: str
    model: str
    bill: Bill
    sessions: int = 0


class Chore(Struct, frozen=True, array_like=True, gc=False):
    """When the deacon last recorded a chore, and the outcome."""

    name: str
    ran_at: int
    found: int
    done: int


class AnsweredRequest(Struct, frozen=True, array_like=True, gc=False):
    """A request with a key that was carried out: its last event, and the digest of its command."""

    seq: int
    at: int
    digest: str


class Overlap(Struct, frozen=True, array_like=True, gc=False):
    """Work that would conflict now: of two tasks, or (without `other`) of one with what landed.

    `task` is the later one, which has to give way.
    """

    task: TaskId
    other: TaskId
    paths: tuple[str, ...]  # the first ones in conflict
    since_at: int


def overlap_name(task: TaskId, other: TaskId) -> str:
    """Return the key of an overlap, which is the same in either order."""
    return " ".join(sorted((task, other)))


class State(Struct):
    """The fold of the log up to and including event `seq`, whose chain hash is `head`."""

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
    # By command: how often the same tree gave two results.
    flakes: dict[str, int] = field(default_factory=dict)
    runs: int = 0  # check runs so far; their names count up
    held: str = ""  # why all queues are paused, if they are
    accounts: dict[str, Account] = field(default_factory=dict)
    ledger: dict[str, Spending] = field(default_factory=dict)
    days: dict[int, Bill] = field(default_factory=dict)  # spent, by day since 1970 in UTC
    mayors: dict[str, MayorConversation] = field(default_factory=dict)  # conversations about plans
    paused: dict[str, SessionPause] = field(default_factory=dict)  # by convoy; "" is everything
    messages: dict[str, Message] = field(default_factory=dict)
    # By actor and key, oldest first.
    requests: dict[str, AnsweredRequest] = field(default_factory=dict)
    overlaps: dict[str, Overlap] = field(default_factory=dict)  # see `core/queue/overlaps`
    traced: int = 0  # the traces of tasks that had ended by this event were sent
