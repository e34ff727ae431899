"""Reads usage and errors from a model's response while it streams. Pure, in bounded memory.

An error may occur long after the status was sent. One reader serves Anthropic Messages, OpenAI Chat
and Responses, and Gemini: the last value of each figure holds. A response is a stream of events
(`data: {…}` lines) or one JSON text.
"""

from typing import Any

import msgspec

from corral.core.engine.facts import Spent

_LONGEST = 8 << 20  # bytes of a line, or of a whole response; a longer one is ignored
_MARKS = (b'"usage', b'"error"')  # in every event that matters, and in few others
_WORDS = 2000  # characters of an error
_HOLDERS = ("message", "response")  # in events that contain a response, or its beginning


class ResponseReader:
    """One response, as far as it has arrived."""

    def __init__(self, *, events: bool) -> None:
        self._events = events
        self._rest = bytearray()
        self._lost = False  # the current line was too long
        self._usage: dict[str, Any] = {}
        self._model = ""
        self.error = ""  # in the server's words

    def feed(self, data: bytes) -> None:
        *lines, rest = data.split(b"\n") if self._events else [data]
        for line in lines:
            self._keep(line)
            self._take()
        self._keep(rest)

    def spent(self) -> Spent | None:
        """Return the usage of a response that has ended; None if it does not say."""
        self._take()
        return spent_of(self._usage, self._model)

    def _keep(self, data: bytes) -> None:
        self._lost = self._lost or len(self._rest) + len(data) > _LONGEST
        if self._lost:
            self._rest.clear()
        else:
            self._rest += data

    def _take(self) -> None:
        """Read the line that is now complete."""
        text = bytes(self._rest)
        self._rest.clear()
        self._lost = False
        if any(mark in text for mark in _MARKS):
            self._read(text.removeprefix(b"data:"))

    def _read(self, text: bytes) -> None:
        try:
            event = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return  # truncated, or something else
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
                model = one.get("model") or one.get("modelVersion")
                self._model = (isinstance(model, str) and model[:200]) or self._model


def spent_of(usage: dict[str, Any], model: str = "") -> Spent | None:
    """Return the usage from the figures of any of the protocols; None if there are none."""
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
        # In Responses, cached tokens are part of the input; in Messages they are extra.
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
