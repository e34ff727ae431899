"""A measured figure, its target, and the table of several figures."""

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Literal

from msgspec import Struct

Side = Callable[[], float]
Rounds = dict[str, list[float]]

_HEADINGS = ("what", "median", "floor or peer", "", "ratio", "target", "")


class Target(Struct, frozen=True):
    """A bound on a figure's value or ratio."""

    of: Literal["value", "ratio"]
    relation: Literal[">=", "<=", "<"]
    bound: float

    def met(self, figure: "Figure") -> bool:
        found = figure.value if self.of == "value" else figure.ratio
        if found is None:
            return False
        match self.relation:
            case ">=":
                return found >= self.bound
            case "<=":
                return found <= self.bound
            case "<":
                return found < self.bound


class Figure(Struct, frozen=True, kw_only=True):
    """A median, and its ratio to what was measured beside it in the same run."""

    what: str
    value: float
    unit: str
    peer: str = ""
    peer_value: float | None = None
    ratio: float | None = None
    target: Target | None = None

    @property
    def missed(self) -> bool:
        return self.target is not None and not self.target.met(self)


def interleaved(sides: Mapping[str, Side], rounds: int) -> Rounds:
    """Measure all sides in each round, so that other load on the machine affects them alike.

    The first round warms up and is discarded; every other round is in the opposite order.
    """
    found: Rounds = {name: [] for name in sides}
    for number in range(rounds + 1):
        for name in sorted(sides, reverse=bool(number % 2)):
            value = sides[name]()
            if number:
                found[name].append(value)
    return found


def compared(
    found: Rounds, side: str, peer: str, *, what: str, unit: str, target: Target | None = None
) -> Figure:
    """Compare one side with another; the ratio is the median of the rounds' ratios."""
    return Figure(
        what=what,
        value=median(found[side]),
        unit=unit,
        peer=peer,
        peer_value=median(found[peer]),
        ratio=median(ours / theirs for ours, theirs in zip(found[side], found[peer], strict=True)),
        target=target,
    )


def table(figures: Sequence[Figure]) -> str:
    rows = [_HEADINGS, *(_row(figure) for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    right = (1, 3, 4)
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def markdown(figures: Sequence[Figure]) -> str:
    """Return the rows of the table in docs/benchmarks.md."""
    return "\n".join("| " + " | ".join(_row(figure)) + " |" for figure in figures)


def as_json(figure: Figure) -> dict[str, object]:
    target = figure.target
    return {
        "what": figure.what,
        "median": figure.value,
        "unit": figure.unit,
        "peer": figure.peer,
        "peer_median": figure.peer_value,
        "ratio": figure.ratio,
        "target": f"{target.of} {target.relation} {target.bound:g}" if target else None,
        "ok": None if target is None else not figure.missed,
    }


def _row(figure: Figure) -> tuple[str, ...]:
    verdict = ""
    if figure.target is not None:
        verdict = "MISSED" if figure.missed else "ok"
    return (
        figure.what,
        _number(figure.value, figure.unit),
        figure.peer,
        "" if figure.peer_value is None else _number(figure.peer_value, figure.unit),
        "" if figure.ratio is None else f"{figure.ratio:.2f} ×",
        _bound(figure),
        verdict,
    )


def _bound(figure: Figure) -> str:
    target = figure.target
    if target is None:
        return ""
    bound = f"{target.bound:g} ×" if target.of == "ratio" else f"{target.bound:g} {figure.unit}"
    return f"{target.relation} {bound}".rstrip()


def _number(value: float, unit: str) -> str:
    digits = 0 if value >= 1000 else 1 if value >= 10 else 2 if value >= 1 else 3
    return f"{value:,.{digits}f} {unit}".rstrip()
