"""The queue of one convoy as the planner (`core/queue/planner`) needs it, made from the state."""

from msgspec.structs import replace

from corral.core.ids import ConvoyId
from corral.core.log.state import State, TaskState
from corral.core.queue.planner.learning import Learned
from corral.core.queue.planner.model import Queue
from corral.core.queue.planner.parts import Kind, PlannedRun, QueueEntry
from corral.core.queue.state import Change, CheckRun, Trunk


def queue_of(
    state: State, convoy: ConvoyId, conflicts: frozenset[frozenset[str]], key: str = ""
) -> Queue:
    """Return everything that a plan for this convoy depends on.

    A verdict is about one tree and one definition of the checks. So with `key`, that of the checks
    as they are now, results of other checks do not count.
    """
    trunk = state.trunks.get(convoy)
    learned = _valid(state, trunk, key) if trunk else Learned()
    tip = trunk.tip if trunk else ""
    proven = any(
        check.commit == tip and check.result == "green" and _same(check, key)
        for check in state.checks.values()
    )
    return Queue(
        entries=tuple(
            entry_of(state, change) for change in state.changes.values() if change.convoy == convoy
        ),
        tip=tip,
        runs=tuple(
            run_of(check)
            for check in state.checks.values()
            if check.convoy == convoy
            and counts(check)
            and (check.live or (check.result == "green" and _same(check, key)))
            and not outdated(state, check)
        ),
        learned=learned,
        conflicts=conflicts,
        proven=proven or not key,
    )


def _same(check: CheckRun | None, key: str) -> bool:
    return check is not None and (not key or check.key == key)


def _valid(state: State, trunk: Trunk, key: str) -> Learned:
    """Return what was learned without verdicts that are not about these checks on this trunk.

    A change that was red on an earlier trunk is not blamed for that: it is run once more.
    """
    learned, checks = trunk.learned, state.checks
    reds = {}
    for task, runs in learned.reds.items():
        known = [run for run in runs if _same(checks.get(run), key)]
        if known and checks[known[-1]].tip != trunk.tip:
            known = known[-1:]
        if known:
            reds[task] = tuple(known)
    failed = tuple(one for one in learned.failed if _same(checks.get(one.run), key))
    base = learned.base
    if base is not None and not any(
        check.kind == Kind.BASE and check.tip == base.tip and _same(check, key)
        for check in checks.values()
    ):
        base = None
    if (reds, failed, base) == (learned.reds, learned.failed, learned.base):
        return learned
    streak = learned.red_in_a_row if reds else 0
    focus = learned.focus if len(failed) == len(learned.failed) else ()
    return replace(learned, reds=reds, failed=failed, base=base, red_in_a_row=streak, focus=focus)


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
