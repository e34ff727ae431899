"""What is wrong with a plan, place by place."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from msgspec import Struct

from corral.core.text import printable, shown
from corral.core.toml_lines import Place, line_of

MOST = 50


class Problem(Struct, frozen=True):
    """One thing that is wrong, or, as a warning, that may be meant otherwise."""

    line: int  # 0 if it is about no line
    where: str  # like task.login.needs
    text: str
    warning: bool = False

    def __str__(self) -> str:
        line = f"line {self.line}: " if self.line else ""
        return f"{line}{self.where}: {self.text}" if self.where else f"{line}{self.text}"


class Source(Struct, frozen=True):
    """A plan as it was written: nothing about it is believed yet."""

    data: object
    lines: dict[Place, int]
    problems: tuple[Problem, ...] = ()

    def line(self, place: Place) -> int:
        """Return the line of a place, or of what it is in."""
        return line_of(self.lines, place)


def unreadable(text: str, line: int = 0) -> Source:
    """Return what is left of a text that cannot be read at all."""
    return Source(None, {}, (Problem(line, "", shown(text)),))


def quoted(word: object) -> str:
    return f'"{printable(str(word))}"'


def nearest(word: str, known: Iterable[str], told: int = 0) -> str:
    """Return the question after a word that may be misspelt.

    It costs much more than all the rest, so not if so many problems were told that nobody reads it.
    """
    if told > MOST:
        return ""
    close = get_close_matches(word[:100], list(known), 1, 0.6)
    return f"; did you mean {quoted(close[0])}?" if close else ""


def errors(problems: Sequence[Problem]) -> list[Problem]:
    return [problem for problem in problems if not problem.warning]


def bounded(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Sort by line, errors first among equals, and say how many more there are than are told."""
    found = sorted(dict.fromkeys(problems), key=lambda problem: (problem.line, problem.warning))
    bad, doubtful = errors(found), [problem for problem in found if problem.warning]
    kept = {*bad[:MOST], *doubtful[:MOST]}
    told = [problem for problem in found if problem in kept]
    for more, kind in ((len(bad), False), (len(doubtful), True)):
        if more > MOST:
            name = "warnings" if kind else "problems"
            told.append(Problem(0, "", f"and {more - MOST:,} more {name}", kind))
    return tuple(told)
