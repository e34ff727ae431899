"""How it is known that an interactive program has a text: from its own record, else its screen."""

from typing import Protocol

_LONGEST_PART = 60


class ProgramRecord(Protocol):
    """A program's own record of what it was told."""

    def mark(self) -> None:
        """Remember how far it is."""

    def has(self, text: str) -> bool:
        """Say whether a text came since the mark; without one, whether it ever did."""


def squeezed(text: str) -> str:
    return " ".join(text.split())


def times_on_screen(text: str, screen: list[str]) -> int:
    """Count where a text's last line begins on the screen, however it is wrapped."""
    lines = [line for line in text.split("\n") if line.strip()]
    wanted = squeezed(lines[-1])[:_LONGEST_PART]
    return squeezed(" ".join(screen)).count(wanted)
