"""`corral engine list|check`: which agents are installed, and do they answer?"""

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import Any

from corral.core.config import EngineSettings
from corral.core.errors import NotFound
from corral.core.text import printable
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.output import paint, table
from corral.interfaces.cli.parser import Options
from corral.world.engines.probe import Probe, probe
from corral.world.engines.registry import ENGINES

_AT_ONCE = 4


def listed(context: Context, options: Options) -> None:
    """List every engine that Corral knows, and the profiles of this repository."""
    profiles = context.config.engine
    known = {name: EngineSettings(type=name) for name in ENGINES if ENGINES[name].program}
    asked = {f"({name})": engine for name, engine in known.items()} | dict(profiles)
    found = _probed(asked, ask=False)
    context.answer(
        [_row(name, asked[name], one) for name, one in found.items()], lambda: _shown(found)
    )


def check(context: Context, options: Options) -> int:
    """Start the engines of this repository's profiles, and ask each of them one short question."""
    profiles = dict(context.config.engine)
    if options.profile:
        if options.profile not in profiles:
            said = f"there is no engine {printable(options.profile)!r} in .corral/config.toml"
            raise NotFound(said, "corral engine list")
        profiles = {options.profile: profiles[options.profile]}
    if not profiles:
        raise NotFound("no engine is configured in .corral/config.toml", "corral init --print")
    found = _probed(profiles, ask=not options.quick)
    context.answer(
        [_row(name, profiles[name], one) for name, one in found.items()], lambda: _shown(found)
    )
    return 0 if all(_fine(one) for one in found.values()) else 1


def _probed(profiles: dict[str, EngineSettings], *, ask: bool) -> dict[str, Probe]:
    def one(profile: EngineSettings) -> Probe:
        if profile.type in ("shell", "command") and not profile.command:
            return Probe(type=profile.type, installed=True, advice="tasks name their own program")
        return probe(profile, ask=ask, stop=stop)

    stop = Event()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        try:
            return dict(zip(profiles, pool.map(one, profiles.values()), strict=True))
        except KeyboardInterrupt:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise


def _fine(found: Probe) -> bool:
    bad = not found.installed or found.starts is False or found.answers is False
    return not bad and not found.lacking


def _row(name: str, profile: EngineSettings, found: Probe) -> dict[str, Any]:
    row = {field: getattr(found, field) for field in found.__struct_fields__}
    return {"profile": "" if name.startswith("(") else name, "model": profile.model, **row}


def _shown(found: dict[str, Probe]) -> str:
    rows = []
    for name, one in found.items():
        works = (_mark(one.installed), one.version, _mark(one.starts), _mark(one.answers))
        rows.append((name, one.type, *works, one.advice or one.path))
    return table(rows, ("profile", "type", "installed", "version", "starts", "answers", "note"))


def _mark(value: bool | None) -> str:
    if value is None:
        return "-"
    return paint("yes", "green") if value else paint("no", "red")
