"""Read the configuration file, and refuse what is wrong in it with its line.

Unknown keys are errors: a setting that is silently ignored is worse than none. Types and bounds
are checked by the annotations of the settings; the rules that concern several settings are here.
"""

import re
import tomllib
import typing
from typing import Any

import msgspec
from msgspec import Struct

from corral.core.config import (
    Config,
    EngineSettings,
    EnvironmentSettings,
    LineSettings,
    TreeSettings,
)
from corral.core.engine.bill import MOST_DOLLARS
from corral.core.errors import BadConfig
from corral.core.redaction import redacted
from corral.core.text import closest, counted, shown
from corral.core.toml_lines import Place, line_of, lines_of, outline

_HINT = "corral init --print shows every setting"


def read(text: str, name: str) -> Config:
    """Read a configuration; `name` is what errors call the file."""
    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadConfig(f"{name} is not valid TOML: {error}", _HINT) from error
    except RecursionError as error:
        raise BadConfig(f"{name} is nested too deeply", _HINT) from error
    reader = _SettingsReader(text, name)
    config = reader.convert(raw)
    _check(config, reader)
    return config


class _SettingsReader(Struct, frozen=True):
    """Turns the file into settings, and what is wrong with it into a line and a sentence."""

    text: str
    name: str

    def convert(self, raw: dict[str, Any]) -> Config:
        try:
            return msgspec.convert(raw, Config)
        except msgspec.ValidationError as error:
            place, said = _fault(raw, Config, error)
            unknown = said.removeprefix("Object contains unknown field `")
            if unknown != said:
                unknown = unknown.rstrip("`")
                known = [field.name for field in msgspec.structs.fields(_kind_at(Config, place))]
                close = closest(unknown, known)
                said = f"did you mean {close}?" if close else f"use one of {', '.join(known)}"
                place = (*place, unknown)
                raise self.bad(place, f"unknown setting {_dotted(place)}: {said}") from error
            raise self.bad(place, _wrong(raw, place, said)) from error

    def bad(self, place: Place, what: str) -> BadConfig:
        line = line_of(lines_of(outline(self.text)), place)
        where = f"{self.name}, line {line}" if line else self.name
        return BadConfig(f"{where}: {shown(what)}", _HINT)


def _fault(value: Any, kind: Any, error: msgspec.ValidationError) -> tuple[Place, str]:
    """Return where a value is wrong, and how. msgspec does not name the keys of a dict."""
    said, _, path = str(error).partition(" - at `$")
    known, nameless, _ = path.rstrip("`").partition("[...]")
    steps = known.replace("[", ".").replace("]", "").split(".")[1:]
    place: Place = tuple(int(step) if step.isdigit() else step for step in steps)
    items: dict[str, Any] = _value_at(value, place) if nameless else {}
    for key, item in items.items():
        inner = _kind_at(kind, (*place, key))
        try:
            msgspec.convert(item, inner)
        except msgspec.ValidationError as deeper:
            rest, said = _fault(item, inner, deeper)
            return (*place, key, *rest), said
    return place, said


def _value_at(value: Any, place: Place) -> Any:
    for part in place:
        value = value[part]
    return value


def _kind_at(kind: Any, place: Place) -> Any:
    for part in place:
        if isinstance(kind, type) and issubclass(kind, Struct):
            kind = {field.encode_name: field.type for field in msgspec.structs.fields(kind)}[
                str(part)
            ]
        else:
            kind = typing.get_args(kind)[1 if typing.get_origin(kind) is dict else 0]
    return kind


_WORDS = {
    **{"`int`": "a whole number", "`float`": "a number", "`str`": "text", "`array`": "a list"},
    **{"`bool`": "true or false", "`bool | null`": "true or false", "`object`": "a table"},
}


def _wrong(raw: dict[str, Any], place: Place, said: str) -> str:
    """Say in words what msgspec found wrong at a place, and what is allowed there."""
    kind, value, name = _kind_at(Config, place), _value_at(raw, place), _dotted(place)
    if typing.get_origin(kind) is typing.Literal:
        choices = ", ".join(str(choice) for choice in typing.get_args(kind) if choice)
        return f"{name} must be one of {choices}"
    wanted, _, given = said.removeprefix("Expected ").partition(", got ")
    if wanted in _WORDS and given:
        number = isinstance(value, int | float)
        found = f"{value}".lower() if number else _WORDS.get(given, f"a {given.strip('`')}")
        hint = f": write [{name}]" if wanted == "`object`" and isinstance(value, list) else ""
        return f"{name} must be {_WORDS[wanted]}, not {found}{hint}"
    for option in (kind, *typing.get_args(kind)):
        bounds = next(iter(getattr(option, "__metadata__", ())), None)
        if bounds is not None and bounds.le in (None, MOST_DOLLARS):
            finite = " and finite" if bounds.le else ""
            return f"{name} is {value}: it must be at least {bounds.ge}{finite}"
        if bounds is not None:
            return f"{name} is {value}: it must be between {bounds.ge} and {bounds.le}"
    if "`array` of length" in wanted:
        return f"{name} has length {given}: it must have {wanted.rpartition(' ')[2]} elements"
    return f"{name} needs {said.removeprefix('Object missing required field ').strip('`')}"


def _dotted(place: Place) -> str:
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return "".join(parts).removeprefix(".")


def _check(config: Config, reader: _SettingsReader) -> None:
    """Check the rules that concern several settings, or that no type can express."""
    _check_ports(config.trees, reader)
    for number, rule in enumerate(config.refinery.regenerate):
        if not rule.paths or not rule.command.strip():
            where = ("refinery", "regenerate", number)
            raise reader.bad(where, "regenerate needs paths and a command")
    slots = config.slots
    if slots.reserve >= slots.total:
        said = f"reserve is {slots.reserve}: it must be less than total, which is {slots.total}"
        raise reader.bad(("slots", "reserve"), said)
    if config.mayor.engine and config.mayor.engine not in config.engine:
        raise reader.bad(("mayor", "engine"), f"there is no engine {config.mayor.engine!r}")
    _check_environment(config.environment, reader)
    _check_address(("telemetry", "endpoint"), config.telemetry.endpoint, reader)
    for name, engine in config.engine.items():
        _check_engine(config, name, engine, reader)


def _check_environment(environment: EnvironmentSettings, reader: _SettingsReader) -> None:
    for name in environment.pass_:
        if not name.replace("*", "_").isidentifier() or not name.isascii():
            said = "pass takes names of variables, like PGHOST or AWS_*, never their values"
            raise reader.bad(("environment", "pass"), said)
    _check_set(("environment", "set"), environment.set, "environment.pass", reader)


def _check_set(
    where: Place, variables: dict[str, str], through: str, reader: _SettingsReader
) -> None:
    for name, value in variables.items():
        if not name.isidentifier() or not name.isascii():
            raise reader.bad(where, "set takes names of variables and their values")
        if redacted(value) != value:
            said = f"{name} looks like a secret: pass it through by name, in {through}"
            raise reader.bad(where, said)


def _check_ports(trees: TreeSettings, reader: _SettingsReader) -> None:
    first, last = trees.port_range
    if first > last:
        said = f"port_range is reversed: write the first port first, as in [{last}, {first}]"
        raise reader.bad(("trees", "port_range"), said)
    if not 1024 <= first <= last <= 65_535:
        said = f"port_range is [{first}, {last}]: ports must be between 1024 and 65535"
        raise reader.bad(("trees", "port_range"), said)
    if last - first + 1 < trees.ports:
        offered = counted(last - first + 1, "port")
        said = f"port_range has only {offered}, but each session leases {trees.ports}"
        raise reader.bad(("trees", "port_range"), said)


def _check_address(where: Place, address: str, reader: _SettingsReader) -> None:
    if address and not address.startswith(("http://", "https://")):
        raise reader.bad(where, f"{where[-1]} must start with http:// or https://")


def _check_engine(
    config: Config, name: str, engine: EngineSettings, reader: _SettingsReader
) -> None:
    where = ("engine", name)
    if not name.strip() or not name.isprintable():
        raise reader.bad(where, "the name of an engine profile must contain a visible character")
    if engine.permission == "ask" and engine.transport != "acp":
        said = 'permission = "ask" needs transport = "acp": no other transport can ask'
        raise reader.bad((*where, "permission"), said)
    _check_described(where, engine, reader)
    _check_address((*where, "base_url"), engine.base_url, reader)
    if engine.fallback and engine.fallback not in config.engine:
        raise reader.bad((*where, "fallback"), f"there is no engine {engine.fallback!r}")
    if engine.fallback == name:
        raise reader.bad((*where, "fallback"), "fallback must be another profile")
    for variable in engine.env:
        if not variable.isidentifier() or not variable.isascii():
            # The likeliest mistake is to write the value here, so it is not repeated.
            raise reader.bad((*where, "env"), "env takes names of variables, never their values")


_DESCRIBES = ("lines", "key", "set", "fresh", "resume", "mcp")


def _check_described(where: Place, engine: EngineSettings, reader: _SettingsReader) -> None:
    """Check the settings that describe an engine of your own."""
    for name in _DESCRIBES if engine.type != "command" else ():
        if getattr(engine, name):
            raise reader.bad((*where, name), f'{name} needs type = "command"')
    if engine.output and engine.lines:
        raise reader.bad((*where, "lines"), "set either output or lines, not both")
    plain = not engine.output and not engine.lines and engine.transport != "acp"
    for name in ("key", "set", "fresh", "resume", "mcp"):
        if getattr(engine, name) and (plain or engine.output == "facts"):
            said = f"{name} needs lines, or output set to a known engine"
            raise reader.bad((*where, name), said)
    for number, line in enumerate(engine.lines):
        wrong = _wrong_with(line)
        if wrong:
            raise reader.bad((*where, "lines", number), wrong)
    _check_placeholders(where, engine, reader)
    _check_set((*where, "set"), engine.set, "env", reader)


# The placeholders in the arguments and variables of an engine that is described.
PLACEHOLDERS = (
    *("prompt", "model", "home", "tree", "session", "id", "resume", "url", "url_v1"),
    *("mcp", "mcp_key", "mcp_servers"),
)


def _check_placeholders(where: Place, engine: EngineSettings, reader: _SettingsReader) -> None:
    """Refuse an unknown placeholder: it would be passed on as it is."""
    if not engine.lines and engine.output in ("", "facts"):
        return
    words = {name: getattr(engine, name) for name in ("command", "args", "fresh", "resume", "mcp")}
    for name, values in (*words.items(), ("set", engine.set.values())):
        for one in re.findall(r"(?<!\$)\{([a-z_]\w*)\}", "\0".join(values)):
            if one not in PLACEHOLDERS:
                known = ", ".join(f"{{{each}}}" for each in PLACEHOLDERS)
                said = f"{{{one}}} is not a placeholder: use one of {known}"
                raise reader.bad((*where, name), said)


def _wrong_with(line: LineSettings) -> str:
    from corral.core.engine.facts import FACTS  # few configurations have lines

    if line.fact not in FACTS:
        return f"fact must be one of {', '.join(FACTS)}"
    unknown = line.take.keys() - FACTS[line.fact]
    if unknown:
        known = ", ".join(sorted(FACTS[line.fact]))
        return f"the fact {line.fact} has no {min(unknown)}: it takes {known}"
    return "" if line.when else "each of lines needs `when`"
