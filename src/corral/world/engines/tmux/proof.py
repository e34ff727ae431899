"""How it is known that an interactive program has a text: from its own record, else its screen.

A record is a hook: `mark` remembers how far it is, `has` says whether a text came since.
"""

import os
from collections.abc import Callable, Iterator
from os.path import expanduser, getsize, join
from typing import Any, Protocol

import msgspec

_LONGEST_PART = 60


class Record(Protocol):
    def mark(self) -> None: ...

    def has(self, text: str) -> bool: ...


class ClaudeTranscript:
    """The transcripts below CLAUDE_CONFIG_DIR: a line for each message, written as it is taken."""

    def __init__(self, home: str) -> None:
        self._folder = join(home, "projects")
        self._read: dict[str, int] = {}

    def mark(self) -> None:
        self._read = {path: getsize(path) for path in self._files()}

    def has(self, text: str) -> bool:
        wanted = squeezed(text)
        return any(wanted in squeezed(said) for path in self._files() for said in self._new(path))

    def _files(self) -> list[str]:
        return [
            join(folder, name)
            for folder, _, names in os.walk(self._folder)
            for name in names
            if name.endswith(".jsonl")
        ]

    def _new(self, path: str) -> Iterator[str]:
        with open(path, "rb") as file:
            file.seek(self._read.get(path, 0))
            for line in file:
                yield from _said_by_user(line)


def _said_by_user(line: bytes) -> Iterator[str]:
    try:
        entry: Any = msgspec.json.decode(line)
    except msgspec.DecodeError:
        return  # it is being written
    if not isinstance(entry, dict) or entry.get("type") not in ("user", "queue-operation"):
        return
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) else entry.get("content")
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        yield "\n".join(part for part in parts if isinstance(part, str))


def _claude() -> Record:
    return ClaudeTranscript(os.environ.get("CLAUDE_CONFIG_DIR") or expanduser("~/.claude"))


RECORDS: dict[str, Callable[[], Record]] = {"claude": _claude}


def squeezed(text: str) -> str:
    return " ".join(text.split())


def times_on_screen(text: str, screen: list[str]) -> int:
    """Count where a text's last line begins on the screen, however it is wrapped."""
    lines = [line for line in text.split("\n") if line.strip()]
    wanted = squeezed(lines[-1])[:_LONGEST_PART]
    return squeezed(" ".join(screen)).count(wanted)
