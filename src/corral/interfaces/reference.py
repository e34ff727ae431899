"""The reference page, made from the tables that Corral itself works by.

    python -m corral.interfaces.reference > docs/reference.md

It only builds text. What the tables cannot say (a meaning, a file) is in `reference_words`, and
`tests/docs` checks that nothing is left out.
"""

import types
import typing
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from corral.core.board.moves import MOVES
from corral.core.errors import CorralError
from corral.core.log import codec  # noqa: F401 - every event is registered by it
from corral.core.log.events import Event, every_event
from corral.core.session.verdict import Verdict
from corral.core.show.views import COLUMNS
from corral.interfaces.cli.catalogue import (
    COMMON,
    ENTRIES,
    CommandEntry,
    Option,
    options_of,
    summary,
)
from corral.interfaces.reference_words import (
    ANSWERS,
    CODES,
    COLUMN_MEANINGS,
    ENVIRONMENT,
    EXITS,
    FILES,
    VERDICTS,
)
from corral.interfaces.settings_text import default_of, settings

_WORDS = {"str": "text", "int": "number", "bool": "true or false", "Token": "token"}
_WORDS |= {"TaskId": "task id", "ConvoyId": "convoy id", "SessionId": "session id"}


def page() -> str:
    """Return the whole page."""
    sections: tuple[tuple[str, Iterable[str]], ...] = (
        ("Commands", _commands()),
        ("Answers", [ANSWERS]),
        ("Exit codes", _table(("code", "meaning"), EXITS.items())),
        ("States and columns", _table(("column", "meaning"), _quoted(COLUMN_MEANINGS, COLUMNS))),
        ("Moves", _table(("move", "from", "to", "token", "meaning"), _moves())),
        ("Verdicts", _table(("verdict", "what happened", "then"), _verdicts())),
        ("Events", _events()),
        ("Configuration", _table(("setting", "default", "meaning"), _settings())),
        ("Error codes", _table(("code", "exit", "meaning"), _codes())),
        ("Environment", _table(("variable", "meaning"), _quoted(ENVIRONMENT))),
        ("Files and refs", _table(("where", "what"), _quoted(FILES))),
    )
    lines = ["# Reference", "", "Made by `make reference`: edit `interfaces/reference.py` instead."]
    for title, body in sections:
        lines += ["", f"## {title}", "", *body]
    return "\n".join(lines) + "\n"


def codes() -> set[str]:
    """Return the codes that classes of errors have, wherever they are defined."""
    found, waiting = set[str](), list(CorralError.__subclasses__())
    while waiting:
        kind = waiting.pop()
        found.add(kind.code)
        waiting += kind.__subclasses__()
    return found


def _commands() -> Iterator[str]:
    yield "Every command takes these, before or after its name:"
    yield from ["", *_table(("option", "meaning"), map(_option, COMMON))]
    yield from ["", "`--help` shows a command's options; `corral help` lists the commands."]
    group = ""
    for entry in ENTRIES.values():
        if entry.group != group:
            group = entry.group
            yield from ["", f"### {group}"]
        yield from ["", *_command(entry)]


def _command(entry: CommandEntry) -> Iterator[str]:
    own = [option for option in options_of(entry) if option not in COMMON]
    words = [_shape(option) for option in own if not option.flag.startswith("-")]
    options = ["[options]"] if any(option.flag.startswith("-") for option in own) else []
    text = summary(entry)
    yield f"#### `{' '.join(['corral', entry.name, *words, *options])}`"
    yield from ["", f"{text[:1].upper()}{text[1:]}."]
    if own:
        yield from ["", *_table(("option", "meaning"), map(_option, own))]


def _option(option: Option) -> tuple[str, str]:
    notes = [f"one of {', '.join(option.choices)}"] if option.choices else []
    notes += ["may be repeated"] if option.kind == "list" else []
    notes += [f"default {option.default}"] if option.default else []
    return f"`{_shape(option)}`", option.help + "".join(f"; {note}" for note in notes)


def _shape(option: Option) -> str:
    name = option.flag.lstrip("-").replace("-", "_").upper()
    if not option.flag.startswith("-"):
        return f"[{name}]" if option.optional else name
    value = {"flag": "", "number": " N"}.get(option.kind, f" {name}")
    return option.flag + value


def _moves() -> Iterator[Sequence[str]]:
    for move in MOVES.values():
        to = move.target or "(stays)"
        yield f"`{move.name}`", ", ".join(move.sources), to, move.fence, move.meaning


def _verdicts() -> Iterator[Sequence[str]]:
    return ((f"`{verdict}`", *VERDICTS[verdict]) for verdict in Verdict)


def _events() -> Iterator[str]:
    yield "A field with a default is left out of the line while it has that value."
    # By module: in which order these were imported must not show.
    for name, event in sorted(every_event().items(), key=lambda item: item[1].__module__):
        fields = msgspec.structs.fields(event)
        yield from ["", f"### `{name}`", "", _sentence(event), ""]
        rows = (
            (f"`{field.name}`", _kind(field.type), _code(default_of(field))) for field in fields
        )
        yield from _table(("field", "type", "default"), rows)


def _sentence(event: type[Event]) -> str:
    return " ".join((event.__doc__ or "").split())


def _settings() -> Iterator[Sequence[str]]:
    for name, default, text in settings():
        yield f"`{name}`", _code(default) or "required", text


def _codes() -> Iterator[Sequence[str]]:
    return ((f"`{code}`", str(kind.exit_code), meaning) for code, kind, meaning in CODES)


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _kind(kind: Any) -> str:
    if isinstance(kind, types.UnionType):
        return f"{_kind(typing.get_args(kind)[0])} or nothing"
    if typing.get_origin(kind) is tuple:
        return f"list of {_kind(typing.get_args(kind)[0])}"
    if typing.get_origin(kind) is dict:
        key, value = typing.get_args(kind)
        return f"{_kind(value)} by {_kind(key)}"
    return _WORDS[kind.__name__]


def _quoted(meanings: dict[str, str], order: Sequence[str] = ()) -> Iterator[Sequence[str]]:
    return ((f"`{name}`", meanings[name]) for name in order or meanings)


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return [f"| {' | '.join(map(_cell, line))} |" for line in lines]


def _cell(value: object) -> str:
    return str(value).replace("|", r"\|")


if __name__ == "__main__":
    import sys

    sys.stdout.write(page())
