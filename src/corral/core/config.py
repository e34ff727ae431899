"""The configuration file: `.corral/config.toml`, committed with the code.

Unknown keys are errors with their line: a setting that is silently ignored is worse than none.
"""

from typing import Any

import msgspec
from msgspec import Struct, field

from corral.core.engine.bill import Price
from corral.core.errors import BadConfig
from corral.core.redaction import redacted
from corral.core.text import CLAIM_TTL_S, TTL_S, shown

FINISHES = ("leave", "merge", "fast-forward", "pull-request")
KNOWN_OUTPUTS = ("claude-code", "codex", "opencode", "gemini", "copilot")
_HINT = "corral init --print shows every setting"


class _Section(Struct, frozen=True, forbid_unknown_fields=True):
    pass


class BoardSettings(_Section, frozen=True):
    claim_ttl_s: int = CLAIM_TTL_S


class LineSettings(_Section, frozen=True):
    """Which lines of an engine's output are which fact, for an engine that is described here."""

    fact: str  # as in `core/engine/facts`, or "failed": the end, in trouble
    when: dict[str, str] = field(default_factory=dict)  # where in the object what has to be
    take: dict[str, str] = field(default_factory=dict)  # the fact's fields, and where they are


class EngineSettings(_Section, frozen=True):
    type: str
    model: str = ""
    command: tuple[str, ...] = ()  # for type "shell": the program and its arguments
    pool: str = ""
    args: tuple[str, ...] = ()  # more of them, behind those that the type gives
    env: tuple[str, ...] = ()  # variables of the witness that are passed on: keys come by name only
    base_url: str = ""
    permission: str = ""  # read, edit (the default), all; for "acp" also ask
    transport: str = "cli"  # or "acp", "tmux"
    account: str = ""  # whose limits it counts against; empty: its type and its first variable
    fallback: str = ""  # the profile to use while that account is limited
    answers: str = ""  # what a question is answered with; empty: a person is asked
    # These describe an engine that Corral does not know, with type "command":
    output: str = ""  # "facts", if it prints them as lines of JSON, or whose lines it prints
    lines: tuple[LineSettings, ...] = ()  # what its own lines of JSON mean
    key: str = ""  # the variable in which it wants the first one of `env`
    set: dict[str, str] = field(
        default_factory=dict
    )  # variables for it; {home}, {model}, … in them
    fresh: tuple[str, ...] = ()  # more arguments for a new conversation: {id}
    resume: tuple[str, ...] = ()  # and to go on with one: {resume}
    mcp: tuple[str, ...] = ()  # and to hand it tools: {mcp} is their address, {mcp_key} a variable
    commit: bool | None = None  # Corral commits what it leaves; empty: if the type does not itself
    turn_s: int = 600  # silent for so long, it hangs
    context: int = 0  # tokens that its model can take in; 0: as far as the engine itself says
    budget_usd: float = 0.0  # for one task; 0: no limit
    good_for: str = ""  # what the mayor is told about it


class RegenerateSettings(_Section, frozen=True):
    paths: tuple[str, ...]  # patterns as in .gitattributes
    command: str


class RefinerySettings(_Section, frozen=True):
    strategy: str = "squash"
    require_ci: bool = True  # false: work lands unchecked, and the report says so
    checks: tuple[str, ...] = ()
    external: bool = False  # somebody else's CI runs the checks, and reports
    mode: str = "lanes"  # or "serial"
    slots: int = 0  # check runs at once; 0: as many as measured to be of use
    deadline_s: int = 0  # of one check run; 0: learned from the green ones
    returns: int = 3  # so often work comes back before a person is needed
    caches: tuple[str, ...] = ()  # ignored files that stay in the check trees between runs
    union: tuple[str, ...] = ()  # where both sides of a conflict are kept
    regenerate: tuple[RegenerateSettings, ...] = ()  # files in conflict that a command makes anew
    finish: str = "leave"  # of a landed convoy: leave, merge, fast-forward or pull-request


class SlotSettings(_Section, frozen=True):
    total: int = 12
    reserve: int = 2
    pools: dict[str, int] = field(default_factory=dict)


class WatchSettings(_Section, frozen=True):
    beat_s: int = 900
    barren_beats: int = 8  # alive for so long without an output: an alert; 0 turns it off
    wall_s: int = 14_400
    grace_s: int = 10
    output_mb: int = 64
    attempts: int = 3
    backoff_s: int = 30
    backoff_most_s: int = 3600
    commit_dirty: bool = False  # commit what a session leaves behind, instead of sending it back
    park_s: int = 60  # an engine may wait for a limit for so long; then its task is parked
    answer_s: int = 900  # a question may wait for so long
    window: int = 90  # per cent of the model's context, then a fresh conversation; 0: never
    loop: int = 20  # the same call so often without a change: an alert, twice: the end; 0: never


class BudgetSettings(_Section, frozen=True):
    """Limits in dollars (0: none), what tokens cost, and which models may be used."""

    task_usd: float = 0.0
    convoy_usd: float = 0.0
    day_usd: float = 0.0
    require_model: tuple[str, ...] = ()  # patterns like "claude-opus-*"; empty: any
    prices: dict[str, Price] = field(default_factory=dict)


class TreeSettings(_Section, frozen=True):
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


class ConfineSettings(_Section, frozen=True):
    enabled: bool = False  # sessions can write to their own trees only
    also: tuple[str, ...] = ()  # and to these files and folders


class RadarSettings(_Section, frozen=True):
    enabled: bool = True  # coming conflicts are looked for while sessions work
    hold: bool = False  # a task that would run into one is not started until it is over
    every_s: int = 5  # so often at most, a session's files are looked at


class ServerSettings(_Section, frozen=True):
    port: int = 0  # 0: 5173, or another if that is taken
    bind: str = "127.0.0.1"
    hosts: tuple[str, ...] = ()  # more names under which it is reached
    tls_cert: str = ""
    tls_key: str = ""


class TelemetrySettings(_Section, frozen=True):
    endpoint: str = ""  # of a collector that takes OTLP over HTTP; empty: nothing is sent


class MayorSettings(_Section, frozen=True):
    """The engine that makes plans."""

    engine: str = ""  # the profile; empty: "default", or the only one that there is
    attempts: int = 3  # at an answer that can be used
    replans: int = 3  # so many failures of a convoy it is asked about
    wait_s: int = 900  # for a limited account; then `corral mayor start` has to go on later


class Config(_Section, frozen=True):
    board: BoardSettings = BoardSettings()
    engine: dict[str, EngineSettings] = field(default_factory=dict)
    refinery: RefinerySettings = RefinerySettings()
    slots: SlotSettings = SlotSettings()
    watch: WatchSettings = WatchSettings()
    trees: TreeSettings = TreeSettings()
    budget: BudgetSettings = BudgetSettings()
    mayor: MayorSettings = MayorSettings()
    server: ServerSettings = ServerSettings()
    confine: ConfineSettings = ConfineSettings()
    radar: RadarSettings = RadarSettings()
    telemetry: TelemetrySettings = TelemetrySettings()


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
    reader = _SettingsReader(text, name)
    profiles = raw.pop("engine", {})
    if not isinstance(profiles, dict):
        kind = type(profiles).__name__
        raise reader.bad(("engine",), f"engine: expected `object`, got `{kind}`")
    config = Config(
        engine={
            key: reader.convert(("engine", key), profiles[key], EngineSettings) for key in profiles
        },
        **{key: reader.convert((key,), raw[key], kind) for key, kind in _known(raw, reader)},
    )
    _check(config, reader)
    return config


_SECTIONS: dict[str, type[_Section]] = {
    "board": BoardSettings,
    "refinery": RefinerySettings,
    "slots": SlotSettings,
    "watch": WatchSettings,
    "trees": TreeSettings,
    "budget": BudgetSettings,
    "mayor": MayorSettings,
    "server": ServerSettings,
    "confine": ConfineSettings,
    "radar": RadarSettings,
    "telemetry": TelemetrySettings,
}


def _known(raw: dict[str, Any], reader: "_SettingsReader") -> list[tuple[str, type[_Section]]]:
    for key in raw:
        if key not in _SECTIONS:
            raise reader.unknown((key,))
    return [(key, _SECTIONS[key]) for key in raw]


def _check(config: Config, reader: "_SettingsReader") -> None:
    """Check what types cannot say."""
    _check_bounds(config, reader)
    for where, word, words in (
        (("refinery", "strategy"), config.refinery.strategy, ("rebase", "squash", "merge")),
        (("refinery", "mode"), config.refinery.mode, ("lanes", "serial")),
        (("refinery", "finish"), config.refinery.finish, FINISHES),
        (("trees", "kind"), config.trees.kind, ("worktree", "clone")),
    ):
        if word not in words:
            raise reader.bad(where, f"{where[-1]} is one of {', '.join(words)}")
    first, last = config.trees.port_range
    if not 1024 <= first <= last <= 65_535 or last - first + 1 < config.trees.ports:
        raise reader.bad(
            ("trees", "port_range"), "port_range is a first and a last port, and holds all ports"
        )
    if any(not rule.paths or not rule.command.strip() for rule in config.refinery.regenerate):
        raise reader.bad(("refinery", "regenerate"), "regenerate needs paths and a command")
    if config.slots.reserve >= config.slots.total:
        raise reader.bad(("slots", "reserve"), "reserve must be less than total")
    _check_money(config.budget, reader)
    if config.mayor.engine and config.mayor.engine not in config.engine:
        raise reader.bad(("mayor", "engine"), f"there is no engine {config.mayor.engine!r}")
    endpoint = config.telemetry.endpoint
    if endpoint and not endpoint.startswith(("http://", "https://")):
        raise reader.bad(("telemetry", "endpoint"), "endpoint begins with http:// or https://")
    for name, engine in config.engine.items():
        _check_engine(config, name, engine, reader)


def _check_money(budget: BudgetSettings, reader: "_SettingsReader") -> None:
    for name in ("task_usd", "convoy_usd", "day_usd"):
        if not _is_money(getattr(budget, name)):
            raise reader.bad(("budget", name), f"{name} is a number, at least 0")
    for model, price in budget.prices.items():
        for name in ("input", "output", "cached"):
            value = getattr(price, name)
            if value is not None and not _is_money(value):
                said = f"the price of {model!r}: {name} is a number, at least 0"
                raise reader.bad(("budget", "prices", model, name), said)


def _is_money(value: float) -> bool:
    return 0 <= value < float("inf")  # nor is it "not a number", which TOML can say, too


def _check_bounds(config: Config, reader: "_SettingsReader") -> None:
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
        ("refinery", "slots"): (config.refinery.slots, 0, 1000),
        ("refinery", "deadline_s"): (config.refinery.deadline_s, 0, TTL_S),
        ("refinery", "returns"): (config.refinery.returns, 1, 100),
        ("watch", "park_s"): (config.watch.park_s, 1, TTL_S),
        ("watch", "answer_s"): (config.watch.answer_s, 0, TTL_S),
        ("watch", "window"): (config.watch.window, 0, 100),
        ("watch", "loop"): (config.watch.loop, 0, 10_000),
        ("mayor", "attempts"): (config.mayor.attempts, 1, 20),
        ("mayor", "replans"): (config.mayor.replans, 0, 100),
        ("mayor", "wait_s"): (config.mayor.wait_s, 0, TTL_S),
        ("trees", "pool"): (config.trees.pool, 0, 1000),
        ("trees", "setup_s"): (config.trees.setup_s, 1, 86_400),
        ("trees", "keep_days"): (config.trees.keep_days, 1, 3650),
        ("trees", "ports"): (config.trees.ports, 0, 100),
        ("server", "port"): (config.server.port, 0, 65_535),
        ("radar", "every_s"): (config.radar.every_s, 1, 3600),
    }
    for keys, (value, least, most) in bounds.items():
        if not least <= value <= most:
            raise reader.bad(keys, f"{keys[-1]} is {value}: at least {least}, at most {most}")


def _check_engine(
    config: Config, name: str, engine: EngineSettings, reader: "_SettingsReader"
) -> None:
    where = ("engine", name)
    if not name.strip() or not name.isprintable():
        raise reader.bad(where, "an engine has a name that can be shown")
    if engine.transport not in ("cli", "acp", "tmux"):
        raise reader.bad((*where, "transport"), "transport is one of cli, acp, tmux")
    if engine.permission not in ("", "read", "edit", "all", "ask"):
        raise reader.bad((*where, "permission"), "permission is one of read, edit, all, ask")
    if engine.permission == "ask" and engine.transport != "acp":
        said = 'permission = "ask" needs transport = "acp": nobody could be asked'
        raise reader.bad((*where, "permission"), said)
    _check_described(where, engine, reader)
    if not 1 <= engine.turn_s <= TTL_S:
        said = f"turn_s is {engine.turn_s}: at least 1, at most {TTL_S}"
        raise reader.bad((*where, "turn_s"), said)
    if engine.context < 0:
        raise reader.bad((*where, "context"), "context is at least 0")
    if not _is_money(engine.budget_usd):
        raise reader.bad((*where, "budget_usd"), "budget_usd is a number, at least 0")
    if engine.base_url and not engine.base_url.startswith(("http://", "https://")):
        raise reader.bad((*where, "base_url"), "base_url begins with http:// or https://")
    if engine.fallback and engine.fallback not in config.engine:
        raise reader.bad((*where, "fallback"), f"there is no engine {engine.fallback!r}")
    if engine.fallback == name:
        raise reader.bad((*where, "fallback"), "fallback is another profile than itself")
    for variable in engine.env:
        if not variable.isidentifier() or not variable.isascii():
            # The likeliest mistake is to write the value here, so it is not repeated.
            raise reader.bad((*where, "env"), "env has names of variables only, never values")


_DESCRIBES = ("lines", "key", "set", "fresh", "resume", "mcp")


def _check_described(where: Keys, engine: EngineSettings, reader: "_SettingsReader") -> None:
    """Check what describes an engine of the user's own."""
    for name in _DESCRIBES if engine.type != "command" else ():
        if getattr(engine, name):
            raise reader.bad((*where, name), f'{name} is for type = "command" only')
    if engine.output not in ("", "facts", *KNOWN_OUTPUTS):
        said = f"output is one of facts, {', '.join(KNOWN_OUTPUTS)}, or nothing"
        raise reader.bad((*where, "output"), said)
    if engine.output and engine.lines:
        raise reader.bad((*where, "lines"), "either output or lines, not both")
    plain = not engine.output and not engine.lines and engine.transport != "acp"
    for name in ("key", "set", "fresh", "resume", "mcp"):
        if getattr(engine, name) and (plain or engine.output == "facts"):
            said = f"{name} needs an engine that is described: set lines, or output to a known one"
            raise reader.bad((*where, name), said)
    for line in engine.lines:
        wrong = _wrong_with(line)
        if wrong:
            raise reader.bad((*where, "lines"), wrong)
    _check_signs(where, engine, reader)
    for name, value in engine.set.items():
        if not name.isidentifier() or not name.isascii():
            raise reader.bad((*where, "set"), "set has names of variables, and their values")
        if redacted(value) != value:
            raise reader.bad(
                (*where, "set"), f"{name} looks like a key: pass it on by name, in env"
            )


# What stands for something in the words of an engine that is described.
SIGNS = (
    *("prompt", "model", "home", "tree", "session", "id", "resume", "url", "url_v1"),
    *("mcp", "mcp_key", "mcp_servers"),
)


def _check_signs(where: Keys, engine: EngineSettings, reader: "_SettingsReader") -> None:
    """Refuse a word in braces that stands for nothing: it would be passed on as it is."""
    if not engine.lines and engine.output not in KNOWN_OUTPUTS:
        return
    for name in ("command", "args", "fresh", "resume", "mcp"):
        for word in getattr(engine, name):
            _check_word((*where, name), word, reader)
    for value in engine.set.values():
        _check_word((*where, "set"), value, reader)


def _check_word(where: Keys, word: str, reader: "_SettingsReader") -> None:
    import re  # few configurations describe an engine

    for sign in re.findall(r"(?<!\$)\{([a-z_]\w*)\}", word):
        if sign not in SIGNS:
            known = ", ".join(f"{{{one}}}" for one in SIGNS)
            raise reader.bad(where, f"{{{sign}}} stands for nothing: there are {known}")


def _wrong_with(line: LineSettings) -> str:
    from corral.core.engine.facts import FACTS  # few configurations have lines

    if line.fact not in FACTS:
        return f"a fact is one of {', '.join(FACTS)}"
    unknown = line.take.keys() - FACTS[line.fact]
    if unknown:
        known = ", ".join(sorted(FACTS[line.fact]))
        return f"the fact {line.fact} has no {min(unknown)}: it takes {known}"
    return "" if line.when else "every one of lines needs `when`"


class _SettingsReader:
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
