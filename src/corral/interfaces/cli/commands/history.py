"""`corral log` and `corral log verify`."""

import gc
import sys
from collections.abc import Iterator

import msgspec

from corral.core.board.graph import find_task
from corral.core.log.codec import Stored, decode, mirrored
from corral.core.show.log_filter import Sought, sieve
from corral.core.text import counted, number, printable
from corral.core.text import shown as safe
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.output import moment, paint
from corral.interfaces.cli.parser import Options
from corral.store.exchange import Exchange
from corral.store.port import follow


def log(context: Context, options: Options) -> None:
    store = context.store
    task = find_task(store.state(), options.task).id if options.task else ""
    wanted = sieve(Sought(task=task), store.state())
    after = max(0, options.after)
    if options.last is not None:
        after = max(after, store.state().seq - number(options.last, "--last", 0, 1 << 40))
    if options.follow:
        gc.enable()  # unlike other commands, this one keeps running
    events: Iterator[Stored] = follow(store, after) if options.follow else store.read(after)
    for stored in events:
        if task and not wanted(decode(stored.line)):
            continue
        if context.as_json:
            sys.stdout.buffer.write(mirrored(stored) + b"\n")
        else:
            sys.stdout.write(_line(stored) + "\n")
        if options.follow:
            sys.stdout.flush()


def _line(stored: Stored) -> str:
    record = decode(stored.line)
    data = msgspec.json.decode(record.data)
    shown = " ".join(f"{name}={_value(value)}" for name, value in data.items())
    seq, at = paint(f"{record.seq:>6}", "dim"), moment(record.at)
    return f"{seq}  {at}  {safe(record.actor):<12}  {paint(record.type, 'cyan')}  {shown}"


def _value(value: object) -> str:
    return printable(value if isinstance(value, str) else msgspec.json.encode(value).decode())


def verify(context: Context, options: Options) -> None:
    state = Exchange(context.mirror, context.log).verify()
    context.answer(
        {"seq": state.seq, "hash": state.head.hex()},
        lambda: (
            f"{counted(state.seq, 'event')} verified, none altered; the last hash is"
            f" {state.head.hex()[:16]}…"
        ),
    )
