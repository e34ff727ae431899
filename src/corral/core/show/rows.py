"""The dashboard's rows: one table for each kind of thing, each row with an `id`.

A row is a view of `core/show/views` with more fields; where the view has another name for what
tells its rows apart, the row encodes that field as `id`.

Two boards are compared row by row, so a row is a plain value. Nothing in it depends on the time of
the request: the page works out ages from the times given here (milliseconds since 1970).
"""

from operator import attrgetter

from msgspec import Struct, field

from corral.core.ids import ConvoyId, SessionId, TaskId
from corral.core.mayor.state import MayorState
from corral.core.show import views as v
from corral.core.show.queue import ChangeView


class Cost(Struct, frozen=True, gc=False):
    """Tokens, and dollars as far as they are known; the cost of `unpriced` tokens is unknown."""

    fresh: int = 0
    cached: int = 0
    output: int = 0
    usd: float = 0.0
    unpriced: int = 0


class TaskRow(v.TaskSummary, frozen=True, gc=False):
    order: int  # the event that added it: tasks of one priority are offered in this order
    urgent: bool
    reasons: dict[TaskId, str]  # why a need was inferred
    parent: TaskId
    engine: str  # the profile that it asks for; empty: the default one
    role: str
    paths: tuple[str, ...]
    failures: int  # in a row
    returns: int  # from the queue
    holder: str  # of the claim; empty: unclaimed
    expires_at: int  # of the claim; 0: unclaimed
    since_at: int  # claimed, or else last changed
    added_at: int
    not_before_at: int
    session: SessionId  # the last one that worked on it
    progress: str  # of that session
    progress_at: int
    commit: str
    comments: int  # how many
    cost: Cost


class ConvoyRow(v.ConvoyView, frozen=True):
    critical: tuple[TaskId, ...]  # the longest chain of tasks that have not landed, first to last
    branch: str  # the trunk
    tip: str  # its newest commit; empty: nothing has landed or been checked yet
    landed: int
    landing: str  # the run whose stack is being landed now
    paused: str  # why nothing lands
    finished: str  # how it reached the base branch; empty: it has not
    finished_commit: str
    cost: Cost


class SessionRow(v.SessionSummary, frozen=True):
    """A running session, or the last one of a task."""

    convoy: ConvoyId
    title: str  # of its task
    role: str
    live: bool
    model: str
    turns: int
    launches: int
    reactions: tuple[str, ...]
    wall_s: int  # it may run for at most this many seconds
    outputs_at: int
    limited: bool
    asked: str  # what the engine itself waits for
    question: str  # the message, a question from this session, that nobody has answered
    cost: Cost


class QueueRow(ChangeView, frozen=True):
    task: TaskId = field(name="id")
    place: int  # in the queue of its convoy, from 1
    behind: tuple[TaskId, ...]  # the tasks that have to land before it, as things stand
    id = property(attrgetter("task"))


class CheckRow(v.CheckView, frozen=True):
    run: str = field(name="id")
    live: bool
    id = property(attrgetter("run"))


class LeaseRow(v.LeaseView, frozen=True):
    resource: str = field(name="id")
    id = property(attrgetter("resource"))


class PauseRow(v.PauseView, frozen=True):
    """A pause: no sessions are started, or the queue lands nothing. `since_at` is 0 if unknown."""

    id: str
    what: str  # sessions or queue


class LimitRow(Struct, frozen=True):
    """An account that has met a limit; `id` is its name."""

    id: str
    running: int  # sessions on it
    until_at: int  # nothing starts on it before
    limited_at: int
    allowed: float  # sessions at once; 0: no limit was hit yet
    strikes: int
    trouble: str
    text: str


class SlotRow(Struct, frozen=True):
    """How many sessions run in a pool; `id` is its name, and empty for all of them together."""

    id: str
    running: int


class CostRow(Struct, frozen=True):
    """What was spent in total, on a day, with an engine's profile or a model, or on a convoy."""

    id: str
    kind: str  # total, day, engine, model, convoy
    name: str
    sessions: int
    cost: Cost


class JobRow(v.JobView, frozen=True):
    name: str = field(name="id")
    id = property(attrgetter("name"))


class OverlapRow(v.OverlapView, frozen=True):
    id: str


class FlakyRow(Struct, frozen=True):
    """A check that gave two answers on one tree; `id` is its command."""

    id: str
    times: int


class MayorRow(Struct, frozen=True):
    """A conversation; what was said is at /api/mayors/{mayor}."""

    id: str
    state: MayorState
    engine: str
    model: str
    replan: str
    started_at: int
    changed_at: int
    turns: int
    cause: str  # of the newest question
    task: TaskId  # that it is about
    convoy: ConvoyId
    pending: bool  # a plan waits for approval
    proposed_seq: int
    approved_seq: int
    said: tuple[int, ...]  # the events of questions and answers
    reason: str
    cost: Cost


class Board(Struct, frozen=True):
    """Everything at one event; the page keeps it, and is told what changes."""

    seq: int
    log: str
    tasks: list[TaskRow]
    convoys: list[ConvoyRow]
    sessions: list[SessionRow]
    queue: list[QueueRow]
    checks: list[CheckRow]
    alerts: list[v.AlertView]
    leases: list[LeaseRow]
    messages: list[v.MessageView]
    pauses: list[PauseRow]
    limits: list[LimitRow]
    slots: list[SlotRow]
    costs: list[CostRow]
    jobs: list[JobRow]
    overlaps: list[OverlapRow]
    flaky: list[FlakyRow]
    mayors: list[MayorRow]


TABLES = Board.__struct_fields__[2:]
