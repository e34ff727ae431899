"""Filter log events by type, subject, actor or text."""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw, Struct

from corral.core.ids import TaskId
from corral.core.log.codec import Record
from corral.core.log.state import State

_ONE = ("task", "session", "subject", "to", "sender", "other")
_MANY = ("tasks", "members", "beside")


class Sought(Struct, frozen=True):
    """The events to find; an empty field matches all."""

    types: tuple[str, ...] = ()  # like session.ended, or session for all types of that group
    task: str = ""
    convoy: str = ""
    actor: str = ""
    text: str = ""


def sieve(sought: Sought, state: State) -> Callable[[Record], bool]:
    """Return a predicate for events; `state` knows the convoys of tasks."""
    types = frozenset(sought.types)
    text, actor = sought.text.casefold(), sought.actor.casefold()

    def fits(record: Record) -> bool:
        if types and record.type not in types and record.type.partition(".")[0] not in types:
            return False
        if actor and actor not in record.actor.casefold():
            return False
        if text and text not in f"{record.type} {record.actor} {_readable(record.data)}".casefold():
            return False
        if not sought.task and not sought.convoy:
            return True
        data = msgspec.json.decode(record.data)
        about = tasks_of(data)
        if sought.task and sought.task not in about:
            return False
        return not sought.convoy or sought.convoy in _convoys(data, about, state)

    return fits


def tasks_of(data: dict[str, Any]) -> set[TaskId]:
    """Return the tasks that an event is about, directly or through one of their sessions."""
    named = [data.get(name, "") for name in _ONE]
    for name in _MANY:
        several = data.get(name)
        named += several if isinstance(several, list) else ()  # in some events, a number of them
    plain = [name.rpartition(":")[2] for name in named if name]  # the address session:AF-1.1
    return {TaskId(name.rpartition(".")[0] or name) for name in plain}


def _convoys(data: dict[str, Any], about: set[TaskId], state: State) -> set[str]:
    found = {state.tasks[task].convoy for task in about if task in state.tasks}
    check = state.checks.get(data.get("run", ""))
    return {data.get("convoy", ""), *found, *([check.convoy] if check else [])}


def _readable(data: Raw) -> str:
    return bytes(data).decode("utf-8", "replace")
