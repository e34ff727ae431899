"""An engine that the user describes: any command, with the brief on stdin or in a file.

In its arguments `{prompt}`, `{model}`, `{home}`, `{tree}`, `{session}`, `{resume}` and `{mcp}`
stand for what they say; each argument stays one argument. Its output is read as JSON lines where
it has facts of ours in them, else as words.
"""

import re
from typing import Any

import msgspec

from corral.core.engine.facts import AnyFact, Fact, Finished, Said
from corral.world.engines.agents.output import JsonReader, bounded
from corral.world.engines.recipe import EngineJob, Prepared, Recipe, Stream, keys_for


def prepare(job: EngineJob) -> Prepared:
    known = {
        "prompt": job.prompt_file,
        "model": job.model,
        "home": job.home,
        "tree": job.tree,
        "session": job.session,
        "resume": job.resume,
        "mcp": job.mcp.url if job.mcp else "",
    }
    words = (*job.program, *job.args)
    return Prepared(
        argv=[_SIGN.sub(lambda sign: known[sign.group(1)], word) for word in words],
        keys=keys_for(job, job.key),
        stdin=job.prompt_file,
    )


_SIGN = re.compile(r"\{(prompt|model|home|tree|session|resume|mcp)\}")


class CommandReader(JsonReader):
    def event(self, event: dict[str, Any], stream: Stream) -> list[Fact]:
        try:
            return [msgspec.convert(event, AnyFact)]
        except msgspec.ValidationError:
            return [Said(bounded(event, self.job.longest))] if stream == "out" else []

    def words(self, text: str, stream: Stream) -> list[Fact]:
        return (
            [Said(bounded(text, self.job.longest))]
            if stream == "out"
            else super().words(text, stream)
        )

    def unended(self) -> list[Fact]:
        """A plain command says nothing about its end; that is what its exit code is for."""
        return [Finished(self.limited.trouble, self.limited.text)] if self.limited else []


COMMAND = Recipe(
    type="command",
    program="",
    prepare=prepare,
    reader=CommandReader,
    install="name the program in the profile's command",
    mcp=False,
    resumes=False,
    tokens=False,
    read_only=False,
)
