"""The answer to a command, the same on every interface: the thing that it changed, as it is now.

`seq` is the number of the log's event that a reader must have seen to know the outcome.
"""

from collections.abc import Callable, Sequence
from typing import Any

from corral.core.board.columns import COLUMNS
from corral.core.copies import filled
from corral.core.ids import TaskId
from corral.core.log.codec import Stored, decode, event_of
from corral.core.log.events import TaskAdded, TaskEdited, WorkPaused
from corral.core.log.state import State
from corral.core.show import views as v

Answer = Callable[[State, Sequence[Stored]], dict[str, Any]]


def answer_of(name: str) -> Answer:
    kind = "message" if name == "session send" else name.split(maxsplit=1)[0]

    def answer(state: State, stored: Sequence[Stored]) -> dict[str, Any]:
        if name == "message read":
            return _taken(state, stored)
        if not stored:
            return {"unchanged": True, "seq": state.seq}
        if kind == "plan":
            return _plan(state, stored)
        event: Any = event_of(decode(stored[-1].line))
        data: dict[str, Any] = _SHOWN[kind](state, event)
        if getattr(event, "expires_at", None) and hasattr(event, "token"):
            data |= {"token": event.token, "expires_at": event.expires_at}
        return data | {"seq": stored[-1].seq}

    return answer


def _taken(state: State, stored: Sequence[Stored]) -> dict[str, Any]:
    """Return the messages that one `message read` has delivered."""
    from corral.core.message.events import MessageDelivered

    events = [event_of(decode(one.line)) for one in stored]
    names = [event.message for event in events if isinstance(event, MessageDelivered)]
    found = [
        filled(v.MessageView, state.messages[name]) for name in names if name in state.messages
    ]
    return {"messages": found, "seq": stored[-1].seq if stored else state.seq}


def _convoy(state: State, event: Any) -> dict[str, Any]:
    convoy = state.convoys[event.convoy]
    return fields(filled(v.ConvoyView, convoy, tasks=dict.fromkeys(COLUMNS, 0)))


def _pause(state: State, event: Any) -> dict[str, Any]:
    from corral.core.queue.events import QueuePaused

    return {"convoy": event.convoy, "paused": isinstance(event, WorkPaused | QueuePaused)}


def _task(state: State, event: Any) -> dict[str, Any]:
    return fields(v.task_view(state, state.tasks[TaskId(event.task)]))


def _lease(state: State, event: Any) -> dict[str, Any]:
    lease = state.leases.get(event.resource)
    if lease is None:
        return {"resource": event.resource}
    return fields(filled(v.LeaseView, lease, resource=event.resource))


def _alert(state: State, event: Any) -> dict[str, Any]:
    alert = state.alerts.get(event.alert)
    return fields(alert) if alert else {"id": event.alert}


def _session(state: State, event: Any) -> dict[str, Any]:
    return fields(v.session_view(state.sessions[event.session]))


def _message(state: State, event: Any) -> dict[str, Any]:
    message = state.messages.get(event.message)
    return fields(filled(v.MessageView, message)) if message else {"id": event.message}


def _queue(state: State, event: Any) -> dict[str, Any]:
    if getattr(event, "task", ""):
        return _task(state, event)
    return fields(filled(v.CheckView, state.checks[event.run]))


def _plan(state: State, stored: Sequence[Stored]) -> dict[str, Any]:
    """Name the tasks that a plan has added or changed."""
    events = [event_of(decode(one.line)) for one in stored]
    tasks = [str(event.task) for event in events if isinstance(event, TaskAdded | TaskEdited)]
    convoy = state.tasks[TaskId(tasks[0])].convoy if tasks else ""
    return {"convoy": convoy, "tasks": list(dict.fromkeys(tasks)), "seq": stored[-1].seq}


_SHOWN: dict[str, Callable[[State, Any], dict[str, Any]]] = {
    "convoy": _convoy,
    "task": _task,
    "lease": _lease,
    "alert": _alert,
    "session": _session,
    "message": _message,
    "queue": _queue,
    "pause": _pause,
    "resume": _pause,
}


def fields(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__struct_fields__}
