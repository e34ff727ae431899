"""Why a change has not landed yet, in words, from the same values that `plan` uses."""

from corral.core.queue.planner.learning import Learned
from corral.core.queue.planner.model import Queue
from corral.core.queue.planner.parts import Kind, PlannedRun, QueueEntry


def why(queue: Queue, task: str) -> str:
    """Return one sentence about a change in the queue: what it waits for, and on which commit."""
    entry = next((one for one in queue.entries if one.task == task), None)
    if entry is None:
        return f"{task} is not in the queue"
    mine = [run for run in queue.runs if task in run.members]
    green = [run for run in mine if run.green and run.tip == queue.tip]
    going = [run for run in mine if not run.green]
    if green:
        return f"{task} was green in run {green[0].id} and lands next"
    if going:
        return f"{task} {_in_run(going[0], task)}"
    return f"{task} {_outside(queue, entry)}"


def _in_run(run: PlannedRun, task: str) -> str:
    below = run.members[: run.members.index(task)]
    state = run.tip[:10] + (f" with {_names(below)}" if below else "")
    match run.kind:
        case Kind.LAND:
            return f"waits for run {run.id}, which checks it on {state}; if green, it lands"
        case Kind.PROBE:
            return f"waits for run {run.id}, which tries it on {state} before it joins a landing"
        case _:
            return f"is a suspect: run {run.id} repeats the failed check on {state}"


def _outside(queue: Queue, entry: QueueEntry) -> str:
    learned, task = queue.learned, entry.task
    waiting = {one.task for one in queue.entries}
    if queue.base_was(green=False):
        return f"waits until the target itself is green: {queue.tip[:10]} failed its checks"
    absent = sorted(entry.needs - waiting)
    if absent:
        return f"needs {_names(absent)}, not yet in the queue"
    if task in learned.reds:
        return f"was red alone in run {learned.reds[task][-1]} and is retried once"
    failure = next((one for one in learned.failed if task in one.suspects), None)
    landing = [run for run in queue.runs if run.kind is Kind.LAND and not run.green]
    if failure is not None:
        others = [one for one in failure.members if one != task]
        beside = f" together with {_names(others)}" if others else ""
        return f"was red in run {failure.run}{beside}: smaller parts are checked to find the cause"
    with_whom = sorted(other for pair in queue.conflicts if task in pair for other in pair - {task})
    held = [one for one in with_whom if any(one in run.members for run in landing)]
    if held:
        return f"conflicts with {_names(held)}, which is about to land, and waits for it"
    return _in_line(landing, entry, learned)


def _in_line(landing: list[PlannedRun], entry: QueueEntry, learned: Learned) -> str:
    needs = f"; it lands with or after {_names(sorted(entry.needs))}" if entry.needs else ""
    if landing:
        last = max(landing, key=lambda run: len(run.members))
        state = f"{last.tip[:10]} with {_names(last.members)}"
        proved = "was green and " if entry.task in learned.proofs else ""
        return f"{proved}waits for a slot, or for run {last.id} on {state}{needs}"
    return f"waits for a free check slot{needs}"


def _names(tasks: tuple[str, ...] | list[str], most: int = 4) -> str:
    if len(tasks) > most:
        return f"{', '.join(tasks[:most])} and {len(tasks) - most} more"
    return " and ".join([", ".join(tasks[:-1]), tasks[-1]] if len(tasks) > 1 else tasks)
