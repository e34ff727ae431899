"""A whole convoy: how it stands, whether it can go on without a person, and its report."""

from collections import Counter
from enum import StrEnum

from msgspec import Struct

from corral.core.board.claims import obstacles
from corral.core.board.graph import unmet
from corral.core.copies import filled
from corral.core.engine import money
from corral.core.engine.bill import NANO, Bill
from corral.core.engine.governor import REFUSED, profile_for
from corral.core.ids import ConvoyId, TaskId
from corral.core.log.state import State, Task, TaskState
from corral.core.queue import rules as queue_rules
from corral.core.queue.fold import trunk_of
from corral.core.session.fitness import UNFIT
from corral.core.session.slots import CANNOT_OPEN, Limits, TakenSlots


class Standing(StrEnum):
    """How a run of a convoy stands; all but the first are final."""

    RUNNING = "running"
    LANDED = "landed"
    FAILED = "failed"
    NEEDS_PERSON = "needs_person"
    OUT_OF_BUDGET = "out_of_budget"
    INTERRUPTED = "interrupted"


EXIT_CODES = {
    Standing.LANDED: 0,
    Standing.FAILED: 1,
    Standing.NEEDS_PERSON: 5,
    Standing.OUT_OF_BUDGET: 6,
    Standing.INTERRUPTED: 130,
}


class Lot(StrEnum):
    """What will become of one task if nobody does anything."""

    OVER = "over"
    WORKING = "working"
    FAILED = "failed"
    PERSON = "person"
    MONEY = "money"


class Outlook(Struct, frozen=True):
    standing: Standing
    lots: dict[TaskId, Lot]
    held: bool = False  # by a fault of the machine or of the trunk: it goes on once that is fixed

    def count(self, lot: Lot) -> int:
        return Counter(self.lots.values())[lot]


def outlook(state: State, convoy: ConvoyId, limits: Limits, now: int) -> Outlook:
    """Return how a convoy stands, with a forecast for each task."""
    seer = _Seer(state, limits, now)
    tasks = [task for task in state.tasks.values() if task.convoy == convoy]
    lots = {task.id: seer.lot(task) for task in tasks}
    found = set(lots.values())
    if Lot.WORKING in found:
        standing = Standing.RUNNING
    elif Lot.MONEY in found:
        standing = Standing.OUT_OF_BUDGET
    elif Lot.FAILED in found:
        standing = Standing.FAILED
    elif Lot.PERSON in found:
        standing = Standing.NEEDS_PERSON
    elif queue_rules.complete(state, convoy) and not trunk_of(state, convoy).finished:
        standing = Standing.RUNNING  # on its way to the base branch
    else:
        standing = Standing.LANDED
    held = [is_held(state, task) for task in tasks if lots[task.id] is Lot.PERSON]
    return Outlook(standing, lots, bool(held) and any(held))


def is_held(state: State, task: Task) -> bool:
    """Say whether a task waits for a fault of the machine, or of the trunk, to be fixed."""
    alerts = {(alert.kind, alert.subject) for alert in state.alerts.values()}
    if task.state is TaskState.REVIEW:
        kinds = (queue_rules.RED_BASE, queue_rules.CANNOT_CHECK)
        return any((kind, task.convoy) in alerts for kind in kinds)
    return task.state is TaskState.TODO and any(kind == UNFIT for kind, _ in alerts)


class _Seer:
    """Forecasts tasks, each of them once."""

    def __init__(self, state: State, limits: Limits, now: int) -> None:
        self._state = state
        self._limits = limits
        self._now = now
        self._taken = TakenSlots(state)
        self._lots: dict[TaskId, Lot] = {}

    def lot(self, task: Task) -> Lot:
        """Forecast a task, after the tasks that it needs; a loop, since chains may be long."""
        ahead = [task]
        while ahead:
            one = ahead[-1]
            needs = [need for need in unmet(self._state, one) if need.id not in self._lots]
            if one.id in self._lots or not needs or one.state is not TaskState.TODO:
                ahead.pop()
                self._lots.setdefault(one.id, self._forecast(one))
            else:
                ahead += needs
        return self._lots[task.id]

    def _forecast(self, task: Task) -> Lot:
        match task.state:
            case TaskState.DONE | TaskState.CANCELLED:
                return Lot.OVER
            case TaskState.FAILED:
                return Lot.MONEY if task.reason.startswith("over_budget") else Lot.FAILED
            case TaskState.BLOCKED:
                return Lot.PERSON
            case TaskState.REVIEW:
                held = queue_rules.paused(self._state, task.convoy)
                stuck = self._alerted("nothing_to_land", task.id) or is_held(self._state, task)
                return Lot.PERSON if held or stuck else Lot.WORKING
            case TaskState.DOING:
                return Lot.WORKING
        for need in unmet(self._state, task):
            lot = Lot.PERSON if need.state is TaskState.CANCELLED else self._lots[need.id]
            if lot is not Lot.WORKING:
                return lot
        if "" in self._state.paused or task.convoy in self._state.paused:
            return Lot.PERSON
        if task.assignee and obstacles(self._state, task, self._now, "witness"):
            return Lot.PERSON  # it was handed off to a named person
        if self._alerted(CANNOT_OPEN, task.id):
            return Lot.PERSON
        return self._startable(task)

    def _startable(self, task: Task) -> Lot:
        profile = profile_for(self._state, task, self._limits.accounts, self._now)
        found = self._taken.held_up(task, profile, self._limits, self._now)
        if found is not None and found.code in (UNFIT, "no_money"):
            return Lot.PERSON if found.code == UNFIT else Lot.MONEY
        account = self._limits.accounts.of.get(profile, "")
        return Lot.PERSON if account and self._alerted(REFUSED, account) else Lot.WORKING

    def _alerted(self, kind: str, subject: str) -> bool:
        alerts = self._state.alerts.values()
        return any((alert.kind, alert.subject) == (kind, subject) for alert in alerts)


class TaskReport(Struct, frozen=True):
    id: TaskId
    title: str
    state: TaskState
    lot: Lot
    attempts: int
    verdict: str
    reason: str
    commit: str
    returns: int
    cost_usd: float | None
    seconds: float


class RunReport(Struct, frozen=True):
    """The result of a run, or how far it has come."""

    convoy: ConvoyId
    title: str
    standing: Standing
    exit_code: int  # of corral run, once it is over
    landed: int
    failed: int
    waiting: int
    tasks: list[TaskReport]
    trunk: str
    finished: str
    check_runs: int
    flaky: dict[str, int]
    cost_usd: float | None
    known_usd: float
    seconds: float


def report(state: State, convoy: ConvoyId, found: Outlook, now: int) -> RunReport:
    tasks = [task for task in state.tasks.values() if task.convoy == convoy]
    bill = money.total(e for e in state.ledger.values() if state.tasks[e.task].convoy == convoy)
    bill += sum((m.bill for m in state.mayors.values() if m.convoy == convoy), Bill())
    began = state.convoys[convoy].created_at
    trunk = trunk_of(state, convoy)
    return RunReport(
        convoy=convoy,
        title=state.convoys[convoy].title,
        standing=found.standing,
        exit_code=EXIT_CODES.get(found.standing, 0),
        landed=sum(task.state is TaskState.DONE for task in tasks),
        failed=found.count(Lot.FAILED),
        waiting=len(tasks) - found.count(Lot.OVER) - found.count(Lot.FAILED),
        tasks=[_task_report(state, task, found.lots[task.id]) for task in tasks],
        trunk=trunk.tip,
        finished=trunk.finished,
        check_runs=sum(check.convoy == convoy for check in state.checks.values()),
        flaky=dict(state.flakes),
        cost_usd=bill.usd,
        known_usd=bill.nano_usd / NANO,
        seconds=(now - began) / 1000,
    )


def _task_report(state: State, task: Task, lot: Lot) -> TaskReport:
    session = state.sessions.get(task.session)
    bill = money.total(e for e in state.ledger.values() if e.task == task.id)
    returned = state.returned.get(task.id)
    pause = state.paused.get("") or state.paused.get(task.convoy)
    waits = lot is Lot.PERSON and task.state is TaskState.TODO and pause
    return filled(
        TaskReport,
        task,
        lot=lot,
        reason=f"{pause.by} has paused new sessions" if waits and pause else task.reason,
        verdict=session.verdict if session else "",
        returns=returned.times if returned else 0,
        cost_usd=bill.usd,
        seconds=(task.changed_at - task.added_at) / 1000,
    )
