"""Coming conflicts: work in progress that would not merge as it is now.

The radar (`roles/witness/radar`) tries the merges. Its findings become events here: one when a
conflict comes up and one when it is over. A conflict can hold back a task that has not started yet.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from corral.core import text
from corral.core.board.claims import Obstacle
from corral.core.board.graph import above
from corral.core.ids import TaskId
from corral.core.log.state import Overlap, State, Task, TaskState, overlap_name
from corral.core.paths import matches

if TYPE_CHECKING:
    from corral.core.log import events as e

_PATHS = 20
_AT_WORK = (TaskState.DOING, TaskState.REVIEW)


class FoundOverlap(Struct, frozen=True):
    """Two tasks whose work conflicts, or one whose work conflicts with the trunk (no other)."""

    one: TaskId
    other: TaskId
    paths: tuple[str, ...]

    @property
    def name(self) -> str:
        return overlap_name(self.one, self.other)


def update(
    state: State, found: Sequence[FoundOverlap], quiet: frozenset[str] = frozenset()
) -> "list[e.Event]":
    """Return events for the conflicts that are new and for those that are over.

    `quiet` names conflicts that come and go: they are not reported again yet.
    """
    from corral.core.log import events as e

    events: list[e.Event] = []
    current = {one.name: one for one in found if _could_be(state, one.one, one.other)}
    for name, overlap in state.overlaps.items():
        if name not in current:
            reason = _why_over(state, overlap)
            events.append(e.OverlapOver(task=overlap.task, other=overlap.other, reason=reason))
    for name, one in current.items():
        known = state.overlaps.get(name)
        task, other = (known.task, known.other) if known else _in_line(state, one)
        before = known.paths if known else ()
        plain = [text.cut(path, text.LINE) for path in one.paths]  # as paths can be stored
        paths = tuple(dict.fromkeys((*before, *plain)))[:_PATHS]
        if (known is None and name not in quiet) or (known is not None and paths != before):
            events.append(e.OverlapSeen(task=task, other=other, paths=paths))
    return events


def obstacle(state: State, task: Task) -> Obstacle | None:
    """Return the conflict that a task would run into if it were started now.

    Either its work so far conflicts with work in progress, or it is about files over which others
    are in conflict. The tasks above it may be waiting for it, so they never hold it back.
    """
    higher = {one.id for one in above(state, task)}
    for overlap in coming(state):
        pair = {overlap.task, overlap.other}
        if not overlap.other or pair & higher:
            continue
        where = _listed(overlap.paths)
        if task.id in pair:
            other = state.tasks[(pair - {task.id}).pop()]
            if other.state in _AT_WORK:
                said = f"the work on {task.id} so far conflicts with {other.id} in {where}"
                return Obstacle("overlap", f"{said}, so it waits", f"corral why {other.id}")
        elif state.tasks[overlap.task].convoy == task.convoy and _is_about(task, overlap.paths):
            both = f"{overlap.other} and {overlap.task}"
            said = f"{task.id} may change {where}, where {both} conflict"
            return Obstacle("overlap", f"{said}, so it waits", f"corral why {overlap.task}")
    return None


def coming(state: State) -> Iterator[Overlap]:
    """Return the conflicts that can still come up."""
    return (one for one in state.overlaps.values() if _could_be(state, one.task, one.other))


def sentence(state: State, overlap: Overlap) -> str:
    where = _listed(overlap.paths)
    if not overlap.other:
        return f"{overlap.task} conflicts with the trunk in {where}"
    title = state.tasks[overlap.other].title
    return f"{overlap.task} conflicts with {overlap.other} ({title}) in {where}"


def _could_be(state: State, *tasks: TaskId) -> bool:
    """Tell whether a conflict can still come up: one task is in progress, and none is over."""
    states = [state.tasks[task].state for task in tasks if task in state.tasks]
    going = all(one in (*_AT_WORK, TaskState.TODO) for one in states)
    return going and any(one in _AT_WORK for one in states)


def _in_line(state: State, found: FoundOverlap) -> tuple[TaskId, TaskId]:
    """Return the later task of two, then the one that was submitted, or begun, first."""
    if not found.other:
        return found.one, found.other
    earlier, later = sorted((found.one, found.other), key=lambda name: _place(state.tasks[name]))
    return later, earlier


def _place(task: Task) -> tuple[int, int, int]:
    rank = {TaskState.REVIEW: 0, TaskState.DOING: 1}.get(task.state, 2)
    since = task.changed_at if rank == 0 else task.claim.since_at if task.claim else 0
    return rank, since, task.order


def _why_over(state: State, overlap: Overlap) -> str:
    tasks = [state.tasks[name] for name in (overlap.task, overlap.other) if name]
    for task in tasks:
        if task.state is TaskState.DONE:
            return f"{task.id} has landed"
    for task in tasks:
        if task.state not in _AT_WORK:
            return f"nobody is working on {task.id} now"
    return "the conflict was resolved"


def _is_about(task: Task, paths: Sequence[str]) -> bool:
    return any(matches(pattern, path) for pattern in task.paths for path in paths)


def _listed(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    return ", ".join(paths[:3]) + more
