"""Programs that print facts themselves, one JSON object per line: users' own, and our runners.

    {"fact":"began","session":"s-1","model":"m"}
    {"fact":"spent","fresh":1200,"output":80,"cost_usd":0.004}
    {"fact":"finished"}

Other lines are ignored. A program that ends without `finished` is taken to have crashed.
"""

import msgspec
from msgspec.structs import replace

from corral.core.engine.facts import AnyFact, Began, Fact
from corral.world.engines.recipe import EngineJob, Prepared, Recipe, Stream

_DECODER: msgspec.json.Decoder[AnyFact] = msgspec.json.Decoder(AnyFact)


def fact_in(line: bytes) -> AnyFact | None:
    """Return the fact in a line; None if it is another object, or truncated."""
    try:
        return _DECODER.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


class FactsReader:
    def __init__(self, job: EngineJob) -> None:
        self.job = job

    def feed(self, line: bytes, stream: Stream) -> list[Fact]:
        fact = fact_in(line) if stream == "out" and line.lstrip().startswith(b"{") else None
        if fact is None:
            return []
        if isinstance(fact, Began) and not fact.model:
            # Prices depend on the model: unless it says otherwise, it is the configured one.
            fact = replace(fact, model=self.job.model)
        return [fact]

    def finish(self) -> list[Fact]:
        return []


def _prepare(job: EngineJob) -> Prepared:
    given = {
        "CORRAL_MODEL": job.model,
        "CORRAL_RESUME": job.resume,
        "CORRAL_BASE_URL": job.base_url,
    }
    return Prepared(
        argv=[*job.program, *job.args],
        env=job.env | {name: value for name, value in given.items() if value},
        stdin=job.prompt_file,
    )


TOLD = Recipe(
    type="command",
    program="",
    prepare=_prepare,
    reader=FactsReader,
    install="put it on PATH, or give its path as the first word of `command`",
    upstream=lambda job: "",
    commits=True,
    first_output_s=0,
)
