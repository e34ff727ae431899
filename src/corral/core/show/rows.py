"""What the dashboard shows, as rows: one table for each kind of thing, each row with its `id`.

Two boards are compared row by row, so a row is a plain value. Nothing in it depends on the time of
asking: ages are for the page to work out, from the times here (milliseconds since 1970).
"""

from msgspec import Struct

from corral.core.ids import ConvoyId, SessionId, TaskId
from corral.core.log.state import TaskState
from corral.core.mayor.state import MayorState
from corral.core.show.views import AlertView, MessageView


class Cost(Struct, frozen=True, gc=False):
    """Tokens, and dollars as far as they are known; `unpriced` tokens have no known cost."""

    fresh: int = 0
    cached: int = 0
    output: int = 0
    usd: float = 0.0
    unpriced: int = 0


class TaskRow(Struct, frozen=True, gc=False):
    id: TaskId
    convoy: ConvoyId
    title: str
    state: TaskState
    column: str
    order: int  # the event that added it: tasks of one priority are offered in this order
    priority: int
    urgent: bool
    needs: tuple[TaskId, ...]  # the edges of the graph
    reasons: dict[TaskId, str]  # of those needs that were inferred
    parent: TaskId
    engine: str  # the profile that it asks for; empty: the default one
    role: str
    assignee: str
    paths: tuple[str, ...]
    attempts: int
    failures: int  # in a row
    returns: int  # from the queue
    reason: str
    holder: str  # of the claim; empty: nobody has it
    expires_at: int  # of the claim; 0: nobody has it
    since_at: int  # claimed, or else last changed
    added_at: int
    not_before_at: int
    session: SessionId  # the last one that worked on it
    progress: str  # of that session
    progress_at: int
    commit: str
    comments: int  # how many
    cost: Cost


class ConvoyRow(Struct, frozen=True):
    id: ConvoyId
    title: str
    prefix: str
    base: str  # the branch that it is made for
    strategy: str
    checks: tuple[str, ...]
    created_at: int
    tasks: dict[str, int]  # how many are in each column
    critical: tuple[TaskId, ...]  # the longest chain of tasks that have not landed, first to last
    branch: str  # the trunk
    tip: str  # its newest commit; empty: nothing has landed or been checked yet
    landed: int
    landing: str  # the run whose stack is being landed just now
    paused: str  # why nothing lands
    finished: str  # how it came to the base branch; empty: it has not
    finished_commit: str
    cost: Cost


class SessionRow(Struct, frozen=True):
    """A session that runs, or the last one of a task."""

    id: SessionId
    task: TaskId
    convoy: ConvoyId
    title: str  # of its task
    role: str
    live: bool
    profile: str
    pool: str
    account: str
    model: str
    branch: str
    base: str
    started_at: int
    ended_at: int
    wall_s: int  # it may run for so long
    verdict: str
    detail: str
    commit: str
    stop: str  # the verdict that it was asked to stop for
    progress: str
    progress_at: int
    outputs: int
    outputs_at: int
    turns: int
    launches: int
    limited: bool
    asked: str  # what the engine itself waits for
    question: str  # the message, a question of this session, that nobody has answered
    reactions: tuple[str, ...]
    cost: Cost


class QueueRow(Struct, frozen=True):
    """Work that was handed in; `id` is its task."""

    id: TaskId
    convoy: ConvoyId
    title: str
    place: int  # in the queue of its convoy, from 1
    priority: int
    commit: str
    fork: str
    queued_at: int
    paths: tuple[str, ...]
    checks: tuple[str, ...]  # the runs that it is in now
    behind: tuple[TaskId, ...]  # what has to land before it, as it stands
    returns: int
    waits: str  # for what, in a sentence


class CheckRow(Struct, frozen=True):
    """A run of the checks: `members` stacked in this order on `tip` is the predicted state."""

    id: str
    convoy: ConvoyId
    kind: str
    live: bool
    members: tuple[TaskId, ...]
    tip: str
    commit: str  # of the predicted state
    tree: str
    slot: int
    deadline_s: int
    external: bool
    started_at: int
    ended_at: int
    result: str
    command: str  # that failed
    detail: str
    took_ms: int
    cached: str  # the run whose verdict was used again


class LeaseRow(Struct, frozen=True):
    """`id` is the resource."""

    id: str
    holder: str
    since_at: int
    expires_at: int


class PauseRow(Struct, frozen=True):
    """Something that does not go on: sessions are not started, or the queue lands nothing."""

    id: str
    what: str  # sessions or queue
    convoy: str  # empty: everything
    by: str
    reason: str
    since_at: int  # 0: not known


class LimitRow(Struct, frozen=True):
    """An account, once a limit of it was met; `id` is its name."""

    id: str
    running: int  # sessions on it
    until_at: int  # nothing starts on it before
    limited_at: int
    allowed: float  # sessions at once; 0: no limit was met yet
    strikes: int
    trouble: str
    text: str


class SlotRow(Struct, frozen=True):
    """How many sessions run in a pool; `id` is its name, and empty for all of them together."""

    id: str
    running: int


class CostRow(Struct, frozen=True):
    """What was spent in all, on a day, with an engine's profile, with a model or on a convoy."""

    id: str
    kind: str  # total, day, engine, model, convoy
    name: str
    sessions: int
    cost: Cost


class JobRow(Struct, frozen=True):
    """One of the deacon's chores; `id` is its name."""

    id: str
    ran_at: int
    found: int
    done: int


class OverlapRow(Struct, frozen=True):
    """Work that would conflict as it is now."""

    id: str
    task: TaskId
    other: TaskId  # empty: what has landed
    paths: tuple[str, ...]
    since_at: int
    text: str


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
    alerts: list[AlertView]
    leases: list[LeaseRow]
    messages: list[MessageView]
    pauses: list[PauseRow]
    limits: list[LimitRow]
    slots: list[SlotRow]
    costs: list[CostRow]
    jobs: list[JobRow]
    overlaps: list[OverlapRow]
    flaky: list[FlakyRow]
    mayors: list[MayorRow]


TABLES = Board.__struct_fields__[2:]
