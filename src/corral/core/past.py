"""Sessions that another one of the same task has taken the place of: the log still knows them."""

from collections.abc import Iterable

from msgspec.structs import replace

from corral.core import events as e
from corral.core.fold import apply
from corral.core.ids import SessionId, TaskId
from corral.core.state import Session, State

Happened = tuple[e.Event, int, int]  # an event, its number, and when


def task_of(state: State, session: str) -> TaskId | None:
    """Return the task whose earlier session this could be, by its name."""
    name, _, number = session.upper().rpartition(".")
    task = state.tasks.get(TaskId(name))
    early = task is not None and number.isdecimal() and 0 < int(number) < task.attempts
    return task.id if task is not None and early else None


def session_then(state: State, session: str, events: Iterable[Happened]) -> Session | None:
    """Return an earlier session as it was when it ended, from the events about its task."""
    task = task_of(state, session)
    if task is None:
        return None
    wanted = SessionId(session.upper())
    then = State(tasks={task: replace(state.tasks[task], session=SessionId(""))})
    for event, seq, at in events:
        name = getattr(event, "session", "")
        if not isinstance(event, _ABOUT) or name.rpartition(".")[0] != task:
            continue
        if isinstance(event, e.SessionStarted) and wanted in then.sessions:
            break
        apply(then, event, seq, at)
    return then.sessions.get(wanted)


_ABOUT = (
    e.SessionStarted,
    e.SessionProgressed,
    e.SessionStopAsked,
    e.SessionEnded,
    e.SessionEngaged,
    e.SessionSpent,
    e.SessionLimited,
    e.SessionAsked,
    e.SessionAnswered,
    e.SessionReacted,
)
