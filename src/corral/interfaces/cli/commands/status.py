"""`corral status`: one screen that says what is happening, from the server if one runs."""

import gc
import sys
from typing import TYPE_CHECKING, Any

from msgspec import Raw

from corral.core.show.overview import ROWS, SHOWN, Overview, OverviewTask, overview
from corral.interfaces.cli import output
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.output import STATE_STYLE, cut, fancy, holder, paint, span, table
from corral.interfaces.cli.parser import Options

if TYPE_CHECKING:
    from corral.core.log.state import State

_BAR = 20
_OVERVIEW = "/api/overview"
_REFRESH_S = 5.0  # while watching: the time left is shown again even if nothing happened


def status(context: Context, options: Options) -> None:
    if options.watch:
        _watch(context)
    elif context.as_json:  # not decoded: it may be long
        output.say_json(context.ask(_everything, "/api/status", Raw))
    else:
        found = context.ask(lambda state: overview(state, context.now()), _OVERVIEW, Overview)
        output.say(_screen(found, context.now()))


def _everything(state: "State") -> Any:
    from corral.core.show.queries import status as everything

    return everything(state)


def _watch(context: Context) -> None:
    gc.enable()  # unlike other commands, this one keeps running
    store = context.store
    while True:
        seen = store.state().seq
        if context.as_json:
            output.say_json(_everything(store.state()))
        else:
            now = context.now()
            output.say(_in_place(_screen(overview(store.state(), now), now)))
        sys.stdout.flush()
        while not store.wait(seen, _REFRESH_S) and not fancy():
            pass


def _in_place(text: str) -> str:
    """Draw over the old screen instead of clearing it first, which would flicker."""
    if not fancy():
        return text
    return "\x1b[H" + text.replace("\n", "\x1b[K\n") + "\x1b[K\x1b[J"


def _screen(found: Overview, now: int) -> str:
    lines = [_summary(found), *_convoys(found)]
    if found.paused:
        lines += ["", *(paint(text, "yellow") for text in found.paused), "resume: corral resume"]
    for name in SHOWN:
        if found.columns[name]:
            rows = [task for task in found.tasks if task.column == name]
            lines += ["", *_section(name, rows, found.columns[name], now)]
    lines += _sessions(found, now)
    lines += _checks(found, now)
    lines += _overlaps(found)
    if found.spent:
        lines += ["", f"spent today {found.spent_today}, in total {found.spent} (corral cost)"]
    if found.alerts:
        lines += ["", paint(f"alerts ({len(found.alerts)})", "red")]
        lines += [f"  {alert.id}  {alert.subject}: {alert.text}" for alert in found.alerts]
    return "\n".join(lines)


def _summary(found: Overview) -> str:
    counts = [
        paint(f"{number} {name}", STATE_STYLE[name])
        for name, number in found.columns.items()
        if number
    ]
    if not counts:
        return (
            'The board is empty. Begin with: corral convoy create "…"\n'
            "In a clone of a repository that has one: corral log fetch origin"
        )
    return f"{'  '.join(counts)}  {paint(f'(event {found.seq})', 'dim')}"


def _convoys(found: Overview) -> list[str]:
    if not found.convoys or not any(found.columns.values()):
        return []
    rows = [
        (row.id, _bar(row.done, row.wanted), f"{row.done}/{row.wanted}", row.title)
        for row in found.convoys
    ]
    more = found.totals["convoys"] - len(rows)
    note = [f"  … and {more} earlier (corral convoy list)"] if more else []
    return ["", table(rows, ("convoy", "progress", "done", "title")), *note]


def _bar(done: int, wanted: int) -> str:
    filled = _BAR * done // (wanted or 1)
    return "█" * filled + "░" * (_BAR - filled)


def _section(name: str, tasks: list[OverviewTask], total: int, now: int) -> list[str]:
    rows = [(task.id, holder(task, now), cut(task.reason, 40), task.title) for task in tasks]
    more = total - len(rows)
    heading = paint(f"{name} ({total})", STATE_STYLE[name], "bold")
    note = [f"  … and {more:,} more (corral task list --state {name})"] if more else []
    return [heading, table(rows, ("task", "holder", "note", "title")), *note]


def _sessions(found: Overview, now: int) -> list[str]:
    if not found.sessions:
        return []
    rows = [
        (s.id, span(now - s.started_at), s.profile, str(s.outputs), s.progress)
        for s in found.sessions
    ]
    more = found.totals["sessions"] - len(rows)
    note = [f"  … and {more:,} more (corral session list)"] if more else []
    heading = paint(f"sessions ({found.totals['sessions']})", "cyan", "bold")
    return ["", heading, table(rows, ("session", "time", "engine", "outputs", "says")), *note]


def _checks(found: Overview, now: int) -> list[str]:
    if not found.checks:
        return []
    rows = [
        (check.run, span(now - check.started_at), check.tip[:12], cut(" ".join(check.members), 50))
        for check in found.checks
    ]
    heading = paint(f"checks ({found.totals['checks']})", "cyan", "bold")
    return ["", heading, table(rows, ("run", "time", "on", "changes"))]


def _overlaps(found: Overview) -> list[str]:
    """Say whose work would conflict as it is now."""
    total = found.totals["overlaps"]
    if not total:
        return []
    more = total - ROWS
    note = [f"  … and {more:,} more (corral status --json)"] if more > 0 else []
    heading = paint(f"upcoming conflicts ({total})", "yellow", "bold")
    return ["", heading, *(f"  {text}" for text in found.overlaps), *note]
