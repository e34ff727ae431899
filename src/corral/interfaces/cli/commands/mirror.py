"""`corral log push|fetch` and `corral rebuild`: the log as a git ref."""

from corral.core.text import counted
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.parser import Options
from corral.store.exchange import Exchange, ExchangeOutcome


def push(context: Context, options: Options) -> None:
    seq = _exchange(context).push(options.remote)
    context.answer({"seq": seq}, lambda: f"{options.remote} has the log up to event {seq}")


def fetch(context: Context, options: Options) -> None:
    taken = _exchange(context).fetch(options.remote)
    context.answer(taken, lambda: _told(taken, options.remote))


def rebuild(context: Context, options: Options) -> None:
    exchange = _exchange(context)
    if options.from_mirror:
        taken = exchange.rebuild_from_mirror()
        context.answer(taken, lambda: _told(taken, "the mirror"))
        return
    state = exchange.rebuild()
    context.answer(
        {"seq": state.seq},
        lambda: f"rebuilt the derived state from {counted(state.seq, 'verified event')}",
    )


def _exchange(context: Context) -> Exchange:
    return Exchange(context.mirror, context.log)


def _told(taken: ExchangeOutcome, source: str) -> str:
    lines = [f"new events from {source}: {taken.taken:,}; the log now has {taken.seq:,}"]
    if taken.ahead:
        lines.append(f"events that exist only here: {taken.ahead:,} (send them: corral log push)")
    if taken.kept:
        lines.append(f"the damaged files were kept in {taken.kept}")
    if taken.lost:
        lines.append(f"events that could not be restored: {taken.lost:,} (see those files)")
    return "\n".join(lines)
