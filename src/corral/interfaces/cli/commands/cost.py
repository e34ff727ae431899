"""`corral cost`: tokens and money, by task, convoy, engine, model and day."""

from corral.core.engine import money
from corral.core.engine.bill import in_words
from corral.core.engine.money import CostLine
from corral.core.text import counted
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.output import paint, table
from corral.interfaces.cli.parser import Options

_ROWS = 20
_PARTS = ("convoys", "engines", "models", "days", "tasks")


def cost(context: Context, options: Options) -> None:
    found = context.ask(money.report, "/api/cost", money.CostReport)
    context.answer(found, lambda: _shown(found))


def _shown(found: money.CostReport) -> str:
    if not found.total.sessions:
        return "nothing has been spent yet, as far as engines report it"
    sessions = counted(found.total.sessions, "session")
    lines = [paint(f"{usd(found.total)} in {sessions}", "bold")]
    if found.usd_per_landed is not None:
        lines.append(f"${found.usd_per_landed:.4f} per landed change ({found.landed} landed)")
    for part in _PARTS:
        rows: list[CostLine] = getattr(found, part)
        shown = [
            (line.name, usd(line), f"{line.fresh:,}", f"{line.cached:,}", f"{line.output:,}")
            for line in rows[-_ROWS:]
        ]
        head = (part.removesuffix("s"), "cost", "input", "cached", "output")
        lines += ["", table(shown, head)]
        lines += [f"  … and {len(rows) - _ROWS:,} earlier (--json)"] * (len(rows) > _ROWS)
    return "\n".join(lines)


def usd(line: CostLine) -> str:
    return in_words(line.cost_usd, line.known_usd, 4)
