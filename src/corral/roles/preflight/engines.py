"""What is found about the engine profiles: programs, keys, and budgets that cannot hold.

Engines are started for their version only, and providers are asked for their list of models, which
costs nothing.
"""

import os
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import pairwise

from corral.core.config import Config, EngineSettings
from corral.core.engine.bill import NANO, nano
from corral.core.engine.money import Sums
from corral.core.errors import CorralError
from corral.core.log.state import State
from corral.core.session.profiles import budgets_of
from corral.roles.preflight.finding import BAD, NOTE, OK, Finding, setting
from corral.world import clock
from corral.world.engines.account import KeyCheck, KeyState, check_key
from corral.world.engines.agents.described import recipe_of
from corral.world.engines.locate import program
from corral.world.engines.probe import Probe, probe

_AT_ONCE = 4


def engines(config: Config, names: Collection[str] | None = None) -> Iterator[Finding]:
    """Look at the engines of these profiles, or of all."""
    profiles = {
        name: profile
        for name, profile in config.engine.items()
        if (names is None or name in names) and _has_program(profile)
    }
    if not config.engine and names is None:
        said = "no engine is configured, so only tasks with a program of their own can run"
        yield Finding(
            "engine",
            NOTE,
            said,
            "add [engine.default] to .corral/config.toml: corral init --print shows how",
        )
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = pool.map(_look, profiles.values())
        together: dict[Finding, list[str]] = {}
        for name, (there, key) in zip(profiles, found, strict=True):
            together.setdefault(_told(profiles[name], there, key), []).append(name)
    # Two profiles with the same fault are one finding.
    for one, those in together.items():
        yield Finding(one.name, one.state, f"{', '.join(those)}: {one.text}", one.remedy)


def programs(config: Config, names: Collection[str]) -> list[str]:
    """Return the files that these profiles run."""
    found = []
    for name in names:
        profile = config.engine.get(name)
        if profile is not None and profile.type != "shell":
            with suppress(CorralError):
                found.append(program(recipe_of(profile), profile.command, os.environ)[0])
    return found


def _has_program(profile: EngineSettings) -> bool:
    return profile.type not in ("shell", "command") or bool(profile.command)


def _look(profile: EngineSettings) -> tuple[Probe, KeyCheck]:
    found = probe(profile)
    ready = found.installed and found.starts is not False and not found.lacking
    return found, check_key(profile, os.environ) if ready else KeyCheck(KeyState.UNKNOWN)


def _told(profile: EngineSettings, found: Probe, key: KeyCheck) -> Finding:
    variable = profile.env[0] if profile.env else ""
    if found.lacking:
        mend = f"export {found.lacking}=… before you start Corral"
        return Finding("key", BAD, f"the variable {found.lacking} is not set", mend)
    if not found.installed or found.starts is False:
        said, _, mend = found.advice.rpartition(": ")
        return Finding("engine", BAD, said or mend, mend if said else "corral engine check")
    if key.state is KeyState.REFUSED:
        said = f"{key.address} does not accept the key in {variable} ({key.said})"
        return Finding("key", BAD, said, f"export a valid {variable}, and start Corral again")
    if key.state is KeyState.UNREACHABLE:
        said = f"{key.address} cannot be reached: {key.said}"
        return Finding("engine", BAD, said, "check the network, the proxy and base_url")
    accepted = f", and {key.address} accepts its key" if key.state is KeyState.ACCEPTED else ""
    return Finding("engine", OK, f"{found.version or found.path}{accepted}")


def budget(config: Config, state: State | None) -> Iterator[Finding]:
    """Look for budgets that are missing, that cannot hold, or that are used up."""
    profiles = {name: one for name, one in config.engine.items() if _has_program(one)}
    if not profiles:
        return
    limits = budgets_of(config)
    if not any(limits.any(name) for name in profiles):
        said = "no budget is set, so a session may cost any amount"
        yield Finding("budget", NOTE, said, setting("budget", "day_usd = 20"))
        return
    unpriced: dict[str, list[str]] = {}
    for name, profile in profiles.items():
        if limits.any(name) and not _is_priced(profile, config.budget.prices):
            unpriced.setdefault(profile.model, []).append(name)
    for model, names in unpriced.items():
        said = f"the price of {model or 'its model'} is not known, so no budget can stop it"
        price = f'"{model or "MODEL"}" = {{ input = 3.0, output = 15.0 }}'
        mend = setting("budget.prices", f"{price} (dollars per million tokens)")
        yield Finding("budget", BAD, f"{', '.join(names)}: {said}", mend)
    yield from _nested(config)
    day_usd = config.budget.day_usd
    spent = Sums(state, clock.now()).day if state is not None else 0
    if day_usd and spent >= nano(day_usd):
        said = f"today's budget is used up (${spent / NANO:.2f} of ${day_usd:g}): nothing starts"
        yield Finding("budget", BAD, said, "raise day_usd in [budget], or wait for 00:00 UTC")


def _is_priced(profile: EngineSettings, prices: Mapping[str, object]) -> bool:
    """Say whether the cost of a session becomes known; of a plain program, none is expected."""
    if profile.type == "shell":
        return True
    recipe = recipe_of(profile)
    plain = profile.type == "command" and not profile.output and not profile.lines
    return recipe.cost or plain or profile.model in prices


def _nested(config: Config) -> Iterator[Finding]:
    limits = (
        ("task_usd", config.budget.task_usd),
        ("convoy_usd", config.budget.convoy_usd),
        ("day_usd", config.budget.day_usd),
    )
    known = [one for one in limits if one[1]]
    for (inner, less), (outer, more) in pairwise(known):
        if less > more:
            said = f"{inner} (${less:g}) can never be reached: {outer} is ${more:g}"
            yield Finding("budget", NOTE, said, f"raise {outer}, or lower {inner}, in [budget]")
