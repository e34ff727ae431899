"""A request and a response, in terms that are the same for every protocol."""

import re
from typing import Any

from msgspec import Struct

from tests.standin.script import Turn, in_turn, script_in


class Tool(Struct, frozen=True):
    """A tool that the program offers to the model."""

    name: str
    schema: dict[str, Any] = {}
    kind: str = "function"  # or "custom": one text instead of arguments
    space: str = ""


class Message(Struct, frozen=True):
    """One part of the conversation: what somebody said, or the result of a tool."""

    role: str  # user, assistant, system or result
    text: str


class Request(Struct, frozen=True):
    protocol: str
    model: str
    stream: bool
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...]
    size: int

    @property
    def edits_in_text(self) -> bool:
        """Whether changes are wanted as words instead of calls."""
        return not self.tools and any(
            "SEARCH/REPLACE" in message.text
            for message in self.messages
            if message.role != "result"
        )

    @property
    def is_work(self) -> bool:
        """Whether this is the conversation itself: no title, summary or commit message."""
        return bool(self.tools) or self.edits_in_text

    def script(self) -> tuple[list[Turn], int]:
        """Return the newest script, and how many tools have answered since."""
        results = 0
        since = ""
        for message in reversed(self.messages):
            if message.role == "result":
                results += 1
            elif message.role == "user" and (script := script_in(message.text)):
                return in_turn(script, since), results
            elif message.role == "user":
                since += message.text
        return [], results

    def results(self) -> str:
        """Return all that tools have answered, oldest first."""
        return "\n".join(message.text for message in self.messages if message.role == "result")

    def folder(self) -> str:
        """Return the working folder, as far as the program, or a brief, says where it is."""
        text = "\n".join(m.text for m in self.messages if m.role in ("system", "user"))
        moved = _MOVED.findall(text)
        found = _FOLDER.search(text)
        return moved[-1] if moved else found.group(1) if found else ""


_FOLDER = re.compile(
    r"(?:<cwd>|[Ww]orking directory(?: is)?:\s*|Workspace Directories:\*{0,2}\s*-?\s*"
    r"|working in(?: the)?:?\s*(?:directory:?)?\s*-?\s*)[`\"]?(/[^\n`\"<]*[^\s`\"<])"
)


_MOVED = re.compile(r"^ *it is   (/.+)$", re.MULTILINE)


class Call(Struct, frozen=True):
    id: str
    tool: Tool
    args: dict[str, Any]
    raw: str | None = None  # in place of the arguments: what a model got wrong, or free text


class Usage(Struct, frozen=True):
    """Exact by definition: these numbers are what the server says they are."""

    fresh: int = 0
    cached: int = 0
    output: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.fresh + other.fresh, self.cached + other.cached, self.output + other.output
        )


class Answer(Struct, frozen=True):
    id: str
    model: str
    text: str
    calls: tuple[Call, ...]
    usage: Usage
    cut_short: bool = False  # the most tokens were reached


class Reply(Struct, frozen=True):
    """An answer as a protocol has it: one body, or events of a stream."""

    body: dict[str, Any]
    events: tuple[tuple[str, dict[str, Any] | str], ...]  # (name or "", data)
