"""The graph of needs. Guarantee: no accepted change ever creates a cycle."""

from collections.abc import Iterable, Iterator, Mapping

from corral.core.errors import NotFound
from corral.core.ids import TaskId
from corral.core.log.state import State, Task, TaskState
from corral.core.text import printable


def find_task(state: State, task: str) -> Task:
    found = state.tasks.get(TaskId(task)) or state.tasks.get(TaskId(task.upper()))
    if found is None:
        raise NotFound(f"there is no task {printable(task)!r}", "corral task list")
    return found


def cycle(
    tasks: Mapping[TaskId, Task], task: TaskId, needs: Iterable[TaskId]
) -> list[TaskId] | None:
    """Return the cycle that would exist if `task` had these needs, from `task` back to itself."""
    came_from = dict.fromkeys(needs, task)
    frontier = list(came_from)
    while frontier:
        current = frontier.pop()
        if current == task:
            return _trail(came_from, task)
        for need in tasks[current].needs if current in tasks else ():
            if need not in came_from:
                came_from[need] = current
                frontier.append(need)
    return None


def _trail(came_from: Mapping[TaskId, TaskId], task: TaskId) -> list[TaskId]:
    trail = [task]
    while (current := came_from[trail[-1]]) != task:
        trail.append(current)
    return [task, *reversed(trail)]


def unmet(state: State, task: Task) -> list[Task]:
    """Return the tasks that this one needs and that have not landed."""
    tasks = state.tasks
    return [tasks[need] for need in task.needs if tasks[need].state is not TaskState.DONE]


def above(state: State, task: Task) -> Iterator[Task]:
    """Yield the tasks that a task is below, the nearest first."""
    while task.parent:
        task = state.tasks[task.parent]
        yield task


def dependents(state: State, task: TaskId) -> list[Task]:
    return [other for other in state.tasks.values() if task in other.needs]


def doomed(state: State, task: Task) -> Task | None:
    """Return a cancelled task that this one needs, directly or through others, if there is one."""
    seen: set[TaskId] = set()
    frontier = list(task.needs)
    while frontier:
        current = frontier.pop()
        if current in seen:
            continue
        seen.add(current)
        need = state.tasks[current]
        if need.state == TaskState.CANCELLED:
            return need
        if need.state != TaskState.DONE:
            frontier.extend(need.needs)
    return None
