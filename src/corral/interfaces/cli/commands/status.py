"""`corral status`: one screen that says what is happening."""

import gc
import sys

from corral.core.engine.bill import DAY_MS, NANO, Bill
from corral.core.engine.money import spent_in_all
from corral.core.log.state import State, Task
from corral.core.show import queries
from corral.core.show.views import COLUMNS, ConvoyView, task_line
from corral.interfaces.cli import output
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.output import STATE_STYLE, cut, fancy, holder, paint, span, table
from corral.interfaces.cli.parser import Options

_SHOWN = ("doing", "blocked", "failed", "review", "todo")
_ROWS = 10
_BAR = 20
_REFRESH_S = 5.0  # while watching: times left are shown anew though nothing happened


def status(context: Context, options: Options) -> None:
    if not options.watch:
        state = context.store.state()
        if context.as_json:
            output.say_json(queries.status(state))
        else:
            output.say(_screen(state, context.now()))
        return
    _watch(context)


def _watch(context: Context) -> None:
    gc.enable()  # unlike other commands, this one stays
    store = context.store
    while True:
        state = store.state()
        seen = state.seq
        if context.as_json:
            output.say_json(queries.status(state))
        else:
            output.say(_in_place(_screen(state, context.now())))
        sys.stdout.flush()
        while not store.wait(seen, _REFRESH_S) and not fancy():
            pass


def _in_place(text: str) -> str:
    """Draw over what is on the terminal, without clearing it first: that would flicker."""
    if not fancy():
        return text
    return "\x1b[H" + text.replace("\n", "\x1b[K\n") + "\x1b[K\x1b[J"


def _screen(state: State, now: int) -> str:
    board = queries.columns(state)
    lines = [_summary(state, board)]
    lines += _convoys(state, board)
    for name in _SHOWN:
        if board[name]:
            lines += ["", *_section(name, board[name], now)]
    lines += _sessions(state, now)
    lines += _checks(state, now)
    lines += _overlaps(state)
    lines += _spent(state, now)
    if state.alerts:
        lines += ["", paint(f"alerts ({len(state.alerts)})", "red")]
        lines += [f"  {alert.id}  {alert.subject}: {alert.text}" for alert in state.alerts.values()]
    return "\n".join(lines)


def _summary(state: State, board: dict[str, list[Task]]) -> str:
    if not state.tasks:
        return (
            'The board is empty. Begin with: corral convoy create "…"\n'
            "In a clone of a repository that has one: corral log fetch origin"
        )
    counts = [
        paint(f"{len(board[name])} {name}", STATE_STYLE[name]) for name in COLUMNS if board[name]
    ]
    return f"{'  '.join(counts)}  {paint(f'(event {state.seq})', 'dim')}"


def _convoys(state: State, board: dict[str, list[Task]]) -> list[str]:
    if not state.convoys or not state.tasks:
        return []
    found = queries.convoys(state, None, board)
    rows = [
        (view.id, _bar(view), f"{view.tasks['done']}/{_wanted(view)}", view.title)
        for view in found[-_ROWS:]
    ]
    more = len(found) - len(rows)
    note = [f"  … and {more} earlier ones (corral convoy list)"] if more else []
    return ["", table(rows, ("convoy", "progress", "done", "title")), *note]


def _sessions(state: State, now: int) -> list[str]:
    """Show what runs now, the longest first."""
    live = sorted(
        (session for session in state.sessions.values() if session.live),
        key=lambda session: session.started_at,
    )
    if not live:
        return []
    rows = [
        (s.id, span(now - s.started_at), s.profile, str(s.outputs), s.progress)
        for s in live[:_ROWS]
    ]
    more = len(live) - len(rows)
    note = [f"  … and {more:,} more (corral session list)"] if more else []
    heading = paint(f"sessions ({len(live)})", "cyan", "bold")
    return ["", heading, table(rows, ("session", "time", "engine", "outputs", "says")), *note]


def _checks(state: State, now: int) -> list[str]:
    """Show what is being checked before it lands."""
    live = [check for check in state.checks.values() if check.live]
    if not live:
        return []
    rows = [
        (check.run, span(now - check.started_at), check.tip[:12], cut(" ".join(check.members), 50))
        for check in live[:_ROWS]
    ]
    heading = paint(f"checks ({len(live)})", "cyan", "bold")
    return ["", heading, table(rows, ("run", "time", "on", "changes"))]


def _overlaps(state: State) -> list[str]:
    """Say whose work would conflict as it is."""
    found = queries.overlaps(state)
    if not found:
        return []
    more = len(found) - _ROWS
    note = [f"  … and {more:,} more (corral status --json)"] if more > 0 else []
    heading = paint(f"coming conflicts ({len(found)})", "yellow", "bold")
    return ["", heading, *(f"  {one.text}" for one in found[:_ROWS]), *note]


def _spent(state: State, now: int) -> list[str]:
    """Say what engines have cost, as far as they tell."""
    total = spent_in_all(state)
    if total == Bill():
        return []
    day = state.days.get(now // DAY_MS, Bill())
    return ["", f"spent today {_usd(day)}, in all {_usd(total)} (corral cost)"]


def _usd(bill: Bill) -> str:
    if bill.usd is not None:
        return f"${bill.usd:.2f}"
    return f"${bill.nano_usd / NANO:.2f} and more (unknown)" if bill.nano_usd else "unknown"


def _bar(view: ConvoyView) -> str:
    filled = _BAR * view.tasks["done"] // (_wanted(view) or 1)
    return "█" * filled + "░" * (_BAR - filled)


def _wanted(view: ConvoyView) -> int:
    return sum(view.tasks.values()) - view.tasks["cancelled"]


def _section(name: str, tasks: list[Task], now: int) -> list[str]:
    first = sorted(tasks, key=lambda task: (-task.priority, task.order))[:_ROWS]
    lines = [task_line(task, name) for task in first]
    rows = [(line.id, holder(line, now), cut(line.reason, 40), line.title) for line in lines]
    more = len(tasks) - len(rows)
    heading = paint(f"{name} ({len(tasks)})", STATE_STYLE[name], "bold")
    note = [f"  … and {more:,} more (corral task list --state {name})"] if more else []
    return [heading, table(rows, ("task", "holder", "note", "title")), *note]
