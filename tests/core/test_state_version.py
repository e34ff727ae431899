"""R2: a snapshot of one shape is never read as another.

The fingerprint is taken from the fields of everything that a snapshot holds. If this test fails,
the shape has changed: raise VERSION in `corral/core/state.py` by one, so that old snapshots are
thrown away, and put the new pair below.
"""

from hashlib import sha256
from typing import Any, get_args

import msgspec

from corral.core import mayor_state, queue_state, state
from corral.core.state import State, TaskState

PINNED = (5, "3e8a012a168a2e14")


def kinds(root: type[msgspec.Struct] = State) -> list[type[msgspec.Struct]]:
    """Return the Struct and all that its fields can hold, each once, as they are met."""
    found: list[type[msgspec.Struct]] = []
    waiting: list[Any] = [root]
    while waiting:
        kind = waiting.pop(0)
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct) and kind not in found:
            found.append(kind)
            waiting += [field.type for field in msgspec.structs.fields(kind)]
        waiting += get_args(kind)
    return found


def shape() -> str:
    lines = [
        f"{kind.__name__}{config(kind)}: "
        + ", ".join(f"{field.name} {field.type}" for field in msgspec.structs.fields(kind))
        for kind in kinds()
    ]
    return "\n".join([*lines, ", ".join(TaskState)])


def config(kind: type[msgspec.Struct]) -> str:
    return "[]" if kind.__struct_config__.array_like else "{}"


def test_the_version_of_the_state_is_raised_whenever_its_fields_change() -> None:
    found = sha256(shape().encode()).hexdigest()[:16]
    assert (state.VERSION, found) == PINNED, (
        "the fields of the state have changed: raise VERSION in src/corral/core/state.py by one,"
        f" and set PINNED = ({PINNED[0] + 1}, {found!r}) here. The shape is now:\n{shape()}"
    )


def test_the_shape_covers_all_that_a_snapshot_holds() -> None:
    named = {
        kind
        for kind in (
            *vars(state).values(),
            *vars(queue_state).values(),
            *vars(mayor_state).values(),
        )
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct)
    } - {msgspec.Struct}
    assert named <= set(kinds())
