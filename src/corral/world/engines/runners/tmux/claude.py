"""Claude Code on a terminal: its transcripts, and the questions it asks at its first start."""

import os
from collections.abc import Iterator
from os.path import exists, getsize, join
from typing import Any

import msgspec


def seed(home: str, tree: str, key: str) -> None:
    """Answer the questions of its first start in a new home: theme, key, trust in the tree."""
    path = join(home, ".claude.json")
    if exists(path):
        return
    answers = {
        "hasCompletedOnboarding": True,
        "customApiKeyResponses": {"approved": [key[-20:]] if key else [], "rejected": []},
        "projects": {tree: {"hasTrustDialogAccepted": True}},
    }
    os.makedirs(home, mode=0o700, exist_ok=True)
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(msgspec.json.encode(answers))


class Transcript:
    """The transcripts below CLAUDE_CONFIG_DIR: a line per message, written on receipt."""

    def __init__(self, home: str) -> None:
        self._folder = join(home, "projects")
        self._read: dict[str, int] = {}

    def mark(self) -> None:
        """Remember the current ends of the transcripts."""
        self._read = {path: getsize(path) for path in self._files()}

    def has(self, text: str) -> bool:
        """Say whether a text was recorded since the mark, or at all if there is no mark."""
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


def squeezed(text: str) -> str:
    return " ".join(text.split())


def _said_by_user(line: bytes) -> Iterator[str]:
    try:
        entry: Any = msgspec.json.decode(line)
    except msgspec.DecodeError:
        return  # still being written
    if not isinstance(entry, dict) or entry.get("type") not in ("user", "queue-operation"):
        return
    message = entry.get("message")
    content = message.get("content") if isinstance(message, dict) else entry.get("content")
    if isinstance(content, str):
        yield content
    elif isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        yield "\n".join(part for part in parts if isinstance(part, str))
