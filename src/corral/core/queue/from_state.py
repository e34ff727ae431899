"""The queue of one convoy as the planner (`core/queue/planner`) needs it, made from the state."""

from corral.core.ids import ConvoyId
from corral.core.log.state import State, TaskState
from corral.core.queue.planner.learning import Learned
from corral.core.queue.planner.model import Queue
from corral.core.queue.planner.parts import Kind, PlannedRun, QueueEntry
from corral.core.queue.state import Change, CheckRun


def queue_of(state: State, convoy: ConvoyId, conflicts: frozenset[frozenset[str]]) -> Queue:
    """Return everything that a plan for this convoy depends on."""
    trunk = state.trunks.get(convoy)
    return Queue(
        entries=tuple(
            entry_of(state, change) for change in state.changes.values() if change.convoy == convoy
        ),
        tip=trunk.tip if trunk else "",
        runs=tuple(
            run_of(check)
            for check in state.checks.values()
            if check.convoy == convoy
            and counts(check)
            and (check.live or check.result == "green")
            and not outdated(state, check)
        ),
        learned=trunk.learned if trunk else Learned(),
        conflicts=conflicts,
    )


def entry_of(state: State, change: Change) -> QueueEntry:
    task = state.tasks[change.task]
    returned = state.returned.get(change.task)
    landed = {n for n in task.needs if n in state.tasks and state.tasks[n].state is TaskState.DONE}
    return QueueEntry(
        task=change.task,
        commit=change.commit,
        order=change.order,
        queued_at=change.queued_at,
        priority=task.priority,
        needs=frozenset(task.needs) - landed,
        paths=frozenset() if change.many else frozenset(change.paths),
        attempts=returned.times + 1 if returned else 1,
        since=change.since,
        prechecked=bool(task.accept and task.session),
    )


def counts(check: CheckRun) -> bool:
    """Tell whether a run checks changes or the trunk, not the merge of the trunk into its base."""
    return check.kind in tuple(Kind)


def outdated(state: State, check: CheckRun) -> bool:
    """Tell whether a change in a run has left the queue or was submitted again."""
    changes = (state.changes.get(task) for task in check.members)
    return any(change is None or change.order > check.order for change in changes)


def run_of(check: CheckRun) -> PlannedRun:
    return PlannedRun(
        id=check.run,
        members=check.members,
        tip=check.tip,
        kind=Kind(check.kind),
        started_at=check.started_at,
        green=check.result == "green",
    )
