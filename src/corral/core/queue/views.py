"""What people and programs are shown of the queue."""

from typing import TYPE_CHECKING

from msgspec import Struct

from corral.core.ids import ConvoyId, TaskId
from corral.core.log.state import State, Task
from corral.core.queue.overlaps import OverlapView, overlap_views
from corral.core.queue.state import CheckRun

if TYPE_CHECKING:
    from corral.core.queue.planner.model import Queue
    from corral.core.queue.rules import Rest

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
    waits: str


class CheckView(Struct, frozen=True):
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
    command: str
    detail: str
    took_ms: int
    cached: str


class TrunkView(Struct, frozen=True):
    convoy: ConvoyId
    tip: str
    landed: int
    paused: str
    landing: str
    finished: str


class QueueView(Struct, frozen=True):
    changes: list[ChangeView]
    checks: list[CheckView]
    trunks: list[TrunkView]
    flaky: dict[str, int]
    paused: str
    overlaps: list[OverlapView]


def queue_view(state: State, ended: int = 10) -> QueueView:
    """Return what waits and what is being checked, with the last runs that have ended."""
    from corral.core.queue.from_state import queue_of

    queues = {
        convoy: queue_of(state, convoy, _UNKNOWN)
        for convoy in dict.fromkeys(change.convoy for change in state.changes.values())
    }
    live = [check for check in state.checks.values() if check.live]
    over = [check for check in state.checks.values() if not check.live]
    return QueueView(
        changes=[
            change_view(state, change.task, queues[change.convoy])
            for change in state.changes.values()
        ],
        checks=[check_view(check) for check in (*over[len(over) - min(ended, len(over)) :], *live)],
        trunks=[trunk_view(state, convoy) for convoy in state.trunks],
        flaky=dict(state.flakes),
        paused=state.held,
        overlaps=overlap_views(state),
    )


def change_view(state: State, task_id: TaskId, queue: "Queue | None" = None) -> ChangeView:
    change, task = state.changes[task_id], state.tasks[task_id]
    returned = state.returned.get(task_id)
    return ChangeView(
        task=change.task,
        convoy=change.convoy,
        title=task.title,
        commit=change.commit,
        fork=change.fork,
        priority=task.priority,
        queued_at=change.queued_at,
        paths=change.paths,
        checks=tuple(check.run for check in _with(state, task_id)),
        returns=returned.times if returned else 0,
        waits=waits(state, task, queue),
    )


def check_view(check: CheckRun) -> CheckView:
    shown = CheckView.__struct_fields__
    return CheckView(*(getattr(check, name) for name in shown))


def trunk_view(state: State, convoy: ConvoyId) -> TrunkView:
    from corral.core.queue.fold import trunk_of

    trunk = trunk_of(state, convoy)
    return TrunkView(
        convoy=convoy,
        tip=trunk.tip,
        landed=trunk.learned.landed,
        paused=trunk.paused,
        landing=trunk.landing.run if trunk.landing else "",
        finished=trunk.finished,
    )


def waits(state: State, task: Task, queue: "Queue | None" = None) -> str:
    """Say what a task that was handed in waits for; `queue` is its convoy's, if that is known."""
    from corral.core.queue.from_state import queue_of
    from corral.core.queue.planner.explain import why
    from corral.core.queue.rules import paused, rest

    change = state.changes.get(task.id)
    if change is None:
        return "it waits for the refinery to take it in (corral refinery run)"
    held = paused(state, change.convoy)
    if held:
        return f"nothing lands now: {held}"
    for check in _with(state, task.id):
        return _in_run(check, task.id)
    pause = rest(state, change.convoy)
    if pause.lost:
        return _resting(state, change.convoy, pause)
    return why(queue or queue_of(state, change.convoy, _UNKNOWN), task.id)


def _with(state: State, task: TaskId) -> list[CheckRun]:
    return [check for check in state.checks.values() if check.live and task in check.members]


def _in_run(check: CheckRun, task: TaskId) -> str:
    others = [member for member in check.members if member != task]
    beside = f" together with {', '.join(others)}" if others else " alone"
    where = "by an outside CI" if check.external else f"in slot {check.slot}"
    return f"{check.run} checks it{beside} on {check.tip[:12]}, {where}"


def _resting(state: State, convoy: ConvoyId, rest: "Rest") -> str:
    from corral.core.queue.rules import LOST

    last = next(
        check
        for check in reversed(state.checks.values())
        if check.convoy == convoy and check.result == LOST
    )
    runs = "the last run" if rest.lost == 1 else f"the last {rest.lost} runs"
    return f"{runs} came to nothing, so the next one waits for {rest.seconds} s: {last.detail}"
