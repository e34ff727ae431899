"""What a model's answer says about itself, read while it passes: pure, in bounded memory.

That is what it has used, and what went wrong in its middle, when the status had long been sent. One
reading does for Anthropic's Messages, OpenAI's Chat and Responses, and Gemini: each names its
figures once or several times in an answer, every time anew, so the last word on each one holds.
An answer is a stream of events (`data: {…}` lines) or one JSON text.
"""

from typing import Any

import msgspec

from corral.core.engine.facts import Spent

_LONGEST = 8 << 20  # bytes of a line, or of an answer that is no stream; a longer one says nothing
_MARKS = (b'"usage', b'"error"')  # are in every event that matters, and in few others
_WORDS = 2000  # characters of an error
_HOLDERS = ("message", "response")  # events that have an answer, or its beginning, in them


class Hearing:
    """One answer, as far as it has passed."""

    def __init__(self, *, events: bool) -> None:
        self._events = events
        self._rest = bytearray()
        self._lost = False  # what is in the rest's place was too long
        self._usage: dict[str, Any] = {}
        self._model = ""
        self.error = ""  # in the words of the other side

    def feed(self, data: bytes) -> None:
        *lines, rest = data.split(b"\n") if self._events else [data]
        for line in lines:
            self._keep(line)
            self._take()
        self._keep(rest)

    def spent(self) -> Spent | None:
        """Return what was used, once the answer has ended; None if it does not say."""
        self._take()
        return spent_of(self._usage, self._model)

    def _keep(self, data: bytes) -> None:
        self._lost = self._lost or len(self._rest) + len(data) > _LONGEST
        if self._lost:
            self._rest.clear()
        else:
            self._rest += data

    def _take(self) -> None:
        """Read the text that is complete now."""
        text = bytes(self._rest)
        self._rest.clear()
        self._lost = False
        if any(mark in text for mark in _MARKS):
            self._read(text.removeprefix(b"data:"))

    def _read(self, text: bytes) -> None:
        try:
            event = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return  # an answer that was cut, or says something else
        for one in event if isinstance(event, list) else [event]:
            if isinstance(one, dict):
                self._note(one)

    def _note(self, event: dict[str, Any]) -> None:
        inner = (event.get(name) for name in _HOLDERS)
        for one in (event, *(found for found in inner if isinstance(found, dict))):
            error = one.get("error") or (one if one.get("type") == "error" else None)
            self.error = msgspec.json.encode(error).decode()[:_WORDS] if error else self.error
            usage = one.get("usage") or one.get("usageMetadata")
            if isinstance(usage, dict):
                self._usage |= {name: value for name, value in usage.items() if value is not None}
                self._model = _word(one.get("model") or one.get("modelVersion")) or self._model


def spent_of(usage: dict[str, Any], model: str = "") -> Spent | None:
    """Return what was used, by the figures of any of the protocols; None if there are none."""
    if "promptTokenCount" in usage:
        cached = _count(usage, "cachedContentTokenCount")
        sent = _count(usage, "promptTokenCount") + _count(usage, "toolUsePromptTokenCount")
        output = _count(usage, "candidatesTokenCount") + _count(usage, "thoughtsTokenCount")
        return Spent(sent - cached, cached, output, model=model)
    if "prompt_tokens" in usage:
        cached = _count(usage.get("prompt_tokens_details"), "cached_tokens")
        sent, output = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
        return Spent(sent - cached, cached, output, model=model)
    if "input_tokens" in usage:
        # With Responses, what was cached is a part of the input; with Messages it comes on top.
        within = _count(usage.get("input_tokens_details"), "cached_tokens")
        fresh = _count(usage, "input_tokens") - within
        return Spent(
            fresh + _count(usage, "cache_creation_input_tokens"),
            within + _count(usage, "cache_read_input_tokens"),
            _count(usage, "output_tokens"),
            model=model,
        )
    return None


def _count(usage: Any, name: str) -> int:
    found = usage.get(name) if isinstance(usage, dict) else None
    return max(0, int(found)) if isinstance(found, int | float) else 0


def _word(value: Any) -> str:
    return value[:200] if isinstance(value, str) else ""
