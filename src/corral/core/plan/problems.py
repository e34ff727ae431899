"""The problems of a plan, with their places."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from corral.core.text import closest, printable, shown
from corral.core.toml_lines import Place, line_of

MOST = 50


class Problem(Struct, frozen=True):
    """An error in a plan, or a warning about something that may be unintended."""

    line: int  # 0 if it has none
    where: str  # like task.login.needs
    text: str
    warning: bool = False

    def __str__(self) -> str:
        line = f"line {self.line}: " if self.line else ""
        return f"{line}{self.where}: {self.text}" if self.where else f"{line}{self.text}"


class Source(Struct, frozen=True):
    """A parsed plan that is not validated yet."""

    data: object
    lines: dict[Place, int]
    problems: tuple[Problem, ...] = ()

    def line(self, place: Place) -> int:
        """Return the line of a place, or of the innermost part around it."""
        return line_of(self.lines, place)


def unreadable(text: str, line: int = 0) -> Source:
    """Return the source of a text that cannot be parsed at all."""
    return Source(None, {}, (Problem(line, "", shown(text)),))


def quoted(word: object) -> str:
    return f'"{printable(str(word))}"'


def nearest(word: str, known: Iterable[str], told: int = 0) -> str:
    """Return a suggestion for a word that may be misspelt.

    This is expensive, so it is skipped once too many problems have been reported.
    """
    close = closest(word, known) if told <= MOST else ""
    return f"; did you mean {quoted(close)}?" if close else ""


def errors(problems: Sequence[Problem]) -> list[Problem]:
    return [problem for problem in problems if not problem.warning]


def bounded(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Sort by line, errors first, and say how many problems were left out."""
    found = sorted(dict.fromkeys(problems), key=lambda problem: (problem.line, problem.warning))
    bad, doubtful = errors(found), [problem for problem in found if problem.warning]
    kept = {*bad[:MOST], *doubtful[:MOST]}
    told = [problem for problem in found if problem in kept]
    for more, kind in ((len(bad), False), (len(doubtful), True)):
        if more > MOST:
            name = "warnings" if kind else "problems"
            told.append(Problem(0, "", f"and {more - MOST:,} more {name}", kind))
    return tuple(told)
