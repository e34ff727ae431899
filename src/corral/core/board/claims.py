"""Who may have a task now, and why not.

`obstacles` is the only predicate: the claim rule refuses by it, `claim --next` offers by it, the
board's columns and `corral why` show it.
"""

from collections.abc import Iterator

from msgspec import Struct

from corral.core.board.graph import doomed, unmet
from corral.core.board.recurrence import outlook, recurs
from corral.core.log.state import Claim, State, Task, TaskState


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
    """Return what keeps the task from being claimed; nothing means that it is ready."""
    if task.state in _RESTING:
        text, hint = _RESTING[task.state]
        detail = f": {task.reason}" if task.reason else ""
        if task.state is TaskState.BLOCKED and task.reason.startswith("needs_answer: "):
            hint = f'corral message send {{id}} "your answer", then {hint}'
        if recurs(task) and task.state in (TaskState.DONE, TaskState.FAILED):
            detail, hint = f"{detail}; {outlook(task, now)}", "corral task cancel {id} ends that"
        return [Obstacle("wrong_state", f"{task.id} {text}{detail}", hint.format(id=task.id))]
    found = [_need(state, task, need) for need in unmet(state, task)]
    if task.claim is not None and not task.claim.lapsed(now):
        found.append(_held(task, task.claim, now))
    if task.not_before_at > now:
        found.append(_resting(task, now))
    if task.claim is None and task.assignee and claimer and claimer != task.assignee:
        found.append(
            Obstacle(
                "reserved",
                f"{task.id} was handed off to {task.assignee}",
                f"corral task hand-off {task.id} gives it to anyone",
            )
        )
    return found


def ready(state: State, task: Task, now: int, claimer: str = "") -> bool:
    """Say whether the task could be claimed now: the quick form of `not obstacles(…)`."""
    if task.state == TaskState.TODO:
        if task.assignee and claimer and task.assignee != claimer:
            return False
    elif task.state != TaskState.DOING or task.claim is None or not task.claim.lapsed(now):
        return False
    return task.not_before_at <= now and (not task.needs or not unmet(state, task))


def offers(state: State, now: int, claimer: str = "") -> Iterator[Task]:
    """Yield the tasks that could be claimed now, in no order."""
    return (task for task in state.tasks.values() if ready(state, task, now, claimer))


def next_offer(state: State, now: int, claimer: str) -> Task | None:
    """Return the task to take next: one for this claimer by name first, then the most urgent, then
    the oldest.

    What cannot be better than the best so far is passed over before the costly question whether it
    is ready. Tasks stand in the order in which they were added.
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
        return Obstacle(
            "needs_not_landed",
            f"{task.id} needs {need.id}, which is {need.state}"
            + (f" (inferred: {reason})" if reason else ""),
            f"corral why {need.id}{drop}",
        )
    through = "" if lost is need else f", which needs {lost.id}"
    return Obstacle(
        "need_cancelled",
        f"{task.id} needs {need.id}{through}, and {lost.id} was cancelled: it can never start"
        " like this",
        f"corral task retry {lost.id}, or corral task edit {task.id} --drop-need {need.id}",
    )


def _resting(task: Task, now: int) -> Obstacle:
    left = (task.not_before_at - now + 999) // 1000
    if task.parks:
        return Obstacle(
            "resting",
            f"{task.id} is parked for another {left} s, no attempt was used up ({task.reason})",
            "wait: it goes on by itself",
        )
    if not task.failures:
        text = f"{task.id} waits for its date, which is in {left} s (cron: {task.cron})"
        return Obstacle("resting", text, "wait: it starts by itself")
    return Obstacle(
        "resting",
        f"{task.id} rests for another {left} s after {_times(task.failures)} ({task.reason})",
        "wait: it is tried again by itself",
    )


def _times(failures: int) -> str:
    return "a failed attempt" if failures == 1 else f"{failures} failed attempts"


def _held(task: Task, claim: Claim, now: int) -> Obstacle:
    left = max(0, claim.expires_at - now) // 1000
    return Obstacle(
        "already_claimed",
        f"{task.id} is held by {claim.holder} for another {left} s",
        f"wait, or take it away with: corral task hand-off {task.id} --force",
    )
