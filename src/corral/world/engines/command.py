"""An engine that the user describes: any command, with the brief on stdin or in a file.

In its arguments `{prompt}`, `{model}`, `{home}`, `{tree}`, `{session}` and `{resume}` stand for
what they say; each argument stays one argument. Its output is read as JSON lines where it has
facts of ours in them, else as words.
"""

from typing import Any

import msgspec

from corral.core.facts import AnyFact, Fact, Finished, Said
from corral.world.engines.reading import JsonReader, bounded
from corral.world.engines.recipe import Job, Prepared, Recipe, Stream

_STANDS_FOR = {
    "{prompt}": "prompt_file",
    "{model}": "model",
    "{home}": "home",
    "{tree}": "tree",
    "{session}": "session",
    "{resume}": "resume",
}


def prepare(job: Job) -> Prepared:
    return Prepared(
        argv=[_filled(word, job) for word in (*job.program, *job.args)],
        env={
            "CORRAL_MODEL": job.model,
            "CORRAL_HOME": job.home,
            "CORRAL_RESUME": job.resume,
            **({"CORRAL_MCP": job.mcp.url} if job.mcp and job.mcp.url else {}),
        },
        keys={job.key: job.key} if job.key else {},
        stdin=job.prompt_file,
    )


def _filled(word: str, job: Job) -> str:
    for sign, name in _STANDS_FOR.items():
        word = word.replace(sign, str(getattr(job, name)))
    return word


class CommandReader(JsonReader):
    def event(self, event: dict[str, Any], stream: Stream) -> list[Fact]:
        try:
            return [msgspec.convert(event, AnyFact)]
        except msgspec.ValidationError:
            return [Said(bounded(event))] if stream == "out" else []

    def words(self, text: str, stream: Stream) -> list[Fact]:
        return [Said(bounded(text))] if stream == "out" else super().words(text, stream)

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
