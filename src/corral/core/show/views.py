"""What people and programs are shown, the same on every interface: plain values from the state.

Nothing here depends on the time of asking, so two looks at one log are equal to the byte. Whether a
claim has lapsed is for the reader to see from `expires_at`.
"""

from collections import Counter

from msgspec import Struct

from corral.core.board.claims import column
from corral.core.engine.bill import Bill
from corral.core.engine.money import spent_in_all
from corral.core.ids import ConvoyId, SessionId, TaskId
from corral.core.log.state import Claim, Convoy, Message, Session, State, Task, TaskState
from corral.core.queue.overlaps import OverlapView, overlap_views
from corral.core.queue.views import CheckView, check_view

COLUMNS = ("backlog", "todo", "doing", "blocked", "review", "done", "failed", "cancelled")


class ClaimView(Struct, frozen=True):
    holder: str
    since_at: int
    expires_at: int


class TaskLine(Struct, frozen=True, gc=False):
    """A task on the board, in brief: boards have thousands."""

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
    holder: str | None
    expires_at: int | None


class TaskView(Struct, frozen=True):
    """A task with all that is asked for."""

    id: TaskId
    convoy: ConvoyId
    title: str
    state: TaskState
    column: str
    priority: int
    needs: tuple[TaskId, ...]
    paths: tuple[str, ...]
    accept: tuple[str, ...]
    inputs: tuple[str, ...]
    engine: str
    assignee: str
    attempts: int
    claim: ClaimView | None
    reason: str
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
    base: str
    strategy: str
    checks: tuple[str, ...]
    created_at: int
    tasks: dict[str, int]  # how many are in each column


class LeaseView(Struct, frozen=True):
    resource: str
    holder: str
    since_at: int
    expires_at: int


class SessionView(Struct, frozen=True):
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
    stop: str
    progress: str
    progress_at: int
    outputs: int
    account: str
    thread: str
    model: str
    turns: int
    takes: str  # how it gets text while it runs; empty: not at all
    waits: str  # the message whose answer it waits for
    launches: int
    reactions: tuple[str, ...]
    spent: "SpentView"


class SpentView(Struct, frozen=True):
    """Tokens and dollars; the cost is None if at least a part of it is not known."""

    fresh: int
    cached: int
    output: int
    cost_usd: float | None
    unpriced: int


class AlertView(Struct, frozen=True):
    id: str
    kind: str
    subject: str
    text: str
    raised_at: int
    seen_by: str


class PauseView(Struct, frozen=True):
    convoy: str  # empty: everything
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


class Status(Struct, frozen=True):
    seq: int
    convoys: list[ConvoyView]
    tasks: list[TaskLine]
    sessions: list[SessionView]
    queue: list[TaskId]
    checks: list[CheckView]
    leases: list[LeaseView]
    alerts: list[AlertView]
    spent: SpentView
    paused: list[PauseView]
    messages: list[MessageView]
    overlaps: list[OverlapView]


def claim_view(claim: Claim | None) -> ClaimView | None:
    return ClaimView(claim.holder, claim.since_at, claim.expires_at) if claim else None


def task_line(state: State, task: Task) -> TaskLine:
    return _line(task, column(state, task))


def _line(task: Task, where: str) -> TaskLine:
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
    return TaskView(
        id=task.id,
        convoy=task.convoy,
        title=task.title,
        state=task.state,
        column=column(state, task),
        priority=task.priority,
        needs=task.needs,
        paths=task.paths,
        accept=task.accept,
        inputs=task.inputs,
        engine=task.engine,
        assignee=task.assignee,
        attempts=task.attempts,
        claim=claim_view(task.claim),
        reason=task.reason,
        commit=task.commit,
        added_at=task.added_at,
        changed_at=task.changed_at,
        brief_seq=task.brief_seq,
        comment_seqs=task.comments,
        role=task.role,
        run=task.run,
        key=task.key,
        reasons=task.reasons,
    )


def convoy_view(convoy: Convoy, tasks: dict[str, int]) -> ConvoyView:
    return ConvoyView(
        id=convoy.id,
        title=convoy.title,
        prefix=convoy.prefix,
        base=convoy.base,
        strategy=convoy.strategy,
        checks=convoy.checks,
        created_at=convoy.created_at,
        tasks=tasks,
    )


def board(state: State) -> dict[str, list[Task]]:
    """Sort the tasks into the columns of the board."""
    found: dict[str, list[Task]] = {name: [] for name in COLUMNS}
    todo = TaskState.TODO
    for task in state.tasks.values():
        where = task.state if task.state is not todo else column(state, task)
        found[where].append(task)
    return found


def convoy_views(state: State, columns: dict[str, list[Task]] | None = None) -> list[ConvoyView]:
    """Count the tasks of every convoy by column."""
    counts: dict[ConvoyId, dict[str, int]] = {convoy: {} for convoy in state.convoys}
    for name, tasks in (columns or board(state)).items():
        for convoy, number in Counter([task.convoy for task in tasks]).items():
            counts[convoy][name] = number
    return [
        convoy_view(convoy, {name: counts[convoy.id].get(name, 0) for name in COLUMNS})
        for convoy in state.convoys.values()
    ]


def lease_view(resource: str, lease: Claim) -> LeaseView:
    return LeaseView(resource, lease.holder, lease.since_at, lease.expires_at)


def session_view(session: Session) -> SessionView:
    shown = SessionView.__struct_fields__[:-1]
    fields = {name: getattr(session, name) for name in shown}
    return SessionView(**fields, spent=spent_view(session.bill))


def spent_view(bill: Bill) -> SpentView:
    return SpentView(bill.fresh, bill.cached, bill.output, bill.usd, bill.unpriced)


def alert_views(state: State) -> list[AlertView]:
    return [
        AlertView(a.id, a.kind, a.subject, a.text, a.raised_at, a.seen_by)
        for a in state.alerts.values()
    ]


def pause_views(state: State) -> list[PauseView]:
    return [PauseView(convoy, p.by, p.reason, p.since_at) for convoy, p in state.paused.items()]


def message_view(message: Message) -> MessageView:
    return MessageView(*(getattr(message, name) for name in MessageView.__struct_fields__))


def message_views(state: State) -> list[MessageView]:
    return [message_view(message) for message in state.messages.values()]


def status(state: State) -> Status:
    columns = board(state)
    lines = {task.id: _line(task, name) for name, tasks in columns.items() for task in tasks}
    return Status(
        seq=state.seq,
        convoys=convoy_views(state, columns),
        tasks=[lines[task] for task in state.tasks],
        sessions=[session_view(session) for session in state.sessions.values()],
        queue=[task.id for task in columns[TaskState.REVIEW]],
        checks=[check_view(check) for check in state.checks.values() if check.live],
        leases=[lease_view(resource, lease) for resource, lease in state.leases.items()],
        alerts=alert_views(state),
        spent=spent_view(spent_in_all(state)),
        paused=pause_views(state),
        messages=message_views(state),
        overlaps=overlap_views(state),
    )
