"""The read model: what every interface shows, as plain values copied from the state.

The rows of the dashboard (`core/show/rows`) are derived from these views. Nothing here depends on
the time of the request, so two looks at one log are equal to the byte: readers see from
`expires_at` whether a claim has lapsed.
"""

from msgspec import Struct

from corral.core.board.columns import column
from corral.core.copies import filled
from corral.core.engine.bill import Bill
from corral.core.ids import ConvoyId, SessionId, TaskId
from corral.core.log.state import Session, State, Task, TaskState


class ClaimView(Struct, frozen=True):
    holder: str
    since_at: int
    expires_at: int


class TaskSummary(Struct, frozen=True, gc=False):
    """The part of a task that every view has."""

    id: TaskId
    convoy: ConvoyId
    title: str
    state: TaskState
    column: str
    priority: int
    needs: tuple[TaskId, ...]
    assignee: str
    attempts: int
    reason: str


class TaskLine(TaskSummary, frozen=True, gc=False):
    """A task in a list; boards have thousands."""

    holder: str | None
    expires_at: int | None


class TaskView(TaskSummary, frozen=True):
    """One task in full, except for the long texts, which stay in the log."""

    paths: tuple[str, ...]
    accept: tuple[str, ...]
    inputs: tuple[str, ...]
    engine: str
    claim: ClaimView | None
    commit: str
    added_at: int
    changed_at: int
    brief_seq: int
    comment_seqs: tuple[int, ...]
    role: str
    run: tuple[str, ...]
    key: str
    reasons: dict[TaskId, str]


class ConvoyView(Struct, frozen=True):
    id: ConvoyId
    title: str
    prefix: str
    base: str  # the branch that it is made for
    strategy: str
    checks: tuple[str, ...]
    created_at: int
    tasks: dict[str, int]  # number of tasks in each column


class LeaseView(Struct, frozen=True):
    resource: str
    holder: str
    since_at: int
    expires_at: int


class SpentView(Struct, frozen=True):
    """Tokens and dollars; the cost is None if any part of it is unknown."""

    fresh: int
    cached: int
    output: int
    cost_usd: float | None
    unpriced: int


class SessionSummary(Struct, frozen=True):
    """The part of a session that every view has."""

    id: SessionId
    task: TaskId
    profile: str
    pool: str
    branch: str
    base: str
    started_at: int
    ended_at: int
    verdict: str
    detail: str
    commit: str
    stop: str  # the verdict that it was asked to stop for
    progress: str
    progress_at: int
    outputs: int
    account: str


class SessionView(SessionSummary, frozen=True):
    thread: str
    model: str
    turns: int
    takes: str  # how it accepts text while it runs; empty: it does not
    waits: str  # the message whose answer it waits for
    launches: int
    reactions: tuple[str, ...]
    spent: SpentView


class CheckView(Struct, frozen=True):
    """`members` stacked in this order on `tip` make the predicted state, which is `commit`."""

    run: str
    convoy: ConvoyId
    kind: str
    members: tuple[TaskId, ...]
    tip: str
    commit: str
    tree: str
    slot: int
    deadline_s: int
    external: bool
    started_at: int
    ended_at: int
    result: str
    command: str  # the one that failed
    detail: str
    took_ms: int
    cached: str  # the run whose verdict was reused


class AlertView(Struct, frozen=True):
    id: str
    kind: str
    subject: str
    text: str
    raised_at: int
    seen_by: str


class PauseView(Struct, frozen=True):
    convoy: str  # empty: all convoys
    by: str
    reason: str
    since_at: int


class MessageView(Struct, frozen=True):
    id: str
    sender: str
    to: str
    text: str
    sent_at: int
    expires_at: int
    question: bool  # the sender waits for an answer
    reply_to: str
    reader: str
    read_at: int
    acknowledged: bool


class JobView(Struct, frozen=True):
    """One of the deacon's chores: when it was last recorded, and what it found and did."""

    name: str
    ran_at: int
    found: int
    done: int


class OverlapView(Struct, frozen=True):
    """Work that would conflict as it is now."""

    task: TaskId
    other: TaskId  # empty: the work that has landed
    paths: tuple[str, ...]
    since_at: int
    text: str


def task_line(task: Task, where: str) -> TaskLine:
    """Return a task in a list; `where` is its column. One call, since boards have thousands."""
    claim = task.claim
    return TaskLine(
        task.id,
        task.convoy,
        task.title,
        task.state,
        where,
        task.priority,
        task.needs,
        task.assignee,
        task.attempts,
        task.reason,
        claim.holder if claim else None,
        claim.expires_at if claim else None,
    )


def task_view(state: State, task: Task) -> TaskView:
    claim = filled(ClaimView, task.claim) if task.claim else None
    where = column(state, task)
    return filled(TaskView, task, column=where, claim=claim, comment_seqs=task.comments)


def session_view(session: Session) -> SessionView:
    return filled(SessionView, session, spent=spent_view(session.bill))


def spent_view(bill: Bill) -> SpentView:
    return filled(SpentView, bill, cost_usd=bill.usd)
