"""The configuration file: `.corral/config.toml`, committed with the code.

Unknown keys are errors with their line: a setting that is silently ignored is worse than none.
"""

from typing import Any

import msgspec
from msgspec import Struct, field

from corral.core.errors import BadConfig
from corral.core.text import CLAIM_TTL_S, TTL_S

_HINT = "corral init --print shows every setting"


class _Section(Struct, frozen=True, forbid_unknown_fields=True):
    pass


class Board(_Section, frozen=True):
    claim_ttl_s: int = CLAIM_TTL_S


class Engine(_Section, frozen=True):
    type: str
    model: str = ""


class Refinery(_Section, frozen=True):
    strategy: str = "squash"
    require_ci: bool = True
    checks: tuple[str, ...] = ()


class Slots(_Section, frozen=True):
    total: int = 12
    reserve: int = 2


class Watch(_Section, frozen=True):
    beat_s: int = 900


class Config(_Section, frozen=True):
    board: Board = Board()
    engine: dict[str, Engine] = field(default_factory=dict)
    refinery: Refinery = Refinery()
    slots: Slots = Slots()
    watch: Watch = Watch()


Keys = tuple[str, ...]


def parse(text: str, name: str) -> Config:
    """Read a configuration; `name` is what errors call the file."""
    import tomllib

    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadConfig(f"{name} is not valid TOML: {error}", _HINT) from error
    reader = _Reader(text, name)
    profiles = raw.pop("engine", {})
    if not isinstance(profiles, dict):
        kind = type(profiles).__name__
        raise reader.bad(("engine",), f"engine: expected `object`, got `{kind}`")
    config = Config(
        engine={key: reader.convert(("engine", key), profiles[key], Engine) for key in profiles},
        **{key: reader.convert((key,), raw[key], kind) for key, kind in _known(raw, reader)},
    )
    _check(config, reader)
    return config


_SECTIONS: dict[str, type[_Section]] = {
    "board": Board,
    "refinery": Refinery,
    "slots": Slots,
    "watch": Watch,
}


def _known(raw: dict[str, Any], reader: "_Reader") -> list[tuple[str, type[_Section]]]:
    for key in raw:
        if key not in _SECTIONS:
            raise reader.unknown((key,))
    return [(key, _SECTIONS[key]) for key in raw]


def _check(config: Config, reader: "_Reader") -> None:
    """Check what types cannot say."""
    bounds = {
        ("board", "claim_ttl_s"): (config.board.claim_ttl_s, 1, TTL_S),
        ("slots", "total"): (config.slots.total, 1, 10_000),
        ("slots", "reserve"): (config.slots.reserve, 0, 10_000),
        ("watch", "beat_s"): (config.watch.beat_s, 1, TTL_S),
    }
    for keys, (value, least, most) in bounds.items():
        if not least <= value <= most:
            raise reader.bad(keys, f"{keys[-1]} is {value}: at least {least}, at most {most}")
    if config.refinery.strategy not in ("rebase", "squash", "merge"):
        raise reader.bad(("refinery", "strategy"), "strategy is one of rebase, squash, merge")
    if config.slots.reserve >= config.slots.total:
        raise reader.bad(("slots", "reserve"), "reserve must be less than total")


class _Reader:
    """Turns parts of a file into settings, and what is wrong with them into a line and a word."""

    def __init__(self, text: str, name: str) -> None:
        self._text = text
        self._name = name

    def convert(self, keys: Keys, value: Any, kind: type[_Section]) -> Any:
        try:
            return msgspec.convert(value, kind)
        except msgspec.ValidationError as error:
            said, _, path = str(error).partition(" - at `$")
            inside = tuple(part for part in path.rstrip("`").split("[")[0].split(".") if part)
            unknown = said.removeprefix("Object contains unknown field `")
            if unknown != said:
                raise self.unknown((*keys, *inside, unknown.rstrip("`"))) from error
            where = (*keys, *inside)
            raise self.bad(where, f"{'.'.join(where)}: {said[0].lower()}{said[1:]}") from error

    def unknown(self, keys: Keys) -> BadConfig:
        return self.bad(keys, f"unknown setting {'.'.join(keys)}")

    def bad(self, keys: Keys, what: str) -> BadConfig:
        lines = _lines(self._text)
        line = next((lines[keys[:n]] for n in range(len(keys), 0, -1) if keys[:n] in lines), 0)
        where = f"{self._name}, line {line}" if line else self._name
        return BadConfig(f"{where}: {what}", _HINT)


def _lines(text: str) -> dict[Keys, int]:
    """Say on which line each table and key stands. The text is valid TOML."""
    found: dict[Keys, int] = {}
    table: Keys = ()
    for number, content in enumerate(text.splitlines(), 1):
        line = content.strip()
        if line.startswith("["):
            table = _dotted(line.lstrip("[").partition("]")[0])
            found.setdefault(table, number)
        elif "=" in line and not line.startswith("#"):
            found.setdefault((*table, *_dotted(line.partition("=")[0])), number)
    return found


def _dotted(key: str) -> Keys:
    return tuple(part.strip().strip("\"'") for part in key.split("."))
