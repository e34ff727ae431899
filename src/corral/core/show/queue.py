"""The queue as it is shown: waiting changes, check runs, trunks, and what each change waits for."""

from msgspec import Struct

from corral.core.board.graph import find_task
from corral.core.copies import filled
from corral.core.errors import NotFound
from corral.core.ids import ConvoyId, TaskId
from corral.core.log.state import State, Task
from corral.core.queue import rules as queue_rules
from corral.core.queue.fold import trunk_of
from corral.core.queue.from_state import queue_of
from corral.core.queue.planner.explain import why
from corral.core.queue.planner.model import Queue
from corral.core.queue.state import CheckRun
from corral.core.show.queries import overlaps
from corral.core.show.views import CheckView, OverlapView

_UNKNOWN: frozenset[frozenset[str]] = frozenset()  # which changes conflict: only git can tell


class ChangeView(Struct, frozen=True):
    task: TaskId
    convoy: ConvoyId
    title: str
    commit: str
    fork: str
    priority: int
    queued_at: int
    paths: tuple[str, ...]
    checks: tuple[str, ...]  # the runs that it is in now
    returns: int
    waits: str  # what it waits for, in a sentence


class TrunkView(Struct, frozen=True):
    convoy: ConvoyId
    tip: str
    landed: int
    paused: str
    landing: str
    finished: str


class CheckPage(CheckView, frozen=True):
    output: list[str]  # the last lines


class QueueView(Struct, frozen=True):
    changes: list[ChangeView]
    checks: list[CheckView]
    trunks: list[TrunkView]
    flaky: dict[str, int]
    paused: str
    overlaps: list[OverlapView]


def queue(state: State, ended: int = 10) -> QueueView:
    """Return the waiting changes, the check runs in progress and the last ones that ended."""
    return QueueView(
        changes=changes(state),
        checks=[filled(CheckView, check) for check in runs(state, ended)],
        trunks=[_trunk_view(state, convoy) for convoy in state.trunks],
        flaky=dict(state.flakes),
        paused=state.held,
        overlaps=overlaps(state),
    )


def runs(state: State, ended: int) -> list[CheckRun]:
    """Return the last runs that ended, at most this many, then those in progress."""
    over = [check for check in state.checks.values() if not check.live]
    live = [check for check in state.checks.values() if check.live]
    return [*over[max(0, len(over) - ended) :], *live]


def changes(state: State) -> list[ChangeView]:
    """Return the changes that wait to land."""
    queues = {
        convoy: queue_of(state, convoy, _UNKNOWN)
        for convoy in dict.fromkeys(change.convoy for change in state.changes.values())
    }
    return [_change(state, one.task, queues[one.convoy]) for one in state.changes.values()]


def change(state: State, name: str) -> ChangeView:
    """Return one change that waits to land."""
    task = find_task(state, TaskId(name))
    if task.id not in state.changes:
        said = f"{task.id} is not in the queue: it is in state {task.state}"
        raise NotFound(said, f"corral why {task.id}")
    return _change(state, task.id)


def _change(state: State, task_id: TaskId, queue: Queue | None = None) -> ChangeView:
    task, returned = state.tasks[task_id], state.returned.get(task_id)
    return filled(
        ChangeView,
        state.changes[task_id],
        task,
        checks=tuple(check.run for check in _with(state, task_id)),
        returns=returned.times if returned else 0,
        waits=waits(state, task, queue),
    )


def _trunk_view(state: State, convoy: ConvoyId) -> TrunkView:
    trunk = trunk_of(state, convoy)
    landing = trunk.landing.run if trunk.landing else ""
    return filled(TrunkView, trunk, landed=trunk.learned.landed, landing=landing)


def waits(state: State, task: Task, queue: Queue | None = None) -> str:
    """Say what a task that was handed in waits for; `queue` is its convoy's, if already known."""
    change = state.changes.get(task.id)
    if change is None:
        return "it waits for the refinery to take it in (corral refinery run)"
    held = queue_rules.paused(state, change.convoy)
    if held:
        return f"landing is paused: {held}"
    for check in _with(state, task.id):
        return _in_run(check, task.id)
    rest = queue_rules.rest(state, change.convoy)
    if rest.lost:
        return _resting(state, change.convoy, rest)
    return why(queue or queue_of(state, change.convoy, _UNKNOWN), task.id)


def _with(state: State, task: TaskId) -> list[CheckRun]:
    return [check for check in state.checks.values() if check.live and task in check.members]


def _in_run(check: CheckRun, task: TaskId) -> str:
    others = [member for member in check.members if member != task]
    beside = f" together with {', '.join(others)}" if others else " alone"
    where = "by an outside CI" if check.external else f"in slot {check.slot}"
    return f"{check.run} checks it{beside} on {check.tip[:12]}, {where}"


def _resting(state: State, convoy: ConvoyId, rest: queue_rules.Rest) -> str:
    last = next(
        check
        for check in reversed(state.checks.values())
        if check.convoy == convoy and check.result == queue_rules.LOST
    )
    runs = "the last run" if rest.lost == 1 else f"the last {rest.lost} runs"
    return f"{runs} had no result, so the next one waits for {rest.seconds} s: {last.detail}"
