"""Queries about one convoy, one task, or a page of tasks."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from corral.core.board.claims import ready
from corral.core.board.columns import column
from corral.core.board.rules import find_convoy
from corral.core.copies import filled
from corral.core.log.codec import Record
from corral.core.log.state import State, Task
from corral.core.show.queries import Sight, convoys
from corral.core.show.views import ConvoyView, TaskLine, TaskView, task_line, task_view

if TYPE_CHECKING:
    from corral.core.access import Principal


MOST = 1 << 20  # tasks on a page


class ConvoyPage(Struct, frozen=True):
    convoy: ConvoyView
    tasks: list[TaskLine]


class Comment(Struct, frozen=True):
    seq: int
    at: int
    actor: str
    task: str
    text: str


class TaskPage(TaskView, frozen=True):
    brief: str
    comments: list[Comment]


class TasksPage(Struct, frozen=True):
    tasks: list[TaskLine]
    next: str  # the value of `after` for the next page; empty: this is the last one
    seq: int


def convoy(state: State, name: str, who: "Principal | None" = None) -> ConvoyPage:
    """Return a convoy with its tasks."""
    found = next(view for view in convoys(state, who) if view.id == find_convoy(state, name).id)
    return ConvoyPage(found, tasks(state, who, convoy=found.id))


def tasks(
    state: State,
    who: "Principal | None" = None,
    *,
    where: str = "",
    convoy: str = "",
    ready_at: int | None = None,
    after: int = 0,
    limit: int | None = None,
) -> list[TaskLine]:
    """Return the tasks in one column (`where`), of one convoy, or ready to be claimed at a time.

    `after` is the `order` of the last task of the page before; at most `limit` are returned.
    """
    if convoy:
        find_convoy(state, convoy)
    sight = Sight(state, who)
    found: list[TaskLine] = []
    for task in state.tasks.values():
        if (
            task.order <= after
            or (convoy and task.convoy != convoy)
            or (ready_at is not None and not ready(state, task, ready_at))
            or not sight.has(task.id)
        ):
            continue
        place = column(state, task)
        if where in ("", place):
            found.append(task_line(task, place))
            if len(found) == limit:
                break
    return found


def task(state: State, task: Task, read: Callable[[int], Record]) -> TaskPage:
    """Return a task with its brief and comments; `read` returns an event of the log."""
    comments = []
    for seq in task.comments:
        record = read(seq)
        said = msgspec.json.decode(record.data)
        comments.append(Comment(seq, record.at, record.actor, said["task"], said["text"]))
    text = brief(task, read)
    return filled(TaskPage, task_view(state, task), brief=text, comments=comments)


def brief(task: Task, read: Callable[[int], Record]) -> str:
    """Return the brief of a task, which stays in the log."""
    return str(msgspec.json.decode(read(task.brief_seq).data)["brief"]) if task.brief_seq else ""
