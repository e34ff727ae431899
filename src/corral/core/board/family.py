"""Tasks below tasks: a session that may start others has a budget for all that is below it.

The budget counts open tasks in the whole subtree, at every level above; the depth is a number of
levels that shrinks by one from parent to child.
"""

from collections.abc import Iterator

from corral.core.board.commands import AddTask
from corral.core.board.graph import find_task
from corral.core.errors import Refused
from corral.core.ids import TaskId
from corral.core.log.state import State, Task, TaskState
from corral.core.text import number

_OVER = (TaskState.DONE, TaskState.FAILED, TaskState.CANCELLED)


def parent(state: State, command: AddTask) -> Task:
    """Return the parent of a task that is about to be added, or refuse one more below it."""
    found = find_task(state, command.parent)
    if not found.levels:
        raise Refused(
            f"{found.id} may have no tasks below it: it is as deep as it may go;"
            " nothing was changed",
            "ask whoever gave it out for more --levels",
            code="too_deep",
        )
    must_have_room(state, found)
    return found


def is_over(task: Task) -> bool:
    return task.state in _OVER


def must_have_room(state: State, above: Task) -> None:
    """Refuse one more open task below this one, if it or one above it has used up its budget."""
    for ancestor in (above, *_above(state, above)):
        open_below = sum(1 for _ in _below(state, ancestor.id))
        if ancestor.budget and open_below >= ancestor.budget:
            raise Refused(
                f"{ancestor.id} may have {ancestor.budget} open tasks below it, and has"
                f" {open_below}; nothing was changed",
                "finish or cancel one of them first",
                code="over_budget",
            )


def levels(command: AddTask, above: Task | None) -> int:
    """Return how deep a new task may go: what it asks for, and less than its parent."""
    asked = number(command.levels, "the levels", 0, 10)
    if not asked and command.budget:
        asked = 1
    return min(asked, above.levels - 1) if above else asked


def _above(state: State, task: Task) -> Iterator[Task]:
    while task.parent:
        task = state.tasks[task.parent]
        yield task


def _below(state: State, root: TaskId) -> Iterator[Task]:
    for task in state.tasks.values():
        if not is_over(task) and any(above.id == root for above in _above(state, task)):
            yield task
