"""What the demo shows while it runs: nothing, plain lines, or a few lines redrawn in place."""

import sys
import textwrap

from msgspec import Struct

from corral.interfaces.cli.output import STATE_STYLE, columns, cut, fancy, paint, width

_STYLES = {
    "refused": "magenta",
    "killed": "red",
    "stopped": "red",
    "takeover": "yellow",
    "woken": "cyan",
}
_ALWAYS = ("backlog", "todo", "doing", "review", "done")
_BAR = 40

Span = tuple[str, str]  # a text and its style


class Progress(Struct, frozen=True):
    board: dict[str, int]  # how many tasks are in each column
    claimers: int
    events: int
    events_s: float

    @property
    def total(self) -> int:
        return sum(self.board.values())

    @property
    def landed(self) -> int:
        return self.board["done"]

    @property
    def percent(self) -> int:
        return 100 * self.landed // self.total


class Note(Struct, frozen=True):
    """Something worth telling: what kind of thing, and the story."""

    what: str
    text: str


class Screen:
    """Shows nothing, for `--json`; remembers the notes."""

    def __init__(self) -> None:
        self.notes: list[Note] = []

    def say(self, text: str, *styles: str) -> None:
        """Show a paragraph."""

    def note(self, what: str, text: str) -> None:
        """Tell what just happened."""
        self.notes.append(Note(what, text))

    def tick(self, promise: str, fault: str) -> None:
        """Show whether a promise was kept: it was if no fault was found."""

    def show(self, progress: Progress) -> None:
        """Show how far the work is."""

    def close(self) -> None:
        """Keep what is there, and go on below it."""


class Lines(Screen):
    """One line for each tenth of the work and for each note: for pipes."""

    def __init__(self) -> None:
        super().__init__()
        self._tenth = -1

    def say(self, text: str, *styles: str) -> None:
        self._print("\n".join(paint(line, *styles) for line in _wrapped(text, 0)))

    def note(self, what: str, text: str) -> None:
        super().note(what, text)
        self._lead(what.ljust(9), _STYLES[what], text)

    def tick(self, promise: str, fault: str) -> None:
        if fault:
            self._lead("✗ ", "red", f"{promise}: {fault}")
        else:
            self._lead("✓ ", "green", promise)

    def show(self, progress: Progress) -> None:
        tenth = progress.percent // 10
        if tenth > self._tenth:
            self._tenth = tenth
            _, *rest = _block(progress)
            texts = (text for line in rest for text, _ in line)
            self._print(f"{progress.percent:>3} %    {'  '.join(texts)}")

    def _lead(self, lead: str, style: str, text: str) -> None:
        first, *more = _wrapped(text, len(lead))
        lines = [paint(lead, style) + first, *(" " * len(lead) + line for line in more)]
        self._print("\n".join(lines))

    def _print(self, text: str) -> None:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


class Terminal(Lines):
    """Notes scroll by, above a bar, the board and the figures."""

    def __init__(self) -> None:
        super().__init__()
        self._drawn: list[str] = []

    def show(self, progress: Progress) -> None:
        erase = self._erase()
        self._drawn = ["", *(_fitted(line, columns() - 1) for line in _block(progress))]
        self._write(erase)

    def close(self) -> None:
        if self._drawn:
            self._drawn = []
            sys.stdout.write("\n")

    def _print(self, text: str) -> None:
        self._write(f"{self._erase()}{text}\n")

    def _erase(self) -> str:
        return f"\x1b[{len(self._drawn)}A\x1b[J" if self._drawn else ""

    def _write(self, above: str) -> None:
        """Write in one go, so that nothing flickers."""
        sys.stdout.write(above + "".join(f"{line}\n" for line in self._drawn))
        sys.stdout.flush()


def for_people() -> Screen:
    return Terminal() if fancy() else Lines()


def _block(progress: Progress) -> list[list[Span]]:
    """Return the bar, the board and the figures."""
    filled = _BAR * progress.landed // progress.total
    landed = f"{progress.percent} %"
    board = [
        (f"{number} {name}", STATE_STYLE[name])
        for name, number in progress.board.items()
        if number or name in _ALWAYS
    ]
    figures = [
        (f"{progress.claimers} claimers alive", "bold"),
        (f"{progress.events:,} events", "dim"),
        (f"{progress.events_s:,.0f} events/s", "dim"),
    ]
    return [[("█" * filled + "░" * (_BAR - filled), "green"), (landed, "bold")], board, figures]


def _wrapped(text: str, indent: int) -> list[str]:
    return textwrap.wrap(text, max(20, columns() - indent - 1), break_on_hyphens=False)


def _fitted(line: list[Span], most: int) -> str:
    """Paint the spans of a line, as far as they fit."""
    shown = []
    for text, style in line:
        short = cut(text, most)
        most -= width(short) + 2
        if short:
            shown.append(paint(short, style))
    return "  ".join(shown)
