"""The columns of the board: the states of tasks, and a backlog of those that wait for others."""

from corral.core.board.graph import unmet
from corral.core.log.state import State, Task, TaskState

COLUMNS = {
    "backlog": "state `todo`, but something that it needs has not landed",
    "todo": "can be claimed; if it was handed off to someone, only by them",
    "doing": "someone holds a claim on it, live or lapsed",
    "blocked": "waiting for someone's help",
    "review": "submitted, waiting to land",
    "done": "landed",
    "failed": "the last attempt ended without a result",
    "cancelled": "given up; tasks that need it can never start",
}

Columns = dict[str, list[Task]]


def column(state: State, task: Task) -> str:
    """Return the column of the board: a task that waits for others is still in the backlog."""
    if task.state is TaskState.TODO and task.needs and unmet(state, task):
        return "backlog"
    return task.state


def columns(state: State) -> Columns:
    """Sort the tasks into the columns of the board."""
    found: Columns = {name: [] for name in COLUMNS}
    todo = TaskState.TODO
    for task in state.tasks.values():
        where = task.state if task.state is not todo else column(state, task)
        found[where].append(task)
    return found
