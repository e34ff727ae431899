"""The commands that change the board: one function for all of them, and a sentence for each."""

import os
from collections.abc import Callable, Sequence
from typing import Any

from corral.core import queue_rules, views
from corral.core.codec import Stored, decode, event_of
from corral.core.commands import COMMANDS, Command
from corral.core.errors import BadInput
from corral.core.ids import TaskId
from corral.core.queue_views import check_view
from corral.core.state import State
from corral.core.text import shown as safe
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.fields import filled
from corral.interfaces.cli.output import moment
from corral.interfaces.cli.parser import Options
from corral.store.port import perform


def operate(context: Context, options: Options) -> None:
    """Carry out one command of the core and show what was stored."""
    name = options.command
    store = context.writable
    command = filled(name, options, _defaults(context, name, options))
    if name == "task claim" and bool(options.task) == bool(options.next):
        raise BadInput("name one task, or use --next", "corral task claim --next")
    data = perform(store, command, context.actor, _answer_of(name))
    context.answer(data, lambda: _sentence(name, command, data))


def _defaults(context: Context, name: str, options: Options) -> dict[str, Any]:
    fields = COMMANDS[name].__struct_fields__
    extra: dict[str, Any] = {}
    if "brief" in fields and options.brief_file:
        if options.brief is not None:
            raise BadInput("give --brief or --brief-file, not both")
        extra["brief"] = context.read_text(options.brief_file)
    own = os.environ.get("CORRAL_TASK", "").upper()
    if "token" in fields and own and own == (getattr(options, "task", "") or "").upper():
        extra["token"] = os.environ.get("CORRAL_TOKEN")
    if name == "task add" and own:
        extra["parent"] = own  # what a session adds is below its own task
    if "ttl_s" in fields:
        extra["ttl_s"] = context.config.board.claim_ttl_s
    if name == "convoy create":
        extra["base"] = context.repository.branch()
    return extra


def _answer_of(name: str) -> Callable[[State, Sequence[Stored]], dict[str, Any]]:
    kind = name.split(maxsplit=1)[0]

    def answer(state: State, stored: Sequence[Stored]) -> dict[str, Any]:
        """Show the thing as it is now, from the last event about it."""
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
    return _fields(views.convoy_view(convoy, dict.fromkeys(views.COLUMNS, 0)))


def _task(state: State, event: Any) -> dict[str, Any]:
    return _fields(views.task_view(state, state.tasks[TaskId(event.task)]))


def _lease(state: State, event: Any) -> dict[str, Any]:
    lease = state.leases.get(event.resource)
    if lease is None:
        return {"resource": event.resource}
    return _fields(views.lease_view(event.resource, lease))


def _alert(state: State, event: Any) -> dict[str, Any]:
    alert = state.alerts.get(event.alert)
    return _fields(alert) if alert else {"id": event.alert}


def _queue(state: State, event: Any) -> dict[str, Any]:
    if getattr(event, "task", ""):
        return _task(state, event)
    if getattr(event, "run", ""):
        return _fields(check_view(state.checks[event.run]))
    name = event.convoy or "everything"
    return {"id": name, "paused": queue_rules.paused(state, event.convoy)}


_SHOWN: dict[str, Callable[[State, Any], dict[str, Any]]] = {
    "convoy": _convoy,
    "task": _task,
    "lease": _lease,
    "alert": _alert,
    "queue": _queue,
}


def _fields(value: Any) -> dict[str, Any]:
    return {name: getattr(value, name) for name in value.__struct_fields__}


_SENTENCES = {
    "convoy create": "{id}: {title!r} was opened; its tasks are {prefix}-1, {prefix}-2, …",
    "task add": "{id} was added to {convoy}: {title}",
    "task edit": "{id} was changed",
    "task claim": "{id} is yours until {until}: {title}\n"
    "token {token}; hand in with: corral task submit {id} --token {token}",
    "task renew": "{id} is yours until {until}",
    "task submit": "{id} is handed in and waits to land",
    "task fail": "{id} failed",
    "task block": "{id} is blocked",
    "task unblock": "{id} is back on the board",
    "task retry": "{id} is back on the board",
    "task cancel": "{id} was cancelled",
    "task hand-off": "{id} is back on the board, for {who}",
    "task land": "{id} has landed",
    "task comment": "noted on {id}",
    "lease acquire": "{resource} is yours until {until}\n"
    "token {token}; give it back with: corral lease release {quoted} --token {token}",
    "lease renew": "{resource} is yours until {until}",
    "lease release": "{resource} was released",
    "alert raise": "{id} was raised",
    "alert clear": "{id} was cleared",
    "queue pause": "nothing of {id} lands until: corral queue resume",
    "queue resume": "{id} lands again",
    "queue eject": "{id} was taken out of the queue; its work is kept",
    "queue prioritise": "{id} has the priority {priority} now",
    "queue report": "{run} is {result}",
}


def _sentence(name: str, command: Command, data: dict[str, Any]) -> str:
    import shlex

    if "unchanged" in data:
        return "nothing to do: such an alert is open already"
    until = moment(data["expires_at"]) if "expires_at" in data else ""
    shown = {key: safe(value) if isinstance(value, str) else value for key, value in data.items()}
    who = safe(getattr(command, "to", "")) or "anyone"
    quoted = shlex.quote(shown.get("resource", ""))
    return _SENTENCES[name].format(until=until, who=who, quoted=quoted, **shown)
