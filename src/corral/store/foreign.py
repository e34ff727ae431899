"""Records that were made in another clone, checked as strictly as commands are here.

Another clone's log is untrusted text: the chain only proves that it was not changed on the way. So
before it is adopted, each event must fit the events before it and the limits of `core/text`.
"""

from collections.abc import Iterable

from msgspec import Struct

from corral.core import text
from corral.core.board.graph import cycle
from corral.core.errors import BadInput, LogTooNew, Refused
from corral.core.ids import TaskId
from corral.core.log.codec import FORMAT, Record, decode, event_of
from corral.core.log.events import Event, LogCreated
from corral.core.log.state import State
from corral.store.replay import Row
from corral.store.replay import extend as replay_over

_PROSE = {"brief", "text", "run"}


def extend(state: State, records: Iterable[Row]) -> State:
    """Fold foreign records into a state; raise at the first that is not acceptable."""
    for row in records:
        record = decode(row[1])
        _check(state, record, event_of(record))
        replay_over(state, [row])
    return state


def _check(state: State, record: Record, event: Event) -> None:
    if isinstance(event, LogCreated) and event.format != FORMAT:
        said = f"that log has format {event.format}; this version of Corral reads format {FORMAT}"
        raise LogTooNew(said, "upgrade Corral")
    try:
        text.line(record.actor, "the actor", text.NAME)
        text.bounded(record.key, "its key", text.NAME)
        _check_text(event)
        _check_needs(state, event)
    except BadInput as error:
        raise Refused(
            f"event {record.seq} of that log is not acceptable: {error.message};"
            " nothing was imported",
            code="foreign_event",
        ) from error


def _check_text(event: Struct) -> None:
    for name in event.__struct_fields__:
        value = getattr(event, name)
        if isinstance(value, dict):
            value = (*value, *value.values())
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, str):
                limit = text.BRIEF if name in _PROSE else text.COMMENT
                check = text.prose if name in _PROSE else text.bounded
                check(item, f"its {name}", limit)


def _check_needs(state: State, event: Event) -> None:
    task = TaskId(getattr(event, "task", "") or "")
    needs = getattr(event, "needs", None) or ()
    if needs and (cycle(state.tasks, task, needs) or any(n not in state.tasks for n in needs)):
        raise BadInput(f"the needs of {task} do not fit the tasks before it")
