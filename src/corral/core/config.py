"""The configuration file: `.corral/config.toml`, committed with the code.

Unknown keys are errors with their line: a setting that is silently ignored is worse than none.
"""

from typing import Any

import msgspec
from msgspec import Struct, field

from corral.core.errors import BadConfig
from corral.core.text import CLAIM_TTL_S, TTL_S, shown

_HINT = "corral init --print shows every setting"


class _Section(Struct, frozen=True, forbid_unknown_fields=True):
    pass


class Board(_Section, frozen=True):
    claim_ttl_s: int = CLAIM_TTL_S


class Engine(_Section, frozen=True):
    type: str
    model: str = ""
    command: tuple[str, ...] = ()  # for type "shell": the program and its arguments
    pool: str = ""


class Refinery(_Section, frozen=True):
    strategy: str = "squash"
    require_ci: bool = True
    checks: tuple[str, ...] = ()


class Slots(_Section, frozen=True):
    total: int = 12
    reserve: int = 2
    pools: dict[str, int] = field(default_factory=dict)


class Watch(_Section, frozen=True):
    beat_s: int = 900
    barren_beats: int = 8  # alive for so long without an output: an alert; 0 turns it off
    wall_s: int = 14_400
    grace_s: int = 10
    output_mb: int = 64
    attempts: int = 3
    backoff_s: int = 30
    backoff_most_s: int = 3600
    commit_dirty: bool = False  # commit what a session leaves behind, instead of sending it back


class Trees(_Section, frozen=True):
    folder: str = ""  # where the working trees are; empty: beside the repository
    kind: str = "worktree"  # or "clone"
    pool: int = 4
    copy: tuple[str, ...] = ()
    setup: tuple[tuple[str, ...], ...] = ()
    setup_s: int = 600
    fresh: bool = False  # a retry starts over instead of building on the last attempt
    keep_days: int = 30
    ports: int = 0  # leased for each session, in CORRAL_PORT_1, CORRAL_PORT_2, …
    port_range: tuple[int, int] = (20_000, 29_999)


class Server(_Section, frozen=True):
    port: int = 0  # 0: 5173, or another if that is taken
    bind: str = "127.0.0.1"
    hosts: tuple[str, ...] = ()  # more names under which it is reached
    tls_cert: str = ""
    tls_key: str = ""


class Config(_Section, frozen=True):
    board: Board = Board()
    engine: dict[str, Engine] = field(default_factory=dict)
    refinery: Refinery = Refinery()
    slots: Slots = Slots()
    watch: Watch = Watch()
    trees: Trees = Trees()
    server: Server = Server()


Keys = tuple[str, ...]


def parse(text: str, name: str) -> Config:
    """Read a configuration; `name` is what errors call the file."""
    import tomllib

    try:
        raw = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadConfig(f"{name} is not valid TOML: {error}", _HINT) from error
    except RecursionError as error:
        raise BadConfig(f"{name} is nested too deeply", _HINT) from error
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
    "trees": Trees,
    "server": Server,
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
        ("watch", "barren_beats"): (config.watch.barren_beats, 0, 10_000),
        ("watch", "wall_s"): (config.watch.wall_s, 1, TTL_S),
        ("watch", "grace_s"): (config.watch.grace_s, 0, 3600),
        ("watch", "output_mb"): (config.watch.output_mb, 1, 10_000),
        ("watch", "attempts"): (config.watch.attempts, 1, 100),
        ("watch", "backoff_s"): (config.watch.backoff_s, 0, TTL_S),
        ("watch", "backoff_most_s"): (config.watch.backoff_most_s, 0, TTL_S),
        ("trees", "pool"): (config.trees.pool, 0, 1000),
        ("trees", "setup_s"): (config.trees.setup_s, 1, 86_400),
        ("trees", "keep_days"): (config.trees.keep_days, 1, 3650),
        ("trees", "ports"): (config.trees.ports, 0, 100),
        ("server", "port"): (config.server.port, 0, 65_535),
    }
    for keys, (value, least, most) in bounds.items():
        if not least <= value <= most:
            raise reader.bad(keys, f"{keys[-1]} is {value}: at least {least}, at most {most}")
    if config.refinery.strategy not in ("rebase", "squash", "merge"):
        raise reader.bad(("refinery", "strategy"), "strategy is one of rebase, squash, merge")
    if config.trees.kind not in ("worktree", "clone"):
        raise reader.bad(("trees", "kind"), "kind is one of worktree, clone")
    first, last = config.trees.port_range
    if not 1024 <= first <= last <= 65_535 or last - first + 1 < config.trees.ports:
        raise reader.bad(
            ("trees", "port_range"), "port_range is a first and a last port, and holds all ports"
        )
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
        return BadConfig(f"{where}: {shown(what)}", _HINT)


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
