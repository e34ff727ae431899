"""The dashboard's board, from the state: every row of every table, and what differs between two."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from corral.core.board.claims import column
from corral.core.board.graph import unmet
from corral.core.engine import money
from corral.core.engine.bill import NANO, Bill
from corral.core.ids import ConvoyId, TaskId, trunk_branch
from corral.core.log.state import Session, State, Task, TaskState, overlap_name
from corral.core.mayor.state import MayorConversation
from corral.core.queue import views as queue_views
from corral.core.queue.fold import trunk_of
from corral.core.queue.overlaps import overlap_views
from corral.core.queue.planner.parts import Kind
from corral.core.queue.state import CheckRun
from corral.core.show import rows
from corral.core.show.rows import TABLES, Board, Cost
from corral.core.show.views import COLUMNS, alert_views, message_views

CHECKS = 60  # of those that have ended, the last ones are shown
_OVER = (TaskState.DONE, TaskState.CANCELLED)

Tables = dict[str, dict[str, Struct]]


class BoardChange(Struct, frozen=True):
    """What differs from one board to a later one: rows that are new or different, and ids gone."""

    seq: int
    set: dict[str, list[Any]]
    gone: dict[str, list[str]]


def board_of(state: State) -> Board:
    """Return the board of a state."""
    bills = _bills(state)
    places = {task.id: column(state, task) for task in state.tasks.values()}
    return Board(
        seq=state.seq,
        log=state.log,
        tasks=[_task(state, task, places, bills) for task in state.tasks.values()],
        convoys=list(_convoys(state, places)),
        sessions=list(_sessions(state)),
        queue=list(_queue(state)),
        checks=_checks(state),
        alerts=alert_views(state),
        leases=[
            rows.LeaseRow(name, lease.holder, lease.since_at, lease.expires_at)
            for name, lease in state.leases.items()
        ],
        messages=message_views(state),
        pauses=list(_pauses(state)),
        limits=list(_limits(state)),
        slots=list(_slots(state)),
        costs=list(_costs(state)),
        jobs=[rows.JobRow(c.name, c.ran_at, c.found, c.done) for c in state.chores.values()],
        overlaps=[
            rows.OverlapRow(
                overlap_name(o.task, o.other), o.task, o.other, o.paths, o.since_at, o.text
            )
            for o in overlap_views(state)
        ],
        flaky=[rows.FlakyRow(command, times) for command, times in state.flakes.items()],
        mayors=[_mayor(mayor) for mayor in state.mayors.values()],
    )


def tables_of(board: Board) -> Tables:
    """Return the rows of a board by table and id, to be compared."""
    return {name: {row.id: row for row in getattr(board, name)} for name in TABLES}


def difference(old: Tables, new: Tables, seq: int) -> BoardChange:
    """Say what turns one board into another; tables in which nothing differs are left out."""
    changed: dict[str, list[Any]] = {}
    gone: dict[str, list[str]] = {}
    for name in TABLES:
        before, after = old[name], new[name]
        if before == after:
            continue
        found = [row for key, row in after.items() if before.get(key) != row]
        lost = [key for key in before if key not in after]
        if found:
            changed[name] = found
        if lost:
            gone[name] = lost
    return BoardChange(seq, changed, gone)


def critical(state: State, convoy: ConvoyId) -> tuple[TaskId, ...]:
    """Return the longest chain of tasks that wait for each other and have not landed."""
    left = {
        task.id: [need.id for need in unmet(state, task) if need.state not in _OVER]
        for task in state.tasks.values()
        if task.convoy == convoy and task.state not in _OVER
    }
    length: dict[TaskId, int] = {}
    for first in left:
        ahead = [first]  # what a task needs is measured before it; chains may be long
        while ahead:
            one = ahead[-1]
            missing = [n for n in left[one] if n in left and n not in length]
            if missing:
                ahead += missing
            else:
                ahead.pop()
                length[one] = 1 + max((length[n] for n in left[one] if n in left), default=0)
    trail: list[TaskId] = []
    at = max(length, key=length.__getitem__, default=None)
    while at is not None:
        trail.append(at)
        at = max((n for n in left[at] if n in left), key=length.__getitem__, default=None)
    return tuple(reversed(trail))


def cost_of(bill: Bill) -> Cost:
    return Cost(bill.fresh, bill.cached, bill.output, bill.nano_usd / NANO, bill.unpriced)


def _bills(state: State) -> dict[TaskId, Bill]:
    found: dict[TaskId, Bill] = {}
    for entry in state.ledger.values():
        known = found.get(entry.task)
        found[entry.task] = known + entry.bill if known else entry.bill
    return found


_NONE = Bill()
_FREE = Cost()


def _task(
    state: State, task: Task, places: Mapping[TaskId, str], bills: Mapping[TaskId, Bill]
) -> rows.TaskRow:
    claim, session = task.claim, state.sessions.get(task.session)
    returned, bill = state.returned.get(task.id), bills.get(task.id)
    return rows.TaskRow(
        id=task.id,
        convoy=task.convoy,
        title=task.title,
        state=task.state,
        column=places[task.id],
        order=task.order,
        priority=task.priority,
        urgent=task.urgent,
        needs=task.needs,
        reasons=task.reasons,
        parent=task.parent,
        engine=task.engine,
        role=task.role,
        assignee=task.assignee,
        paths=task.paths,
        attempts=task.attempts,
        failures=task.failures,
        returns=returned.times if returned else 0,
        reason=task.reason,
        holder=claim.holder if claim else "",
        expires_at=claim.expires_at if claim else 0,
        since_at=claim.since_at if claim else task.changed_at,
        added_at=task.added_at,
        not_before_at=task.not_before_at,
        session=task.session,
        progress=session.progress if session else "",
        progress_at=session.progress_at if session else 0,
        commit=task.commit,
        comments=len(task.comments),
        cost=cost_of(bill) if bill else _FREE,
    )


def _convoys(state: State, places: Mapping[TaskId, str]) -> Iterator[rows.ConvoyRow]:
    counts: dict[ConvoyId, Counter[str]] = {convoy: Counter() for convoy in state.convoys}
    for task in state.tasks.values():
        counts[task.convoy][places[task.id]] += 1
    bills: dict[ConvoyId, Bill] = {}
    for entry in state.ledger.values():
        name = state.tasks[entry.task].convoy
        bills[name] = bills.get(name, _NONE) + entry.bill
    for mayor in state.mayors.values():
        if mayor.convoy:
            bills[mayor.convoy] = bills.get(mayor.convoy, _NONE) + mayor.bill
    for convoy in state.convoys.values():
        trunk = trunk_of(state, convoy.id)
        yield rows.ConvoyRow(
            id=convoy.id,
            title=convoy.title,
            prefix=convoy.prefix,
            base=convoy.base,
            strategy=convoy.strategy,
            checks=convoy.checks,
            created_at=convoy.created_at,
            tasks={name: counts[convoy.id][name] for name in COLUMNS},
            critical=critical(state, convoy.id),
            branch=trunk_branch(convoy.id),
            tip=trunk.tip,
            landed=trunk.learned.landed,
            landing=trunk.landing.run if trunk.landing else "",
            paused=trunk.paused,
            finished=trunk.finished,
            finished_commit=trunk.finished_commit,
            cost=cost_of(bills.get(convoy.id, _NONE)),
        )


_SESSION = tuple(
    name
    for name in rows.SessionRow.__struct_fields__
    if name in Session.__struct_fields__ and name not in ("id", "task")
)


def _sessions(state: State) -> Iterator[rows.SessionRow]:
    questions = {m.sender: m.id for m in state.messages.values() if m.question}
    for session in state.sessions.values():
        yield session_row(state, session, questions.get(session.id, ""))


def session_row(state: State, session: Session, question: str = "") -> rows.SessionRow:
    """Return the row of a session, also of one that another one has taken the place of."""
    task = state.tasks[session.task]
    return rows.SessionRow(
        id=session.id,
        task=session.task,
        convoy=task.convoy,
        title=task.title,
        role=task.role,
        live=session.live,
        question=question,
        cost=cost_of(session.bill),
        **{name: getattr(session, name) for name in _SESSION},
    )


def _queue(state: State) -> Iterator[rows.QueueRow]:
    view = queue_views.queue_view(state, 0)
    line = sorted(view.changes, key=lambda c: (-c.priority, state.changes[c.task].order))
    runs = {check.run: check for check in state.checks.values() if check.live}
    places: Counter[ConvoyId] = Counter()
    for change in line:
        places[change.convoy] += 1
        yield rows.QueueRow(
            id=change.task,
            convoy=change.convoy,
            title=change.title,
            place=places[change.convoy],
            priority=change.priority,
            commit=change.commit,
            fork=change.fork,
            queued_at=change.queued_at,
            paths=change.paths,
            checks=change.checks,
            behind=_behind(state, change, runs),
            returns=change.returns,
            waits=change.waits,
        )


def _behind(
    state: State, change: queue_views.ChangeView, runs: Mapping[str, CheckRun]
) -> tuple[TaskId, ...]:
    """Return what lands before a change: below it in its run; else what runs, and what it needs."""
    mine = [runs[run] for run in change.checks if runs[run].kind == Kind.LAND]
    if mine:
        return mine[0].members[: mine[0].members.index(change.task)]
    landing = [c for c in runs.values() if c.kind == Kind.LAND and c.convoy == change.convoy]
    ahead = max((check.members for check in landing), key=len, default=())
    needs = [need.id for need in unmet(state, state.tasks[change.task])]
    return tuple(dict.fromkeys((*needs, *ahead)))


def _checks(state: State) -> list[rows.CheckRow]:
    over = [check for check in state.checks.values() if not check.live]
    live = [check for check in state.checks.values() if check.live]
    return [
        rows.CheckRow(
            id=check.run,
            live=check.live,
            **{name: getattr(check, name) for name in _CHECK},
        )
        for check in (*over[-CHECKS:], *live)
    ]


_CHECK = tuple(
    name for name in rows.CheckRow.__struct_fields__ if name in CheckRun.__struct_fields__
)


def _pauses(state: State) -> Iterator[rows.PauseRow]:
    for convoy, pause in state.paused.items():
        name = f"sessions:{convoy}"
        yield rows.PauseRow(name, "sessions", convoy, pause.by, pause.reason, pause.since_at)
    if state.held:
        yield rows.PauseRow("queue:", "queue", "", "", state.held, 0)
    for trunk in state.trunks.values():
        if trunk.paused:
            yield rows.PauseRow(f"queue:{trunk.convoy}", "queue", trunk.convoy, "", trunk.paused, 0)


def _limits(state: State) -> Iterator[rows.LimitRow]:
    running = Counter(s.account for s in state.sessions.values() if s.live)
    for one in state.accounts.values():
        yield rows.LimitRow(
            id=one.name,
            running=running[one.name],
            until_at=one.until_at,
            limited_at=one.limited_at,
            allowed=one.allowed,
            strikes=one.strikes,
            trouble=one.trouble,
            text=one.text,
        )


def _slots(state: State) -> Iterator[rows.SlotRow]:
    pools = Counter(session.pool for session in state.sessions.values() if session.live)
    yield rows.SlotRow("", pools.total())
    for pool, running in pools.items():
        if pool:
            yield rows.SlotRow(pool, running)


def _costs(state: State) -> Iterator[rows.CostRow]:
    found = money.report(state)
    groups = (
        ("total", [found.total]),
        ("day", found.days),
        ("engine", found.engines),
        ("model", found.models),
        ("convoy", found.convoys),
    )
    for kind, lines in groups:
        for line in lines:
            cost = Cost(line.fresh, line.cached, line.output, line.known_usd, line.unpriced)
            yield rows.CostRow(f"{kind}:{line.name}", kind, line.name, line.sessions, cost)


def _mayor(mayor: MayorConversation) -> rows.MayorRow:
    return rows.MayorRow(
        id=mayor.id,
        state=mayor.state,
        engine=mayor.engine,
        model=mayor.model,
        replan=mayor.replan,
        started_at=mayor.started_at,
        changed_at=mayor.changed_at,
        turns=mayor.turn,
        cause=mayor.cause,
        task=mayor.task,
        convoy=mayor.convoy,
        pending=mayor.pending,
        proposed_seq=mayor.proposed_seq,
        approved_seq=mayor.approved_seq,
        said=mayor.said,
        reason=mayor.reason,
        cost=cost_of(mayor.bill),
    )
