"""An engine that the user describes: any command, with the brief on stdin or in a file.

The placeholders `{prompt}`, `{model}`, `{home}`, `{tree}`, `{session}`, `{resume}` and `{mcp}` in
its arguments are filled in; each argument stays one argument. Output lines that are facts of ours
are read as such, all others as text.
"""

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from corral.core.engine.facts import AnyFact, Fact, Finished, Said
from corral.world.engines.agents.output import JsonReader, bounded
from corral.world.engines.recipe import EngineJob, Prepared, Recipe

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def placeholders(job: EngineJob) -> dict[str, str]:
    return {
        "prompt": job.prompt_file,
        "model": job.model,
        "home": job.home,
        "tree": job.tree,
        "session": job.session,
        "resume": job.resume,
        "mcp": job.mcp.url if job.mcp else "",
    }


def filled(word: str, known: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda found: known.get(found.group(1), found.group()), word)


def prepare(job: EngineJob) -> Prepared:
    known = placeholders(job)
    argv = [filled(word, known) for word in (*job.program, *job.args)]
    return Prepared(argv=argv, keys=job.keys(job.key), stdin=job.prompt_file)


class CommandReader(JsonReader):
    def event(self, event: dict[str, Any]) -> list[Fact]:
        try:
            return [msgspec.convert(event, AnyFact)]
        except msgspec.ValidationError:
            return [Said(bounded(event, self.job.longest))] if self.stream == "out" else []

    def words(self, text: str) -> list[Fact]:
        if self.stream == "out":
            return [Said(bounded(text, self.job.longest))]
        return super().words(text)

    def unended(self) -> list[Fact]:
        """Add nothing about the end of a plain command: its exit code says it."""
        return [Finished(self.limited.trouble, self.limited.text)] if self.limited else []


COMMAND = Recipe(
    type="command",
    program="",
    prepare=prepare,
    reader=CommandReader,
    install="name the program in the profile's command",
    upstream=lambda job: "",
    mcp=False,
    resumes=False,
)
