"""What the command line prints: one JSON envelope for programs, tables and colour for people.

Colour is for terminals only; in a pipe everything is plain text without tabs.
"""

import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from corral.core.errors import CorralError
from corral.core.text import shown as safe

if TYPE_CHECKING:
    from corral.core.show.overview import OverviewTask
    from corral.core.show.views import TaskLine

_STYLES = {"bold": 1, "dim": 2}
_STYLES |= {"red": 31, "green": 32, "yellow": 33, "blue": 34, "magenta": 35, "cyan": 36}
_NARROWEST = 4
STATE_STYLE = {"backlog": "dim", "todo": "blue", "doing": "yellow", "blocked": "red"}
STATE_STYLE |= {"review": "magenta", "done": "green", "failed": "red", "cancelled": "dim"}


def fancy(stream: Any = None) -> bool:
    """Tell whether this stream is a terminal that shows colours."""
    out = stream or sys.stdout
    if os.environ.get("NO_COLOR") or os.environ.get("TERM", "dumb") == "dumb":
        return False
    return bool(out.isatty())


def paint(text: str, *styles: str, stream: Any = None) -> str:
    if not fancy(stream):
        return text
    codes = ";".join(str(_STYLES[style]) for style in styles)
    return f"\x1b[{codes}m{text}\x1b[0m"


def columns() -> int:
    """Return the width of the terminal; a pipe is as wide as it needs to be."""
    if not sys.stdout.isatty():
        return 10_000
    try:
        return os.get_terminal_size().columns or 80
    except OSError:
        return 80


def width(text: str) -> int:
    """Return how many cells a text takes; wide East Asian characters take two."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def cut(text: str, most: int) -> str:
    """Shorten a text to `most` cells, with an ellipsis where it was cut."""
    if width(text) <= most:
        return text
    kept = ""
    for char in text:
        if width(kept) + width(char) > most - 1:
            break
        kept += char
    return kept + "…" if most > 0 else ""


def table(
    rows: Iterable[Sequence[str]], head: Sequence[str], *, styles: dict[int, str] | None = None
) -> str:
    """Lay out rows in columns; the widest columns shrink if the terminal is narrow.

    `styles` names a style for a column, or "state" to colour each cell by the state it names.
    """
    cells = [list(row) for row in rows]
    widths = [max(width(row[i]) for row in [list(head), *cells]) for i in range(len(head))]
    room = columns() - 2 * (len(widths) - 1)
    while sum(widths) > room and max(widths) > _NARROWEST:
        widths[widths.index(max(widths))] -= 1
    lines = [paint(_row(head, widths, {}), "bold")]
    lines.extend(_row(row, widths, styles or {}) for row in cells)
    return "\n".join(lines)


def _row(cells: Sequence[str], widths: Sequence[int], styles: dict[int, str]) -> str:
    out = []
    for i, cell in enumerate(cells):
        short = cut(safe(cell), widths[i])
        padded = short + " " * (widths[i] - width(short))
        style = styles.get(i, "")
        if style == "state":
            style = STATE_STYLE.get(cell, "")
        out.append(paint(padded, style) if style else padded)
    return "  ".join(out).rstrip()


def say(text: str) -> None:
    sys.stdout.write(text + "\n")


def say_json(data: Any) -> None:
    """Print the envelope of an answer."""
    sys.stdout.buffer.write(b'{"ok":true,"data":' + msgspec.json.encode(data) + b"}\n")


def warn(text: str) -> None:
    sys.stderr.write(f"{paint('corral:', 'yellow', stream=sys.stderr)} {text}\n")


def report(error: CorralError, *, as_json: bool) -> None:
    """Print a refusal or a failure: one sentence, and what to do."""
    if as_json:
        body = {"code": error.code, "message": error.message, "hint": error.hint}
        sys.stdout.buffer.write(msgspec.json.encode({"ok": False, "error": body}) + b"\n")
        return
    lines = [f"{paint('corral:', 'red', stream=sys.stderr)} {error.message}"]
    if error.hint:
        lines.append(f"  {paint('try:', 'dim', stream=sys.stderr)} {error.hint}")
    sys.stderr.write("\n".join(lines) + "\n")


def moment(at: int) -> str:
    """Format a time for people, in their own time zone."""
    import time

    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at / 1000))


def span(milliseconds: int) -> str:
    """Format a duration in one unit."""
    seconds = max(0, milliseconds) // 1000
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{seconds // length} {unit}"
    return f"{seconds} s"


def holder(line: "TaskLine | OverviewTask", now: int) -> str:
    """Return who holds a task and for how long, or who it is assigned to."""
    if line.holder is None or line.expires_at is None:
        return f"for {line.assignee}" if line.assignee and line.column == "todo" else ""
    left = line.expires_at - now
    return f"{line.holder} ({span(left) + ' left' if left > 0 else 'lapsed'})"
