"""Sessions that a newer one of the same task has replaced, reconstructed from the log."""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from corral.core.ids import SessionId, TaskId
from corral.core.log import events as e
from corral.core.log.fold import apply
from corral.core.log.state import Session, State

Happened = tuple[e.Event, int, int]  # an event, its number, and its time


def task_of(state: State, session: str) -> TaskId | None:
    """Return the task that an earlier session of this name would belong to."""
    name, _, number = session.upper().rpartition(".")
    task = state.tasks.get(TaskId(name))
    early = task is not None and number.isdecimal() and 0 < int(number) < task.attempts
    return task.id if task is not None and early else None


def session_then(state: State, session: str, events: Iterable[Happened]) -> Session | None:
    """Return an earlier session as it was at its end, from the events about its task."""
    task = task_of(state, session)
    earlier = sessions_then(state, task, events) if task is not None else ()
    return next((one for one in earlier if one.id == session.upper()), None)


def sessions_then(state: State, task: TaskId, events: Iterable[Happened]) -> Iterator[Session]:
    """Yield the sessions of a task before its newest, each as it was at its end."""
    then = State(tasks={task: replace(state.tasks[task], session=SessionId(""))})
    for event, seq, at in events:
        name = getattr(event, "session", "")
        if not event.type.startswith("session.") or name.rpartition(".")[0] != task:
            continue
        if isinstance(event, e.SessionStarted):
            yield from tuple(then.sessions.values())
        apply(then, event, seq, at)
