"""From a command's Struct to options and back; this decides only how things look."""

import typing
from typing import Any

import msgspec
from msgspec import Meta

from corral.core.board.commands import COMMANDS, Command
from corral.core.errors import BadInput
from corral.interfaces.cli.catalogue import Option
from corral.interfaces.cli.parser import Options

# On a command line `--path` is repeated, so it is singular; units are in the help.
_FLAGS = {
    "paths": "--path",
    "inputs": "--input",
    "checks": "--check",
    "drop_needs": "--drop-need",
    "ttl_s": "--ttl",
    "assignee": "--for",
}
_POSITIONAL = {"title", "task", "text", "resource", "subject", "alert", "check", "result"}
_POSITIONAL |= {"session", "message", "to"}
_OPTIONAL_POSITIONAL = {("task claim", "task")}
_SEPARATED = {"needs", "drop_needs"}  # ids have no commas, so `--needs AF-1,AF-2` is unambiguous


def options(name: str) -> tuple[Option, ...]:
    """Return the options of a command, from the fields of its Struct."""
    command = COMMANDS[name]
    found = []
    for field in msgspec.structs.fields(command):
        kind, help_text = _described(command, field.name)
        optional = (name, field.name) in _OPTIONAL_POSITIONAL
        found.append(Option(_flag(name, field), help_text, kind, optional=optional))
        if field.name == "brief":
            found.append(Option("--brief-file", "a file with the brief; - is standard input"))
    return tuple(found)


def filled(name: str, values: Options, extra: dict[str, Any]) -> Command:
    """Make the command from the typed options; `extra` fills in the others."""
    command = COMMANDS[name]
    given: dict[str, Any] = {}
    for field in msgspec.structs.fields(command):
        value = getattr(values, _flag(name, field).lstrip("-").replace("-", "_"), None)
        if isinstance(value, list):
            separated = field.name in _SEPARATED
            value = tuple(p for item in value for p in (item.split(",") if separated else [item]))
        if value is None:
            value = extra.get(field.name)
        if value is not None:
            given[field.name] = _words(value) if field.name == "run" else value
    return command(**given)


def _words(command: tuple[str, ...]) -> tuple[str, ...]:
    """Split a command that was given as one word, the way a shell would."""
    import shlex

    try:
        return tuple(shlex.split(command[0])) if len(command) == 1 else command
    except ValueError as error:
        raise BadInput(f"--run cannot be parsed: {error}") from error


def _flag(name: str, field: msgspec.structs.FieldInfo) -> str:
    if (name, field.name) in _OPTIONAL_POSITIONAL or (field.name in _POSITIONAL and field.required):
        return field.name
    return _FLAGS.get(field.name, "--" + field.name.replace("_", "-"))


def _described(command: type[Command], name: str) -> tuple[str, str]:
    """Return the kind of a field and its description."""
    base, *notes = typing.get_args(command.__annotations__[name])
    about = next((n.description for n in notes if isinstance(n, Meta)), "")
    kinds = [typing.get_origin(kind) or kind for kind in (base, *typing.get_args(base))]
    shapes = {bool: "flag", int: "number", tuple: "list"}
    return next((shape for kind, shape in shapes.items() if kind in kinds), "text"), about or ""
