"""Why a task is where it is, from the predicates that the rules decide by."""

from msgspec import Struct

from corral.core.claims import Obstacle, column, obstacles
from corral.core.graph import dependents
from corral.core.moves import moves_of
from corral.core.recurrence import recurs
from corral.core.slots import Limits, Taken
from corral.core.state import State, Task, TaskState


class Explanation(Struct, frozen=True):
    task: str
    state: TaskState
    column: str
    summary: str
    obstacles: list[Obstacle]
    waiting_for_it: list[str]
    moves: list[str]


_SUMMARY = {
    TaskState.TODO: "is ready: whoever asks next can have it",
    TaskState.DOING: "is being worked on",
    TaskState.BLOCKED: "waits for somebody's help",
    TaskState.REVIEW: "is handed in and waits to land",
    TaskState.DONE: "has landed",
    TaskState.FAILED: "failed; nobody will try it again by itself",
    TaskState.CANCELLED: "was given up",
}


def explain(
    state: State, task: Task, now: int, limits: Limits | None = None, pool: str = ""
) -> Explanation:
    """Explain a task; with the limits of the slots, also whether it waits for one of them."""
    found = obstacles(state, task, now)
    slot = Taken(state).obstacle(task, pool, limits) if limits and not found else None
    found += [slot] if slot else []
    return Explanation(
        task=task.id,
        state=task.state,
        column=column(state, task),
        summary=f"{task.id} {_summary(task, now, found)}",
        obstacles=found,
        waiting_for_it=[
            other.id
            for other in dependents(state, task.id)
            if other.state == TaskState.TODO and task.state != TaskState.DONE
        ],
        moves=[move.name for move in moves_of(task)],
    )


def _summary(task: Task, now: int, found: list[Obstacle]) -> str:
    if task.claim is not None and task.claim.lapsed(now):
        return f"was held by {task.claim.holder}, whose claim has lapsed: anyone can take it over"
    if found and found[0].code == "paused":
        return "is ready, and waits until work is resumed"
    if found and found[0].code in ("no_slot", "pool_full"):
        return "is ready, and waits for a slot"
    if task.state == TaskState.TODO and found:
        return "cannot start yet"
    if task.state == TaskState.TODO and task.assignee:
        return f"is ready and waits for {task.assignee}, to whom it was handed off"
    if task.state == TaskState.FAILED and recurs(task):
        return "failed; it is tried again at its next date"
    return _SUMMARY[task.state]
