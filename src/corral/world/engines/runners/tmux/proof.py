"""Proof that an interactive program received a text: its own record, else its screen."""

from typing import Protocol

_LONGEST_PART = 60


class ProgramRecord(Protocol):
    """A program's own record of what it was told."""

    def mark(self) -> None:
        """Remember the current end of the record."""

    def has(self, text: str) -> bool:
        """Say whether a text was recorded since the mark, or at all if there is no mark."""


def squeezed(text: str) -> str:
    return " ".join(text.split())


def times_on_screen(text: str, screen: list[str]) -> int:
    """Count the places where a text's last line begins on the screen, however it wraps."""
    lines = [line for line in text.split("\n") if line.strip()]
    wanted = squeezed(lines[-1])[:_LONGEST_PART]
    return squeezed(" ".join(screen)).count(wanted)
