"""Draws a plan's graph as text: one row per task, with lines from its dependencies.

    ○   tokens   Issue tokens
    ├─■ tests    Test the tokens
    ●   refresh  Refresh them
    ■   client   Let the client refresh them
    □   manual   Tidy the manual

Lines run down from a task to those that need it. `○` and `□` need nothing; nothing waits for `■`
and `□`, so no line continues below them. If there are more lines than fit side by side, the tasks
are listed by wave, with their dependencies by name.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct

from corral.core.plan.edges import Graph
from corral.core.plan.order import waves
from corral.core.text import counted, shown

_MOST_LANES = 16
_NARROWEST = 24  # for a key and the beginning of a title
# By whether a task needs something, and whether something needs it.
_GLYPHS = {(True, True): "● ", (True, False): "■ ", (False, True): "○ ", (False, False): "□ "}
Cut = Callable[[str, int], str]


class Row(Struct, frozen=True):
    """One line of the drawing; `key` is empty if it is only text."""

    lines: str
    key: str
    text: str = ""  # before the title


def rows(graph: Graph, width: int) -> list[Row]:
    """Draw the graph for a screen of this width."""
    drawn = _Lanes(graph).rows()
    room = min(_MOST_LANES * 2, width - _NARROWEST)
    if max((len(row.lines) for row in drawn), default=0) <= room:
        return drawn
    return _listed(graph, width)


def text(graph: Graph, titles: dict[str, str], width: int, cut: Cut) -> str:
    """Draw the graph with titles, cut to the width of the screen."""
    drawn = rows(graph, width)
    deepest = max((len(row.lines) for row in drawn if row.key), default=0)
    longest = max((len(row.key) for row in drawn), default=0)
    column = min(longest, max(12, (width - deepest) // 2))
    out = []
    for row in drawn:
        if not row.key:
            out.append(row.lines)
            continue
        said = f"{row.text}  {titles[row.key]}".strip()
        label = cut(row.key, column)
        line = f"{row.lines:<{deepest}}{label:<{column}}  {shown(said)}"
        out.append(cut(line.rstrip(), width))
    return "\n".join(out)


class _Lanes:
    """Columns of lines; each holds the task it comes from, or nothing."""

    def __init__(self, graph: Graph) -> None:
        self._needs: dict[str, list[str]] = {key: [] for key in graph.rank}
        self._waiting: dict[str, set[str]] = {key: set() for key in graph.rank}
        for edge in graph.edges:
            self._needs[edge.task].append(edge.need)
            self._waiting[edge.need].add(edge.task)
        self._rank = {key: at for at, key in enumerate(graph.rank)}
        self._lanes: list[str] = []

    def rows(self) -> list[Row]:
        left, drawn = dict.fromkeys(self._rank), set[str]()
        out: list[Row] = []
        while left:
            ready = [key for key in left if drawn.issuperset(self._needs[key])]
            key = min(ready, key=self._cost)
            out.append(Row(self._row(key), key))
            drawn.add(key)
            del left[key]
        return out

    def _cost(self, key: str) -> tuple[int, int, int]:
        """Prefer what ends the most lines, then what depends on the newest, then by rank."""
        needs = self._needs[key]
        ending = sum(self._waiting[need] == {key} for need in needs)
        opening = bool(self._waiting[key])
        newest = max((self._rank[need] for need in needs), default=-1)
        return opening - ending, -newest, self._rank[key]

    def _row(self, key: str) -> str:
        joined = [at for at, lane in enumerate(self._lanes) if lane in self._needs[key]]
        for need in self._needs[key]:
            self._waiting[need].discard(key)
        node = self._node(joined)
        cells = [self._cell(at, joined, node) for at in range(max(len(self._lanes), node + 1))]
        cells[node] = _GLYPHS[bool(joined), bool(self._waiting[key])]
        for at in joined:
            if not self._waiting[self._lanes[at]]:
                self._lanes[at] = ""
        while len(self._lanes) <= node:
            self._lanes.append("")
        self._lanes[node] = key if self._waiting[key] else ""
        while self._lanes and not self._lanes[-1]:
            self._lanes.pop()
        return "".join(cells)

    def _node(self, joined: Sequence[int]) -> int:
        """Return the column of a task: below its last need if that line ends, else right of it."""
        last = joined[-1] if joined else -1
        if joined and not self._waiting[self._lanes[last]]:
            return last
        free = (at for at in range(last + 1, len(self._lanes)) if not self._lanes[at])
        return next(free, len(self._lanes))

    def _cell(self, at: int, joined: Sequence[int], node: int) -> str:
        lane = self._lanes[at] if at < len(self._lanes) else ""
        across = bool(joined) and joined[0] < at < node
        if at in joined:
            goes_on = bool(self._waiting[lane])
            corner = ("┼" if goes_on else "┴") if across else ("├" if goes_on else "└")
            return f"{corner}─"
        if across:
            return "│─" if lane else "──"
        return "│ " if lane else "  "


def _listed(graph: Graph, width: int) -> list[Row]:
    out: list[Row] = []
    for number, keys in enumerate(waves(graph), 1):
        out.append(Row(f"wave {number}: {counted(len(keys), 'task')}", ""))
        for key in keys:
            needs = ", ".join(edge.need for edge in graph.needs(key))
            out.append(Row("  ", key, f"← {needs}" if needs else ""))
    return out
