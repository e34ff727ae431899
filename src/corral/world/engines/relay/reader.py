"""An engine behind the relay: how it is started, and how the two reports of one run are merged.

About requests the relay knows more than the engine says: the status, the retry delay, and the
tokens of each response during the run. Everything else comes from the engine.
"""

import sys
from urllib.parse import urlsplit

from msgspec.structs import replace

from corral.core.engine.facts import Began, Fact, Finished, Limited, Spent, Trouble, Turn
from corral.world.engines.agents.self_reporting import fact_in
from corral.world.engines.recipe import EngineJob, OutputReader, Prepared, Recipe, Stream

PLACE = "http://relay.corral.invalid"  # a placeholder that the relay replaces by its own address
MARK = b"\x1e"  # begins each of the relay's facts; no engine starts a line like this

# The engine recovers from these, or ends: until it ends, they are not limits.
_ITS_OWN = frozenset({Trouble.OVERFLOW, Trouble.REQUEST})
# Trouble that is never about a response of the model's server.
_AT_HOME = frozenset({Trouble.SESSION, Trouble.BUDGET})


def prepared(recipe: Recipe, job: EngineJob) -> Prepared:
    """Return what to run: the engine behind a relay, if its model's address can be set."""
    origin = _origin(recipe.upstream(job))
    if not origin:
        return recipe.prepare(job)
    below = recipe.upstream(job).removeprefix(origin)
    found = recipe.prepare(replace(job, base_url=PLACE + below))
    return replace(found, argv=argv_of(origin, found.argv))


def argv_of(upstream: str, program: list[str]) -> list[str]:
    """Return the command that runs a program behind a relay."""
    # Isolated: neither the session's tree nor its variables can inject a module.
    python = [sys.executable, "-I", "-X", "utf8", "-m", "corral.world.engines.relay.server"]
    return [*python, upstream, *program]


def reader(recipe: Recipe, job: EngineJob) -> OutputReader:
    """Return the reader for the output of `prepared`."""
    inner = recipe.reader(job)
    return RelayedReader(recipe, job, inner) if _origin(recipe.upstream(job)) else inner


def _origin(url: str) -> str:
    """Return the part of an address that the relay replaces; empty if it cannot."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        return ""
    return f"{parts.scheme}://{parts.netloc}"


class RelayedReader:
    def __init__(self, recipe: Recipe, job: EngineJob, inner: OutputReader) -> None:
        self._inner = inner
        self._counts = not recipe.counts
        self._model = job.model
        self._refusal: Limited | None = None  # the last response, if it was a refusal
        self._seen = Spent()  # by the relay
        self._told: Spent | None = None  # by the engine, of the whole run
        self._ended = False
        self._passed = False  # the relay was used: not so behind a proxy

    def feed(self, line: bytes, stream: Stream) -> list[Fact]:
        if stream == "out" and line.startswith(MARK):
            return self._passing(line.removeprefix(MARK))
        return self._both(self._inner.feed(line, stream))

    def finish(self) -> list[Fact]:
        facts = self._both(self._inner.finish())
        if (met := self._refusal) and not self._ended:
            facts.append(Finished(met.trouble, met.text, None, met.retry_s, met.reset_at))
        return facts

    def _passing(self, line: bytes) -> list[Fact]:
        """Read a fact of the relay."""
        fact = fact_in(line)
        if fact is None:
            return []  # truncated
        self._passed = True
        if isinstance(fact, Spent):
            return self._counted(fact) if self._counts else []
        if isinstance(fact, Limited):
            self._refusal = fact
            return [fact] if _limits(fact) else []
        if isinstance(fact, Turn) and fact.heard:
            self._refusal = None
        self._ended = self._ended or isinstance(fact, Finished)
        return [fact]

    def _both(self, facts: list[Fact]) -> list[Fact]:
        """Complete the engine's facts by what the relay knows."""
        return [known for fact in facts for known in self._known(fact)]

    def _known(self, fact: Fact) -> list[Fact]:
        match fact:
            case Began():
                self._model = fact.model or self._model
            case Limited() if _limits(self._refusal) and fact.reset_at is None:
                return []  # the relay reported it already, with more detail
            case Finished():
                self._ended = True
                return [self._end(fact)]
            case Spent() if self._counts and fact.total:
                self._told = fact
                return [self._sum()]
            case Spent() if self._counts and self._passed:
                return []  # the relay reports it for each response
        return [fact]

    def _end(self, fact: Finished) -> Finished:
        met = self._refusal
        if met is None or fact.trouble is None or fact.trouble in _AT_HOME:
            return fact
        reset_at = fact.reset_at if met.reset_at is None else met.reset_at
        return replace(fact, trouble=met.trouble, retry_s=met.retry_s, reset_at=reset_at)

    def _counted(self, spent: Spent) -> list[Fact]:
        """Add up one response; the engine may have reported its total already."""
        spent = replace(spent, model=self._model or spent.model)
        seen = self._seen
        fresh, cached = seen.fresh + spent.fresh, seen.cached + spent.cached
        self._seen = Spent(fresh, cached, seen.output + spent.output, model=spent.model)
        return [spent] if self._told is None else [self._sum()]

    def _sum(self) -> Spent:
        """Return the total usage: of the two counts, the larger one."""
        told, seen = self._told, self._seen
        assert told is not None
        if told.fresh + told.cached + told.output >= seen.fresh + seen.cached + seen.output:
            return told
        return replace(seen, cost_usd=told.cost_usd, model=told.model or seen.model, total=True)


def _limits(refusal: Limited | None) -> bool:
    return refusal is not None and refusal.trouble not in _ITS_OWN
