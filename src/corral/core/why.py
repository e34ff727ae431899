"""Why a task is where it is, from the predicates that the rules decide by."""

from msgspec import Struct

from corral.core.claims import Obstacle, column, obstacles
from corral.core.graph import dependents
from corral.core.moves import moves_from
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


def explain(state: State, task: Task, now: int) -> Explanation:
    found = obstacles(state, task, now)
    return Explanation(
        task=task.id,
        state=task.state,
        column=column(state, task),
        summary=f"{task.id} {_summary(task, now, waits=bool(found))}",
        obstacles=found,
        waiting_for_it=[
            other.id for other in dependents(state, task.id) if other.state == TaskState.TODO
        ],
        moves=[move.name for move in moves_from(task.state)],
    )


def _summary(task: Task, now: int, *, waits: bool) -> str:
    if task.claim is not None and task.claim.lapsed(now):
        return f"was held by {task.claim.holder}, whose claim has lapsed: anyone can take it over"
    if task.state == TaskState.TODO and waits:
        return "cannot start yet"
    if task.state == TaskState.TODO and task.assignee:
        return f"is ready and waits for {task.assignee}, to whom it was handed off"
    return _SUMMARY[task.state]
