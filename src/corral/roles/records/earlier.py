"""Find a session by its name, even if it is not the newest of its task."""

from collections.abc import Iterator

from corral.core.ids import TaskId
from corral.core.log.codec import decode, event_of
from corral.core.log.state import Session, State
from corral.core.session.earlier import Happened, session_then, sessions_then, task_of
from corral.core.session.rules import find_session
from corral.store.port import Store


def find(store: Store, state: State, session: str) -> Session:
    """Return a session; an earlier one of its task is read from the log, which is slow."""
    task = task_of(state, session)
    if task is None or session.upper() == state.tasks[task].session:
        return find_session(state, session)
    found = session_then(state, session, _about(store, state.seq, task))
    return found or find_session(state, session)  # which raises an error if there is none


def replaced(store: Store, state: State, name: str) -> Session | None:
    """Return the session of this name if a newer one of its task has replaced it."""
    return find(store, state, name) if task_of(state, name) is not None else None


def sessions_of(store: Store, state: State, task: TaskId) -> list[Session]:
    """Return all sessions of a task, oldest first."""
    newest = state.sessions.get(state.tasks[task].session)
    if newest is None:
        return []
    events = _about(store, state.seq, task) if state.tasks[task].attempts > 1 else iter(())
    return [*sessions_then(state, task, events), newest]


def _about(store: Store, until: int, task: str) -> Iterator[Happened]:
    """Yield events that may concern the sessions of a task; most lines are skipped undecoded."""
    mark = f'"{task}.'.encode()
    for stored in store.read(0):
        if stored.seq > until:
            return
        if mark in stored.line:
            record = decode(stored.line)
            yield event_of(record), record.seq, record.at
