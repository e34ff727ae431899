"""What a command answers with, on every interface: the thing as it is now, from its last event."""

from collections.abc import Callable, Sequence
from typing import Any

from corral.core import views
from corral.core.codec import Stored, decode, event_of
from corral.core.ids import TaskId
from corral.core.state import State

Answer = Callable[[State, Sequence[Stored]], dict[str, Any]]


def answer_of(name: str) -> Answer:
    kind = name.split(maxsplit=1)[0]

    def answer(state: State, stored: Sequence[Stored]) -> dict[str, Any]:
        if not stored:
            return {"unchanged": True}
        event: Any = event_of(decode(stored[-1].line))
        data: dict[str, Any] = _SHOWN[kind](state, event)
        if getattr(event, "expires_at", None):
            data |= {"token": event.token, "expires_at": event.expires_at}
        return data | {"seq": stored[-1].seq}

    return answer


def _convoy(state: State, event: Any) -> dict[str, Any]:
    convoy = state.convoys[event.convoy]
    return fields(views.convoy_view(convoy, dict.fromkeys(views.COLUMNS, 0)))


def _task(state: State, event: Any) -> dict[str, Any]:
    return fields(views.task_view(state, state.tasks[TaskId(event.task)]))


def _lease(state: State, event: Any) -> dict[str, Any]:
    lease = state.leases.get(event.resource)
    if lease is None:
        return {"resource": event.resource}
    return fields(views.lease_view(event.resource, lease))


def _alert(state: State, event: Any) -> dict[str, Any]:
    alert = state.alerts.get(event.alert)
    return fields(alert) if alert else {"id": event.alert}


_SHOWN: dict[str, Callable[[State, Any], dict[str, Any]]] = {
    "convoy": _convoy,
    "task": _task,
    "lease": _lease,
    "alert": _alert,
}


def fields(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__struct_fields__}
