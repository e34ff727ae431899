"""A snapshot of one shape is never read as another.

`state_shape.txt` lists the version of the state and every field that a snapshot holds. If it no
longer matches, the shape has changed: raise VERSION in `corral/core/log/state.py` by one, so that
old snapshots are discarded, and write the file again:

    .venv/bin/python -m tests.core.log.test_state_version
"""

from pathlib import Path
from typing import Any, get_args

import msgspec

from corral.core.log import state
from corral.core.log.state import State, TaskState
from corral.core.mayor import state as mayor_state
from corral.core.queue import state as queue_state

PINNED = Path(__file__).with_name("state_shape.txt")


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
    """Return the version and the shape, a field a line, so that changes of several people merge."""
    lines = [f"version {state.VERSION}", f"states of a task: {', '.join(TaskState)}"]
    for kind in kinds():
        lines += ["", f"{kind.__name__} {config(kind)}"]
        lines += [f"    {field.name}: {field.type}" for field in msgspec.structs.fields(kind)]
    return "\n".join(lines) + "\n"


def config(kind: type[msgspec.Struct]) -> str:
    return "[]" if kind.__struct_config__.array_like else "{}"


def test_the_version_of_the_state_is_raised_whenever_its_fields_change() -> None:
    assert PINNED.read_text("utf-8") == shape(), (
        "the fields of the state have changed: raise VERSION in core/log/state.py by one,"
        " then .venv/bin/python -m tests.core.log.test_state_version"
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


if __name__ == "__main__":
    PINNED.write_text(shape(), "utf-8")
