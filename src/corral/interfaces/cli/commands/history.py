"""`corral log` and `corral log verify`."""

import gc
import sys

import msgspec
from msgspec import Raw

from corral.core.log.codec import decode
from corral.core.log.state import State
from corral.core.text import counted, number, printable
from corral.core.text import shown as safe
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.output import moment, paint
from corral.interfaces.cli.parser import Options
from corral.roles.records.log_pages import LogPage, LogQuery, log_page

_END = 1 << 53


def log(context: Context, options: Options) -> None:
    task, after = "", max(0, options.after)
    if options.task:
        from corral.interfaces.cli.commands.look import task_page

        task = task_page(context, options.task).id
    if options.last is not None:
        last = number(options.last, "--last", 0, 1 << 40)
        after = max(after, _page(context, _END).seq - last)
    if options.follow:
        gc.enable()  # unlike other commands, this one keeps running
    while True:
        page = _page(context, after, task)
        after = page.end
        for line in page.events:
            if context.as_json:
                sys.stdout.buffer.write(bytes(line) + b"\n")
            else:
                sys.stdout.write(_line(line) + "\n")
        if after >= page.seq:
            if not options.follow:
                return
            sys.stdout.flush()
            context.store.wait(after)


def _page(context: Context, after: int, task: str = "") -> LogPage:
    query = LogQuery(after=after, limit=1000, task=task)

    def here(state: State) -> LogPage:
        return log_page(context.store, state, query)

    return context.ask(here, "/api/log", LogPage, after=after, limit=1000, task=task)


def _line(line: Raw) -> str:
    record = decode(line)
    data = msgspec.json.decode(record.data)
    shown = " ".join(f"{name}={_value(value)}" for name, value in data.items())
    seq, at = paint(f"{record.seq:>6}", "dim"), moment(record.at)
    return f"{seq}  {at}  {safe(record.actor):<12}  {paint(record.type, 'cyan')}  {shown}"


def _value(value: object) -> str:
    return printable(value if isinstance(value, str) else msgspec.json.encode(value).decode())


def verify(context: Context, options: Options) -> None:
    from corral.store.exchange import Exchange

    state = Exchange(context.mirror, context.log).verify()
    context.answer(
        {"seq": state.seq, "hash": state.head.hex()},
        lambda: (
            f"{counted(state.seq, 'event')} verified, none altered; the last hash is"
            f" {state.head.hex()[:16]}…"
        ),
    )
