"""`corral refinery run` and `corral queue list|show`."""

import gc
from os.path import isdir, join
from typing import TYPE_CHECKING

from corral.core.copies import filled
from corral.core.queue.rules import find_run
from corral.core.show.queue import ChangeView, CheckPage, QueueView, change, queue
from corral.core.show.views import CheckView
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.output import cut, moment, paint, span, table
from corral.interfaces.cli.parser import Options

if TYPE_CHECKING:
    from corral.core.log.state import State

RESULT_STYLE = {"green": "green", "red": "red", "timed_out": "red", "lost": "yellow"}


def refinery(context: Context, options: Options) -> None:
    from corral.roles.current_settings import run_current
    from corral.roles.refinery.loop import Refinery

    gc.enable()  # unlike other commands, this one keeps running
    store, place = context.writable, context.repository
    run_current(lambda config: Refinery(store, place, config), context.config, once=options.once)


def listed(context: Context, options: Options) -> None:
    found = context.ask(queue, "/api/queue", QueueView)
    now = context.now()
    context.answer(found, lambda: _listed(found, now))


def _listed(found: QueueView, now: int) -> str:
    if not found.changes and not found.checks and not found.overlaps:
        return "nothing waits to land"
    paused = {"all convoys": found.paused} | {trunk.convoy: trunk.paused for trunk in found.trunks}
    lines = [
        paint(f"landing is paused for {whose}: {why}", "yellow")
        for whose, why in paused.items()
        if why
    ]
    if found.changes:
        rows = [_change_row(change, now) for change in found.changes]
        lines.append(table(rows, ("task", "waiting", "returns", "waits for", "title")))
    if found.checks:
        rows = [_check_row(check, now) for check in found.checks]
        lines += [""] if lines else []
        lines.append(table(rows, ("run", "result", "time", "on", "changes", "note")))
    lines += [paint(f"upcoming conflict: {one.text}", "yellow") for one in found.overlaps]
    for command, times in found.flaky.items():
        often = "once" if times == 1 else f"{times} times"
        lines.append(paint(f"flaky: {command!r}, {often}", "yellow"))
    return "\n".join(lines)


def _change_row(change: ChangeView, now: int) -> tuple[str, ...]:
    waiting = span(now - change.queued_at)
    return change.task, waiting, str(change.returns or ""), cut(change.waits, 60), change.title


def _check_row(check: CheckView, now: int) -> tuple[str, ...]:
    took = span(check.took_ms if check.ended_at else now - check.started_at)
    result = check.result or "running"
    members = " ".join(check.members) or "the trunk itself"
    return check.run, result, took, check.tip[:12], cut(members, 40), cut(check.detail, 40)


def show(context: Context, options: Options) -> None:
    name, lines = options.what, max(0, options.lines)

    def here(state: "State") -> CheckPage | ChangeView:
        if name.upper() not in state.checks:
            return change(state, name)
        check = find_run(state, name)
        return filled(CheckPage, check, output=_output(context, check.run, lines))

    found = context.ask(here, f"/api/queue/{name}", CheckPage, ChangeView, lines=lines)
    context.answer(
        found,
        lambda: _shown_change(found) if isinstance(found, ChangeView) else _shown_check(found),
    )


def _output(context: Context, run: str, lines: int) -> list[str]:
    from corral.world import checks

    folder = join(context.repository.folder, "checks", run)
    return checks.tail(folder, lines) if isdir(folder) else []


def _shown_check(check: CheckPage) -> str:
    result, output = check.result or "running", check.output
    head = f"{paint(check.run, 'bold')} {paint(result, RESULT_STYLE.get(result, 'dim'))}"
    lines = [
        f"{head} on {check.tip[:12]}, started {moment(check.started_at)}",
        f"changes: {' '.join(check.members) or 'none: it checks the trunk itself'}",
        f"checked: {check.commit}",
    ]
    lines += [check.detail] if check.detail else []
    return "\n".join([*lines, "", *output] if output else lines)


def _shown_change(change: ChangeView) -> str:
    return "\n".join(
        [
            f"{paint(change.task, 'bold')}: {change.title}",
            f"commit {change.commit}, from {change.fork[:12]}, in the queue since"
            f" {moment(change.queued_at)}",
            change.waits,
            *(f"  {path}" for path in change.paths[:20]),
        ]
    )
