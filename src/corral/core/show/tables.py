"""The dashboard's board, made from the state, and the difference between two boards."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from corral.core.board.columns import COLUMNS, column
from corral.core.board.graph import unmet
from corral.core.copies import filled
from corral.core.engine import money
from corral.core.engine.bill import NANO, Bill
from corral.core.ids import ConvoyId, TaskId
from corral.core.log.state import Session, State, Task, TaskState, overlap_name
from corral.core.queue.fold import trunk_of
from corral.core.queue.planner.parts import Kind
from corral.core.queue.state import CheckRun
from corral.core.refs import trunk_branch
from corral.core.show import queries, rows
from corral.core.show.queue import ChangeView, changes, runs

CHECKS = 60  # at most this many ended check runs are shown
_OVER = (TaskState.DONE, TaskState.CANCELLED)

Tables = dict[str, dict[str, Struct]]


class BoardChange(Struct, frozen=True):
    """The difference between two boards: rows that are new or changed, and ids that are gone."""

    seq: int
    set: dict[str, list[Any]]
    gone: dict[str, list[str]]


def board_of(state: State) -> rows.Board:
    """Return the board of a state."""
    spent = money.report(state)
    costs = _costs_of(spent.tasks)
    places = {task.id: column(state, task) for task in state.tasks.values()}
    return rows.Board(
        seq=state.seq,
        log=state.log,
        tasks=[_task(state, task, places, costs) for task in state.tasks.values()],
        convoys=list(_convoys(state, places, _costs_of(spent.convoys))),
        sessions=list(_sessions(state)),
        queue=list(_queue(state)),
        checks=[filled(rows.CheckRow, check) for check in runs(state, CHECKS)],
        alerts=queries.alerts(state),
        leases=[
            filled(rows.LeaseRow, lease, resource=name) for name, lease in state.leases.items()
        ],
        messages=queries.messages(state),
        pauses=list(_pauses(state)),
        limits=list(_limits(state)),
        slots=list(_slots(state)),
        costs=list(_costs(spent)),
        jobs=[filled(rows.JobRow, chore) for chore in state.chores.values()],
        overlaps=[
            filled(rows.OverlapRow, overlap, id=overlap_name(overlap.task, overlap.other))
            for overlap in queries.overlaps(state)
        ],
        flaky=[rows.FlakyRow(command, times) for command, times in state.flakes.items()],
        mayors=[
            filled(rows.MayorRow, mayor, turns=mayor.turn, cost=cost_of(mayor.bill))
            for mayor in state.mayors.values()
        ],
    )


def tables_of(board: rows.Board) -> Tables:
    """Return the rows of a board by table and id, for comparison."""
    return {name: {row.id: row for row in getattr(board, name)} for name in rows.TABLES}


def difference(old: Tables, new: Tables, seq: int) -> BoardChange:
    """Return what turns one board into another; tables without a difference are left out."""
    changed: dict[str, list[Any]] = {}
    gone: dict[str, list[str]] = {}
    for name in rows.TABLES:
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
    """Return the longest chain of tasks that need each other and have not landed."""
    left = {
        task.id: [need.id for need in unmet(state, task) if need.state not in _OVER]
        for task in state.tasks.values()
        if task.convoy == convoy and task.state not in _OVER
    }
    length: dict[TaskId, int] = {}
    for first in left:
        ahead = [first]  # the needs of a task are measured before it; chains may be long
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


def cost_of(bill: Bill) -> rows.Cost:
    return rows.Cost(bill.fresh, bill.cached, bill.output, bill.nano_usd / NANO, bill.unpriced)


def _costs_of(lines: list[money.CostLine]) -> dict[str, rows.Cost]:
    return {line.name: filled(rows.Cost, line, usd=line.known_usd) for line in lines}


_FREE = rows.Cost()


def _task(
    state: State, task: Task, places: Mapping[TaskId, str], costs: Mapping[str, rows.Cost]
) -> rows.TaskRow:
    claim, session = task.claim, state.sessions.get(task.session)
    returned = state.returned.get(task.id)
    return filled(
        rows.TaskRow,
        task,
        column=places[task.id],
        returns=returned.times if returned else 0,
        holder=claim.holder if claim else "",
        expires_at=claim.expires_at if claim else 0,
        since_at=claim.since_at if claim else task.changed_at,
        progress=session.progress if session else "",
        progress_at=session.progress_at if session else 0,
        comments=len(task.comments),
        cost=costs.get(task.id, _FREE),
    )


def _convoys(
    state: State, places: Mapping[TaskId, str], costs: Mapping[str, rows.Cost]
) -> Iterator[rows.ConvoyRow]:
    counts: dict[ConvoyId, Counter[str]] = {convoy: Counter() for convoy in state.convoys}
    for task in state.tasks.values():
        counts[task.convoy][places[task.id]] += 1
    for convoy in state.convoys.values():
        trunk = trunk_of(state, convoy.id)
        yield filled(
            rows.ConvoyRow,
            convoy,
            trunk,
            tasks={name: counts[convoy.id][name] for name in COLUMNS},
            critical=critical(state, convoy.id),
            branch=trunk_branch(convoy.id),
            landed=trunk.learned.landed,
            landing=trunk.landing.run if trunk.landing else "",
            cost=costs.get(convoy.id, _FREE),
        )


def _sessions(state: State) -> Iterator[rows.SessionRow]:
    questions = {m.sender: m.id for m in state.messages.values() if m.question}
    for session in state.sessions.values():
        yield session_row(state, session, questions.get(session.id, ""))


def session_row(state: State, session: Session, question: str = "") -> rows.SessionRow:
    """Return the row of a session, which may be an earlier one of its task."""
    task, cost = state.tasks[session.task], cost_of(session.bill)
    return filled(rows.SessionRow, session, task, question=question, cost=cost)


def _queue(state: State) -> Iterator[rows.QueueRow]:
    line = sorted(changes(state), key=lambda c: (-c.priority, state.changes[c.task].order))
    live = {check.run: check for check in runs(state, 0)}
    places: Counter[ConvoyId] = Counter()
    for change in line:
        places[change.convoy] += 1
        place, behind = places[change.convoy], _behind(state, change, live)
        yield filled(rows.QueueRow, change, place=place, behind=behind)


def _behind(state: State, change: ChangeView, live: Mapping[str, CheckRun]) -> tuple[TaskId, ...]:
    """Return the tasks that land before a change.

    Those below it in its run; if it is in none, the stack in progress and the tasks it needs.
    """
    mine = [live[run] for run in change.checks if live[run].kind == Kind.LAND]
    if mine:
        return mine[0].members[: mine[0].members.index(change.task)]
    landing = [c for c in live.values() if c.kind == Kind.LAND and c.convoy == change.convoy]
    ahead = max((check.members for check in landing), key=len, default=())
    needs = [need.id for need in unmet(state, state.tasks[change.task])]
    return tuple(dict.fromkeys((*needs, *ahead)))


def _pauses(state: State) -> Iterator[rows.PauseRow]:
    for convoy, pause in state.paused.items():
        yield filled(rows.PauseRow, pause, id=f"sessions:{convoy}", what="sessions", convoy=convoy)
    paused = {"": state.held} | {trunk.convoy: trunk.paused for trunk in state.trunks.values()}
    for convoy, reason in paused.items():
        if reason:
            yield rows.PauseRow(
                convoy, by="", reason=reason, since_at=0, id=f"queue:{convoy}", what="queue"
            )


def _limits(state: State) -> Iterator[rows.LimitRow]:
    running = Counter(s.account for s in state.sessions.values() if s.live)
    for one in state.accounts.values():
        yield filled(rows.LimitRow, one, id=one.name, running=running[one.name])


def _slots(state: State) -> Iterator[rows.SlotRow]:
    pools = Counter(session.pool for session in state.sessions.values() if session.live)
    yield rows.SlotRow("", pools.total())
    for pool, running in pools.items():
        if pool:
            yield rows.SlotRow(pool, running)


def _costs(spent: money.CostReport) -> Iterator[rows.CostRow]:
    groups = (
        ("total", [spent.total]),
        ("day", spent.days),
        ("engine", spent.engines),
        ("model", spent.models),
        ("convoy", spent.convoys),
    )
    for kind, lines in groups:
        costs = _costs_of(lines)
        for line in lines:
            name = line.name
            yield rows.CostRow(f"{kind}:{name}", kind, name, line.sessions, costs[name])
