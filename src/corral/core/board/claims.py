"""Which tasks can be claimed now, and why others cannot.

`obstacles` is the only predicate: the claim rule refuses by it, `claim --next` offers by it, and
the board's columns and `corral why` show it. How long a claim lasts by default is filled in by
`store/service`.
"""

from collections.abc import Iterator

from msgspec import Struct

from corral.core.board.graph import doomed, unmet
from corral.core.board.recurrence import outlook, recurs
from corral.core.log.state import Alert, Claim, State, Task, TaskState
from corral.core.text import counted

REVERTED = "reverted"  # the kind of an alert: landed work was undone
TO_REDO = "; if it should be done again: "  # before the command in such an alert


class Obstacle(Struct, frozen=True):
    """One reason why a task cannot be claimed."""

    code: str
    text: str
    hint: str = ""


_RESTING = {
    TaskState.BLOCKED: ("is blocked", "corral task unblock {id}"),
    TaskState.REVIEW: ("was submitted and waits to land", "corral queue list"),
    TaskState.DONE: ("has landed", ""),
    TaskState.FAILED: ("failed", "corral task retry {id}"),
    TaskState.CANCELLED: ("was cancelled", "corral task retry {id}"),
}


def obstacles(state: State, task: Task, now: int, claimer: str = "") -> list[Obstacle]:
    """Return what keeps the task from being claimed; an empty list means that it is ready."""
    if task.state in _RESTING:
        text, hint = _RESTING[task.state]
        detail = f": {task.reason}" if task.reason else ""
        if task.state is TaskState.BLOCKED and task.reason.startswith("needs_answer: "):
            hint = f'corral message send {{id}} "your answer", then {hint}'
        if alert := reverted_alert(state, task):
            said, _, hint = alert.text.rpartition(TO_REDO)
            detail = f", but {said}"
        if recurs(task) and task.state in (TaskState.DONE, TaskState.FAILED):
            detail, hint = f"{detail}; {outlook(task, now)}", "corral task cancel {id} stops that"
        return [Obstacle("wrong_state", f"{task.id} {text}{detail}", hint.format(id=task.id))]
    found = [_need(state, task, need) for need in unmet(state, task)]
    if task.claim is not None and not task.claim.lapsed(now):
        found.append(_held(task, task.claim, now))
    if task.not_before_at > now:
        found.append(_resting(task, now))
    if task.claim is None and task.assignee and claimer and claimer != task.assignee:
        said = f"{task.id} was handed off to {task.assignee}"
        hint = f"corral task hand-off {task.id} offers it to everyone"
        found.append(Obstacle("reserved", said, hint))
    return found


def reverted_alert(state: State, task: Task) -> Alert | None:
    """Return the open alert that says that a landed task's work was reverted."""
    alerts = state.alerts.values() if task.state is TaskState.DONE else ()
    return next((a for a in alerts if (a.kind, a.subject) == (REVERTED, task.id)), None)


def ready(state: State, task: Task, now: int, claimer: str = "") -> bool:
    """Say whether the task can be claimed now: the fast form of `not obstacles(…)`."""
    if task.state == TaskState.TODO:
        if task.assignee and claimer and task.assignee != claimer:
            return False
    elif task.state != TaskState.DOING or task.claim is None or not task.claim.lapsed(now):
        return False
    return task.not_before_at <= now and (not task.needs or not unmet(state, task))


def offers(state: State, now: int, claimer: str = "") -> Iterator[Task]:
    """Yield the tasks that can be claimed now, in no particular order."""
    return (task for task in state.tasks.values() if ready(state, task, now, claimer))


def next_offer(state: State, now: int, claimer: str) -> Task | None:
    """Return the task to claim next: first those reserved for this claimer, then by priority, then
    by age.

    A task that cannot beat the best so far is skipped before the costly check whether it is ready.
    Tasks are stored in the order in which they were added.
    """
    if type(state.tasks) is not dict:
        from corral.core.board.offers import Ordered

        assert isinstance(state.tasks, Ordered)
        return state.tasks.best(state, now, claimer, ready)
    todo, doing = TaskState.TODO, TaskState.DOING
    best: Task | None = None
    for task in state.tasks.values():
        if task.state is not todo and (
            task.state is not doing or task.claim is None or task.claim.expires_at > now
        ):
            continue
        if best is not None:
            if not task.assignee and (best.assignee or task.priority <= best.priority):
                continue
            if best.assignee and task.priority <= best.priority:
                continue
        if ready(state, task, now, claimer):
            best = task
    return best


def _need(state: State, task: Task, need: Task) -> Obstacle:
    lost = need if need.state == TaskState.CANCELLED else doomed(state, need)
    if lost is None:
        reason = task.reasons.get(need.id, "")
        drop = f", or corral task edit {task.id} --drop-need {need.id}" if reason else ""
        why = f"; inferred: {reason}" if reason else ""
        said = f"{task.id} needs {need.id}, which has not landed (state: {need.state}){why}"
        return Obstacle("needs_not_landed", said, f"corral why {need.id}{drop}")
    through = "" if lost is need else f", which needs {lost.id}"
    return Obstacle(
        "need_cancelled",
        f"{task.id} needs {need.id}{through}, and {lost.id} was cancelled, so it can never start",
        f"corral task retry {lost.id}, or corral task edit {task.id} --drop-need {need.id}",
    )


def _resting(task: Task, now: int) -> Obstacle:
    left = (task.not_before_at - now + 999) // 1000
    if task.parks:
        said = f"{task.id} is parked for another {left} s; no attempt was used up ({task.reason})"
        return Obstacle("resting", said, "wait: it continues automatically")
    if not task.failures:
        text = f"{task.id} is waiting for its next date, in {left} s (cron: {task.cron})"
        return Obstacle("resting", text, "wait: it starts automatically")
    times = counted(task.failures, "failed attempt")
    said = f"{task.id} is retried in {left} s, after {times} ({task.reason})"
    return Obstacle("resting", said, "wait: it is retried automatically")


def _held(task: Task, claim: Claim, now: int) -> Obstacle:
    left = max(0, claim.expires_at - now) // 1000
    return Obstacle(
        "already_claimed",
        f"{task.id} is held by {claim.holder} for another {left} s",
        f"wait, or take it away with: corral task hand-off {task.id} --force",
    )
