"""`corral deacon run` and `corral deacon status`."""

import gc

from corral.core.chores import ChoreOutcome
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.output import moment, paint, span, table
from corral.interfaces.cli.parser import Options


def run(context: Context, options: Options) -> int:
    from corral.roles.current_settings import run_current
    from corral.roles.deacon.loop import Deacon

    store, place = context.writable, context.repository
    if not options.once:
        gc.enable()  # unlike other commands, this one keeps running
        run_current(lambda config: Deacon(store, place, config), context.config, once=False)
    results = Deacon(store, place, context.config).once()
    now = context.now()
    names = ("found", "done", "error", "worries")
    chores = [
        {"chore": chore, "ran_at": now, **{name: getattr(result, name) for name in names}}
        for chore, result in results.items()
    ]
    context.answer({"chores": chores}, lambda: _results(results, now))
    return 1 if any(result.error for result in results.values()) else 0


def _results(results: dict[str, ChoreOutcome], now: int) -> str:
    rows = [
        (name, moment(now), str(result.found), str(result.done), _note(result))
        for name, result in results.items()
    ]
    return table(rows, ("chore", "last run", "found", "done", "note"))


def _note(result: ChoreOutcome) -> str:
    if result.error:
        return paint(f"failed: {result.error}", "red")
    return "; ".join(f"{subject}: {text}" for subject, text in result.worries.items())


def status(context: Context, options: Options) -> None:
    """Show when each chore last ran; one that never ran is listed, too."""
    from corral.roles import locks
    from corral.roles.deacon.chores import NAMES, TRACES

    runs = locks.taken(context.repository.folder, "deacon")
    recorded = context.store.state().chores
    now = context.now()
    names = [*NAMES, *([TRACES] if context.config.telemetry.endpoint else [])]
    found = [recorded.get(name) for name in names]

    def human() -> str:
        rows = []
        for name, last in zip(names, found, strict=True):
            when = f"{moment(last.ran_at)} ({span(now - last.ran_at)} ago)" if last else "never"
            rows.append((name, when, *((str(last.found), str(last.done)) if last else ("", ""))))
        head = "the deacon is running" if runs else "no deacon is running: corral deacon run"
        return f"{head}\n{table(rows, ('chore', 'last recorded run', 'found', 'done'))}"

    chores = [
        {"chore": name, **{key: getattr(last, key, None) for key in ("ran_at", "found", "done")}}
        for name, last in zip(names, found, strict=True)
    ]
    context.answer({"running": runs, "chores": chores}, human)
