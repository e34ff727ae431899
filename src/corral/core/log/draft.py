"""A state to fold further, while others keep the one that it starts from."""

from typing import Any

from msgspec.structs import astuple

from corral.core.log.state import State


class StateDraft(State, kw_only=True):
    """Share each dictionary with the state it starts from, until the fold asks for that one.

    The fold can reach a dictionary only by its name, so what it changes is always a copy, whatever
    fields the state has. Most events need one or two of twenty.
    """

    start: State | None = None

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        if type(value) is dict and value is getattr(super().__getattribute__("start"), name):
            value = value.copy()  # its values are frozen
            setattr(self, name, value)
        return value

    def done(self) -> State:
        return State(*astuple(self)[:-1])


def draft(state: State) -> StateDraft:
    return StateDraft(*astuple(state), start=state)


def copied(state: State) -> State:
    """Return a state to keep. Comparing a dictionary would take longer than copying it."""
    fields: list[Any] = [v.copy() if type(v) is dict else v for v in astuple(state)]
    return State(*fields)
