"""Tasks below tasks: a task whose session may add others has a budget for its subtree.

The budget counts the open tasks of the whole subtree, and every ancestor's budget applies. The
depth is a number of levels, one less in each child than in its parent.
"""

from corral.core.board.commands import AddTask
from corral.core.board.graph import above, find_task
from corral.core.errors import Refused
from corral.core.ids import TaskId
from corral.core.log.state import State, Task, TaskState
from corral.core.text import counted, number

_OVER = (TaskState.DONE, TaskState.FAILED, TaskState.CANCELLED)


def parent(state: State, command: AddTask) -> Task:
    """Return the parent of a task that is about to be added, unless it may have no more."""
    found = find_task(state, command.parent)
    if not found.levels:
        raise Refused(
            f"{found.id} may not have tasks below it: it is at the deepest level allowed;"
            " nothing was changed",
            "ask whoever added it for more --levels",
            code="too_deep",
        )
    must_have_room(state, found)
    return found


def is_over(task: Task) -> bool:
    return task.state in _OVER


def must_have_room(state: State, parent: Task) -> None:
    """Refuse one more open task below this one if it or an ancestor has used up its budget."""
    for ancestor in (parent, *above(state, parent)):
        is_open = (task for task in state.tasks.values() if not is_over(task))
        open_below = sum(is_below(state, task, ancestor.id) for task in is_open)
        if ancestor.budget and open_below >= ancestor.budget:
            raise Refused(
                f"{ancestor.id} already has {counted(open_below, 'open task')} below it, and may"
                f" have at most {ancestor.budget}; nothing was changed",
                "finish or cancel one of them first",
                code="over_budget",
            )


def levels(command: AddTask, parent: Task | None) -> int:
    """Return the levels that a new task may have: as asked, but fewer than its parent."""
    asked = number(command.levels, "the levels", 0, 10)
    if not asked and command.budget:
        asked = 1
    return min(asked, parent.levels - 1) if parent else asked


def is_below(state: State, task: Task, root: TaskId) -> bool:
    return any(ancestor.id == root for ancestor in above(state, task))
