"""The configuration file: `.corral/config.toml`, committed with the code.

Unknown keys are errors with their line: a setting that is silently ignored is worse than none.
"""

from typing import Any

import msgspec
from msgspec import Struct, field

from corral.core.errors import BadConfig
from corral.core.text import CLAIM_TTL_S

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


def parse(text: str, name: str) -> Config:
    """Read a configuration; `name` is what errors call the file."""
    import tomllib

    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadConfig(f"{name} is not valid TOML: {error}", _HINT) from error
    try:
        config = msgspec.convert(raw, Config)
    except msgspec.ValidationError as error:
        raise _explained(text, name, raw, str(error)) from error
    _check(config, text, name)
    return config


def _check(config: Config, text: str, name: str) -> None:
    low = {
        ("board", "claim_ttl_s"): (config.board.claim_ttl_s, 1),
        ("slots", "total"): (config.slots.total, 1),
        ("slots", "reserve"): (config.slots.reserve, 0),
        ("watch", "beat_s"): (config.watch.beat_s, 1),
    }
    for path, (value, least) in low.items():
        if value < least:
            where = _where(text, name, path)
            raise BadConfig(f"{where}: {path[-1]} is {value}: at least {least}", _HINT)
    if config.refinery.strategy not in ("rebase", "squash", "merge"):
        where = _where(text, name, ("refinery", "strategy"))
        raise BadConfig(f"{where}: strategy is one of rebase, squash, merge", _HINT)
    if config.slots.reserve >= config.slots.total:
        where = _where(text, name, ("slots", "reserve"))
        raise BadConfig(f"{where}: reserve must be less than total", _HINT)


def _explained(text: str, name: str, raw: dict[str, Any], said: str) -> BadConfig:
    """Say what msgspec found, with the line that it is about."""
    message, _, path = said.partition(" - at `$")
    keys = tuple(path.rstrip("`").replace("[...]", ".…").strip(".").split(".")) if path else ()
    unknown = message.removeprefix("Object contains unknown field `")
    if unknown != message:
        key = unknown.rstrip("`")
        keys = _resolve(raw, keys, key)
        return BadConfig(f"{_where(text, name, keys)}: unknown setting {'.'.join(keys)}", _HINT)
    return BadConfig(f"{_where(text, name, keys)}: {'.'.join(keys)}: {message.lower()}", _HINT)


def _resolve(raw: dict[str, Any], keys: tuple[str, ...], unknown: str) -> tuple[str, ...]:
    """Fill in the profile's name where msgspec only says that it is in one of them."""
    if "…" not in keys:
        return (*keys, unknown)
    profiles = raw.get(keys[0], {})
    found = next((name for name in profiles if unknown in profiles[name]), "…")
    return (keys[0], found, unknown)


def _where(text: str, name: str, keys: tuple[str, ...]) -> str:
    line = _line(text, keys)
    return f"{name}, line {line}" if line else name


def _line(text: str, keys: tuple[str, ...]) -> int:
    """Find the line that sets a key: in its table, or else its table's heading."""
    table, heading, last = "", 0, keys[-1] if keys else ""
    wanted = ".".join(keys[:-1])
    for number, content in enumerate(text.splitlines(), 1):
        stripped = content.strip()
        if stripped.startswith("["):
            table = stripped.strip("[]").split("]")[0].replace('"', "").replace(" ", "")
            if table in (wanted, ".".join(keys)):
                heading = number
        key = stripped.split("=")[0].strip().strip('"')
        if "=" in stripped and (f"{table}.{key}".strip(".") == ".".join(keys)):
            return number
        if "=" in stripped and key == last and table == wanted:
            return number
    return heading
