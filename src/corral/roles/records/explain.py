"""Explain whatever goes by a name; an earlier session of a task is read from the log."""

from corral.core.log.state import State
from corral.core.session.earlier import task_of
from corral.core.show import reasons
from corral.core.show.reasons import Reason
from corral.roles.records import earlier
from corral.store.port import Store


def explained(store: Store, state: State, name: str, now: int) -> Reason:
    if name.upper() not in state.sessions and task_of(state, name) is not None:
        return reasons.of_session(state, earlier.find(store, state, name), now)
    return reasons.reason(state, name, now)
