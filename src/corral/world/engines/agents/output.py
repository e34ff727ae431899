"""What readers share: JSON lines, bounded texts, and a guaranteed final fact."""

import re
from typing import Any

import msgspec
from msgspec.structs import replace

from corral.core.engine.facts import PASSING, Answered, Fact, Finished, Limited, Said, Spent, Used
from corral.core.redaction import redacted
from corral.world.engines.recipe import EngineJob, Stream
from corral.world.engines.troubles import reset_of, retry_of, status_in, trouble_of

_TEXT = 8_000
_SHORT = 400
_KEPT_ERRORS = 20
_PATHS = ("file_path", "filePath", "filepath", "path")
# Most of what programs print to stderr is noise.
_BAD = re.compile(
    r"error|fail|cannot|can't|could not|invalid|refus|denied|unable|not found|required|unknown"
    r"|missing|exceeded|\bno \w",
    re.IGNORECASE,
)


class JsonReader:
    """Reads a stream of JSON objects; errors in other lines are kept for the end of the run."""

    def __init__(self, job: EngineJob) -> None:
        self.job = job
        self.ended = False
        self.stream: Stream = "out"  # of the line that is being read
        self.limited: Limited | None = None  # the last one, if nothing succeeded since
        self.loose: list[str] = []

    def feed(self, line: bytes, stream: Stream) -> list[Fact]:
        self.stream, text = stream, line.strip()
        event = _object(text)
        if event is not None:
            facts = self.event(event)
        else:
            facts = self.words(text.decode(errors="replace")) if text else []
        facts = [self._with_wait(fact) for fact in facts]
        for fact in facts:
            if isinstance(fact, Limited):
                self.limited = fact
            elif isinstance(fact, Said | Used | Answered | Spent):
                self.limited = None
            self.ended = self.ended or isinstance(fact, Finished)
        return facts

    def _with_wait(self, fact: Fact) -> Fact:
        """Complete a final fact with the retry delay of the rate limit before it."""
        before = self.limited
        if before is None or not isinstance(fact, Finished) or fact.trouble not in PASSING:
            return fact
        return replace(
            fact,
            retry_s=fact.retry_s if fact.retry_s is not None else before.retry_s,
            reset_at=before.reset_at or fact.reset_at,  # exact, unlike a time found in words
        )

    def event(self, event: dict[str, Any]) -> list[Fact]:
        raise NotImplementedError

    def words(self, text: str) -> list[Fact]:
        """Read a line that is not an object; by default errors on stderr are kept for the end."""
        if self.stream == "err":
            self.keep(text)
        return []

    def keep(self, text: str) -> None:
        if _BAD.search(text) and not text.lower().lstrip("[").startswith("warn"):
            self.loose = [*self.loose[1 - _KEPT_ERRORS :], text[:_TEXT]]

    def finish(self) -> list[Fact]:
        return [*self.late(), *([] if self.ended else self.unended())]

    def late(self) -> list[Fact]:
        """Return the facts that the engine left in files."""
        return []

    def unended(self) -> list[Fact]:
        """Return why a run without a final event ended, if anything says so."""
        if self.limited:
            found = self.limited
            return [Finished(found.trouble, found.text, None, found.retry_s, found.reset_at)]
        return [failed("\n".join(self.loose))] if self.loose else []

    def own(self, spent: Spent) -> Spent:
        """Subtract the usage of earlier runs from the total of the whole conversation."""
        before, cost = self.job.before or Spent(), spent.cost_usd
        return replace(
            spent,
            fresh=max(0, spent.fresh - before.fresh),
            cached=max(0, spent.cached - before.cached),
            output=max(0, spent.output - before.output),
            cost_usd=cost if cost is None else max(0.0, cost - (before.cost_usd or 0.0)),
        )


def _object(text: bytes) -> dict[str, Any] | None:
    if not text.startswith(b"{"):
        return None
    try:
        found = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return None
    return found if isinstance(found, dict) else None


def stored(path: str) -> dict[str, Any]:
    """Return the JSON object in an engine's file; empty if it is missing or incomplete."""
    try:
        with open(path, "rb") as file:
            return _object(file.read().strip()) or {}
    except OSError:
        return {}


def failed(text: str, status: int | None = None, *, retry_s: float | None = None) -> Finished:
    status = status if status is not None else status_in(text)
    return Finished(
        trouble=trouble_of(status, text),
        text=bounded(text),
        status=status,
        retry_s=retry_s if retry_s is not None else retry_of(text),
        reset_at=reset_of(text),
    )


def retried(text: str) -> Limited:
    """Return the limit in an engine's message that it retries."""
    trouble = trouble_of(status_in(text), text)
    return Limited(trouble, retry_s=retry_of(text), text=bounded(text))


def bounded(text: object, most: int = _TEXT) -> str:
    said = text if isinstance(text, str) else "" if text is None else _flat(text)
    # Redact before cutting: half a key would not be recognized.
    return said if len(said) <= most else f"{redacted(said)[:most]}…"


def what_of(arguments: Any) -> str:
    """Return what distinguishes two calls of one tool: a command, a path, or all arguments."""
    if isinstance(arguments, dict):
        for key in ("command", "cmd", *_PATHS, "query"):
            if isinstance(arguments.get(key), str):
                return bounded(arguments[key], _SHORT)
    return bounded(arguments, _SHORT)


def used(tool: str, given: Any, call: str, *, writes: bool = False) -> Used:
    """Return the call of a tool with its arguments, which name the files if it writes any."""
    found = [given.get(key) for key in _PATHS] if writes and isinstance(given, dict) else []
    return Used(tool, what_of(given), tuple(path for path in found if isinstance(path, str)), call)


def _flat(value: Any) -> str:
    if isinstance(value, list):
        parts = [part.get("text", "") if isinstance(part, dict) else str(part) for part in value]
        return "\n".join(str(part) for part in parts)
    try:
        return dumped(value)
    except TypeError:
        return str(value)


def dumped(value: Any) -> str:
    return msgspec.json.encode(value).decode()
