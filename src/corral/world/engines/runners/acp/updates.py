"""Turns an agent's updates into facts.

Text arrives in pieces of a few letters, which are joined; a tool call is reported once its input is
known, which some agents send only with a later update.
"""

import re
from typing import Any

from acp import schema
from msgspec import Struct

from corral.core.engine.facts import Answered, Limited, Said, Spent, Used, Window
from corral.world.engines.runners.emit import shortened, tell
from corral.world.engines.troubles import status_in, trouble_of

_SAID_AT_ONCE = 4000
# Copilot reports its retries as text, between the model's.
_RETRYING = re.compile(r"\s*(?:Info|Warning): .{0,200}\bretrying\b", re.IGNORECASE | re.DOTALL)
_CALLS = 1000  # remembered at most
_WRITES = ("edit", "delete", "move")
_COMMANDS = ("command", "cmd", "script")
_PATCHES = ("patchText", "patch", "input")
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$", re.MULTILINE)
_PATHS = ("file_path", "filePath", "filepath", "path", "abs_path")


class AcpCall(Struct):
    """A tool call, as far as it is known."""

    tool: str = ""
    what: str = ""
    paths: tuple[str, ...] = ()
    told: bool = False
    over: bool = False

    @property
    def writes(self) -> bool:
        return self.tool in _WRITES


class Updates:
    def __init__(self) -> None:
        self.last_said = ""  # the text since the last tool call of this turn
        self.history: list[str] | None = None  # user messages, during a replay
        self.any = False  # whether this turn had any update
        self._said = ""
        self._calls: dict[str, AcpCall] = {}
        self._window: Window | None = None
        self._cost = 0.0
        self._cost_told = 0.0

    def begin_turn(self) -> None:
        self.last_said, self.any = "", False
        self._calls.clear()

    def take(self, update: Any) -> None:
        """Take in one update."""
        if self.history is not None:
            if isinstance(update, schema.UserMessageChunk):
                self.history.append(_text(update.content))
            return
        self.any = True
        if isinstance(update, schema.AgentMessageChunk):
            text = _text(update.content)
            if _RETRYING.match(text):
                tell(Limited(trouble=trouble_of(status_in(text), text), text=shortened(text, 300)))
            else:
                self._say(text)
        elif isinstance(update, schema.ToolCall | schema.ToolCallUpdate):
            self.flush()
            self.last_said = ""
            self.call(update)
        elif isinstance(update, schema.UsageUpdate):
            window = Window(used=update.used, size=update.size)
            if window != self._window:
                tell(window)
            self._window = window
            if update.cost is not None and update.cost.currency.upper() == "USD":
                self._cost = update.cost.amount

    def call(self, update: schema.ToolCall | schema.ToolCallUpdate) -> AcpCall:
        """Merge an update into a tool call, and return all that is known of it."""
        call = self._calls.setdefault(update.tool_call_id, AcpCall())
        while len(self._calls) > _CALLS:
            self._calls.pop(next(iter(self._calls)))
        # A permission request knows the kind of its call less well than the call itself.
        if update.kind and (update.kind != "other" or not call.tool):
            call.tool = update.kind
        call.what = _what(update) or call.what
        call.paths = _paths(update) or call.paths
        over = update.status in ("completed", "failed")
        # Some agents do not send all of the input while a call is pending.
        if over or ((update.raw_input or call.paths) and update.status != "pending"):
            self.tell_call(update.tool_call_id, call)
        if over and not call.over:
            call.over = True
            ok = update.status == "completed"
            tell(Answered(call=update.tool_call_id, ok=ok, text=shortened(_answer(update))))
        return call

    def tell_call(self, name: str, call: AcpCall) -> None:
        """Report a tool call, once."""
        if not call.told:
            call.told = True
            what, paths = shortened(call.what, 300), call.paths if call.writes else ()
            tell(Used(tool=call.tool or "other", what=what, paths=paths, call=name))

    def flush(self) -> None:
        """Report the text that was held back."""
        if self._said.strip():
            tell(Said(text=self._said))
        self._said = ""

    def spent(self, answer: schema.PromptResponse, raw: Any) -> None:
        """Report the usage of a turn."""
        cost = self._cost - self._cost_told if self._cost else None
        self._cost_told = self._cost
        if answer.usage is not None:
            used = answer.usage
            cached = used.cached_read_tokens or 0
            output = used.output_tokens + (used.thought_tokens or 0)
            # Some count cached tokens as input as well: the total shows it.
            inside = used.input_tokens + output >= used.total_tokens
            fresh = used.input_tokens - (cached if inside else 0) + (used.cached_write_tokens or 0)
            tell(Spent(fresh=max(0, fresh), cached=cached, output=output, cost_usd=cost))
        elif (quota := _quota(raw)) is not None:
            tell(Spent(fresh=quota[0], output=quota[1], cost_usd=cost))
        elif cost is not None:
            tell(Spent(cost_usd=cost))

    def _say(self, text: str) -> None:
        self._said += text
        self.last_said = (self.last_said + text)[-_SAID_AT_ONCE:]
        while len(self._said) >= _SAID_AT_ONCE:
            tell(Said(text=self._said[:_SAID_AT_ONCE]))
            self._said = self._said[_SAID_AT_ONCE:]


def _text(content: Any) -> str:
    return content.text if isinstance(content, schema.TextContentBlock) else ""


def _what(update: schema.ToolCall | schema.ToolCallUpdate) -> str:
    given = update.raw_input if isinstance(update.raw_input, dict) else {}
    for key in _COMMANDS:
        command = given.get(key)
        if isinstance(command, list):
            command = " ".join(str(word) for word in command)
        if isinstance(command, str) and command:
            return command
    return update.title or ""


def _paths(update: schema.ToolCall | schema.ToolCallUpdate) -> tuple[str, ...]:
    found = [place.path for place in update.locations or ()]
    found += [
        part.path
        for part in update.content or ()
        if isinstance(part, schema.FileEditToolCallContent)
    ]
    if isinstance(update.raw_input, dict):
        found += [path for key in _PATHS if isinstance(path := update.raw_input.get(key), str)]
        patches = [text for key in _PATCHES if isinstance(text := update.raw_input.get(key), str)]
        found += [path.strip() for text in patches for path in _PATCHED.findall(text)]
    return tuple(dict.fromkeys(path for path in found if path))


def _answer(update: schema.ToolCall | schema.ToolCallUpdate) -> str:
    parts = [
        _text(part.content)
        for part in update.content or ()
        if isinstance(part, schema.ContentToolCallContent)
    ]
    if not any(parts) and isinstance(update.raw_output, dict):
        parts = [str(update.raw_output.get(key) or "") for key in ("output", "error")]
    return "\n".join(part for part in parts if part)


def _quota(raw: Any) -> tuple[int, int] | None:
    """Return the input and output tokens that gemini reports in its own way."""
    try:
        count = raw["_meta"]["quota"]["token_count"]
        return int(count["input_tokens"]), int(count["output_tokens"])
    except (KeyError, TypeError, ValueError):
        return None
