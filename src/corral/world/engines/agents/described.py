"""Engines described in the configuration: data instead of a module.

The command line is the profile's `command` and `args`, plus `resume` when there is a conversation
to resume and `mcp` when there are tools. The output is read like that of a known engine
(`output = "codex"`), or by `lines`, which map JSON objects to facts.
"""

from functools import partial
from typing import Any

import msgspec
from msgspec.structs import replace

from corral.core.config import EngineSettings, LineSettings
from corral.core.engine.facts import AnyFact, Fact, Limited
from corral.world.engines.agents.command import COMMAND, filled, placeholders
from corral.world.engines.agents.output import JsonReader, bounded, dumped, failed
from corral.world.engines.agents.self_reporting import TOLD
from corral.world.engines.recipe import EngineJob, Prepared, Recipe
from corral.world.engines.registry import ENGINES, find


def recipe_of(profile: EngineSettings) -> Recipe:
    """Return the recipe for a profile's engine."""
    if profile.type != "command":
        return find(profile.type)
    if profile.output == "facts":
        return TOLD
    spoken = profile.transport == "acp"  # the protocol covers all of it
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
        cost=like.cost if like else any("cost_usd" in line.take for line in profile.lines),
    )


def _prepare(profile: EngineSettings, job: EngineJob) -> Prepared:
    mcp = job.mcp
    server = {"type": "http", "url": mcp.url, "headers": mcp.headers("${NAME}")} if mcp else {}
    known = placeholders(job) | {
        "id": job.new_id,
        "url": job.base_url,
        "url_v1": job.openai_url,
        "mcp_key": mcp.token if mcp else "",
        # In the shape that most engines accept; the key only by name.
        "mcp_servers": dumped({"mcpServers": {mcp.name: server}}) if mcp else "",
    }
    words = [*job.program, *job.args]
    words += profile.resume if job.resume else profile.fresh
    words += profile.mcp if mcp else ()
    return Prepared(
        argv=[filled(word, known) for word in words],
        env=job.env | {name: filled(value, known) for name, value in profile.set.items()},
        keys=job.keys(profile.key or job.key),
        stdin=job.prompt_file,
    )


class _LineReader(JsonReader):
    def __init__(self, lines: tuple[LineSettings, ...], job: EngineJob) -> None:
        super().__init__(job)
        self._lines = lines

    def event(self, event: dict[str, Any]) -> list[Fact]:
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
            fact: Fact = msgspec.convert({"fact": line.fact, **given}, AnyFact, strict=False)
        except msgspec.ValidationError:
            return None  # a value has another type: the line means something else
        return fact


def _fits(event: dict[str, Any], when: dict[str, str]) -> bool:
    return all(str(_at(event, path)) == value for path, value in when.items())


def _at(value: Any, path: str) -> Any:
    """Return the value at a path like `message.content.0.text`, or None."""
    for part in path.split("."):
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value
