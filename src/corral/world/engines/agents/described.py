"""Engines that the configuration describes: data instead of a module.

Its command line is the profile's `command` and `args`, and what `resume` and `mcp` add to it when
there is a conversation to go on with, and tools to hand over. Its output is read like that of a
known engine (`output = "codex"`), or by `lines`: which JSON objects are which facts.
"""

import re
from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from corral.core.config import EngineSettings, LineSettings
from corral.core.engine.facts import AnyFact, Fact, Limited
from corral.world.engines.agents.command import COMMAND
from corral.world.engines.agents.output import JsonReader, bounded, failed
from corral.world.engines.agents.self_reporting import TOLD
from corral.world.engines.recipe import (
    EngineJob,
    Prepared,
    Recipe,
    Stream,
    dumped,
    keys_for,
    private_home,
    versioned,
)
from corral.world.engines.registry import ENGINES, find

_SIGN = re.compile(r"\{(\w+)\}")


def recipe_of(profile: EngineSettings) -> Recipe:
    """Return how the engine of a profile is run and read."""
    if profile.type != "command":
        return find(profile.type)
    if profile.output == "facts":
        return TOLD
    spoken = profile.transport == "acp"  # the protocol has a word for all of it
    if not profile.output and not profile.lines and not spoken:
        return COMMAND
    like = ENGINES.get(profile.output)
    return replace(
        COMMAND,
        program=profile.command[0] if profile.command else "",
        prepare=partial(_prepare, profile),
        reader=like.reader if like else partial(_LineReader, profile.lines),
        key=profile.key,
        resumes=spoken or bool(profile.resume),
        mcp=spoken or bool(profile.mcp),
        tokens=True,
        cost=like.cost if like else any("cost_usd" in line.take for line in profile.lines),
    )


def _prepare(profile: EngineSettings, job: EngineJob) -> Prepared:
    known = {
        "prompt": job.prompt_file,
        "model": job.model,
        "home": job.home,
        "tree": job.tree,
        "session": job.session,
        "id": job.new_id,
        "resume": job.resume,
        "url": job.base_url,
        "url_v1": versioned(job.base_url) if job.base_url else "",
        "mcp": job.mcp.url if job.mcp else "",
        "mcp_key": job.mcp.token if job.mcp else "",
        "mcp_servers": _servers(job),
    }

    def filled(word: str) -> str:
        return _SIGN.sub(lambda sign: known.get(sign.group(1), sign.group()), word)

    words = [*job.program, *job.args]
    words += profile.resume if job.resume else profile.fresh
    words += profile.mcp if job.mcp else ()
    return Prepared(
        argv=[filled(word) for word in words],
        env=private_home(job) | {name: filled(value) for name, value in profile.set.items()},
        keys=keys_for(job, profile.key or job.key),
        stdin=job.prompt_file,
    )


def _servers(job: EngineJob) -> str:
    """Return our tools in the shape that most engines take; the key is named, not told."""
    if job.mcp is None:
        return ""
    head = {"Authorization": f"Bearer ${{{job.mcp.token}}}"}
    return dumped(
        {"mcpServers": {job.mcp.name: {"type": "http", "url": job.mcp.url, "headers": head}}}
    )


class _LineReader(JsonReader):
    def __init__(self, lines: tuple[LineSettings, ...], job: EngineJob) -> None:
        super().__init__(job)
        self._lines = lines

    def event(self, event: dict[str, Any], stream: Stream) -> list[Fact]:
        fitting = (line for line in self._lines if _fits(event, line.when))
        return [fact for line in fitting if (fact := self._fact(event, line)) is not None]

    def _fact(self, event: dict[str, Any], line: LineSettings) -> Fact | None:
        found = {name: _at(event, path) for name, path in line.take.items()}
        given = {name: value for name, value in found.items() if value is not None}
        if line.fact == "failed":
            status, retry = given.get("status"), given.get("retry_s")
            return failed(
                bounded(given.get("text")),
                status if isinstance(status, int) else None,
                retry_s=float(retry) if isinstance(retry, int | float) else None,
            )
        if line.fact == "limited":
            end = failed(bounded(given.get("text")), given.get("status"))
            assert end.trouble is not None
            return Limited(end.trouble, given.get("retry_s", end.retry_s), end.reset_at, end.text)
        for name in ("text", "what"):
            if name in given:
                given[name] = bounded(given[name], self.job.longest)
        try:
            return _converted({"fact": line.fact, **given})
        except msgspec.ValidationError:
            return None  # what is there is not of that kind: the line says something else


def _converted(given: dict[str, Any]) -> Fact:
    fact: Fact = msgspec.convert(given, AnyFact, strict=False)
    return fact


def _fits(event: dict[str, Any], when: dict[str, str]) -> bool:
    return all(str(_at(event, path)) == value for path, value in when.items())


def _at(value: Any, path: str) -> Any:
    """Return what is found at a path like `message.content.0.text`; None if nothing is."""
    for part in path.split("."):
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value
