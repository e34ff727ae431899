"""What an engine's facts add up to: a summary of bounded size.

Facts are added one at a time and without a clock, so reading the same output again gives the same
summary.
"""

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from corral.core.engine import facts as f
from corral.core.engine.bill import Bill, Price, charged
from corral.core.text import shown

LONGEST = 2_000  # characters kept of any text
CALLS = 12  # tool calls kept
FILES = 50
_PERIODS = 3  # a loop may consist of one, two or three calls


class ToolCall(Struct, frozen=True):
    tool: str
    what: str = ""
    ok: bool | None = None  # None: no answer was seen


class Stream(Struct, frozen=True):
    thread: str = ""  # the engine's own id of the conversation
    model: str = ""
    version: str = ""
    turns: int = 0  # model calls, as far as the engine reports them
    bill: Bill = Bill()
    said: str = ""
    calls: tuple[ToolCall, ...] = ()
    called: int = 0
    busy: bool = False  # a tool was called and has not answered
    runs: tuple[int, ...] = (0,) * _PERIODS
    files: tuple[str, ...] = ()
    more_files: bool = False
    used: int = 0  # of the model's context
    size: int = 0
    measured: bool = False  # the engine itself reports how much is used
    compacted: int = 0
    limited: f.Limited | None = None  # the rate limit that it is waiting for
    limits: int = 0
    last_limit: f.Limited | None = None
    asked: f.Asked | None = None
    told: int = 0  # messages delivered while it ran
    ready: bool = False  # it is between turns, and waits for a message
    denied: int = 0
    finished: f.Finished | None = None
    prices: Mapping[str, Price] = field(default_factory=dict)

    @property
    def repeats(self) -> int:
        """Return how often the same call, or the same two or three, were made in a row."""
        return max(run // period for period, run in enumerate(self.runs, 1))

    @property
    def heard(self) -> bool:
        """Say whether it has reacted to the prompt that it was started with."""
        well = self.finished is not None and self.finished.trouble is None
        return bool(self.said or self.called or self.turns or self.told) or well

    @property
    def full(self) -> float:
        """Return how full the model's context is, from 0 to 1; 0 if unknown."""
        return self.used / self.size if self.size > 0 else 0.0


def take(stream: Stream, fact: f.Fact) -> Stream:
    """Add one fact to the summary."""
    ready = isinstance(fact, f.Ready)
    if stream.ready != ready:
        stream = replace(stream, ready=ready)
    return _TAKE[type(fact)](stream, fact)


def _began(stream: Stream, fact: f.Began) -> Stream:
    return replace(
        stream,
        thread=_short(fact.session, 200) or stream.thread,
        model=_short(fact.model, 200) or stream.model,
        version=_short(fact.version, 100) or stream.version,
    )


def _said(stream: Stream, fact: f.Said) -> Stream:
    text = fact.text.strip()[-LONGEST:]
    return replace(stream, said=text or stream.said, limited=None, busy=False)


def _used(stream: Stream, fact: f.Used) -> Stream:
    call = ToolCall(_short(fact.tool, 100), _short(fact.what, 300))
    before = tuple((one.tool, one.what) for one in stream.calls)
    runs = tuple(
        run + 1 if len(before) >= period and before[-period] == (call.tool, call.what) else 0
        for period, run in enumerate(stream.runs, 1)
    )
    new = tuple(path[:300] for path in fact.paths if path[:300] not in stream.files)
    files = (*stream.files, *new)
    return replace(
        stream,
        calls=(*stream.calls, call)[-CALLS:],
        called=stream.called + 1,
        runs=runs,
        busy=True,
        files=files[:FILES],
        more_files=stream.more_files or len(files) > FILES,
        limited=None,
        asked=None,
    )


def _answered(stream: Stream, fact: f.Answered) -> Stream:
    calls = stream.calls
    if calls and calls[-1].ok is None:
        calls = (*calls[:-1], replace(calls[-1], ok=fact.ok))
    return replace(stream, calls=calls, busy=False, limited=None, asked=None)


def _spent(stream: Stream, fact: f.Spent) -> Stream:
    spent = fact if fact.model or not stream.model else replace(fact, model=stream.model)
    return replace(
        stream,
        bill=charged(stream.bill, spent, stream.prices),
        turns=stream.turns + (not fact.total),
        used=_in_use(stream, fact),
        limited=None,
    )


def _in_use(stream: Stream, fact: f.Spent) -> int:
    """Return how much of the context is used: the last call contains the whole conversation."""
    if fact.total or stream.measured or not stream.size:
        return stream.used
    return max(0, fact.fresh) + max(0, fact.cached) + max(0, fact.output)


def _window(stream: Stream, fact: f.Window) -> Stream:
    size = max(0, fact.size) or stream.size
    return replace(stream, used=max(0, fact.used), size=size, measured=True)


def _limited(stream: Stream, fact: f.Limited) -> Stream:
    kept = replace(fact, text=_short(fact.text, 300))
    return replace(stream, limited=kept, last_limit=kept, limits=stream.limits + 1)


def _turn(stream: Stream, fact: f.Turn) -> Stream:
    limited = None if fact.heard else stream.limited
    return replace(stream, busy=not fact.model, limited=limited)


def _asked(stream: Stream, fact: f.Asked) -> Stream:
    options = tuple(option[:200] for option in fact.options[:10])
    kept = f.Asked(text=fact.text.strip()[:LONGEST], options=options, call=fact.call[:200])
    return replace(stream, asked=kept)


def _finished(stream: Stream, fact: f.Finished) -> Stream:
    return replace(stream, finished=replace(fact, text=fact.text.strip()[:LONGEST]), busy=False)


def _short(text: str, most: int) -> str:
    return shown(" ".join(text[: 2 * most].split())[:most])  # in one line


_TAKE: dict[type[f.Fact], Callable[[Stream, Any], Stream]] = {
    f.Began: _began,
    f.Said: _said,
    f.Used: _used,
    f.Answered: _answered,
    f.Spent: _spent,
    f.Window: _window,
    f.Compacted: lambda stream, _: replace(stream, compacted=stream.compacted + 1, used=0),
    f.Limited: _limited,
    f.Turn: _turn,
    f.Asked: _asked,
    f.Told: lambda stream, _: replace(stream, asked=None, told=stream.told + 1),
    f.Ready: lambda stream, _: stream,
    f.Denied: lambda stream, _: replace(stream, denied=stream.denied + 1),
    f.Finished: _finished,
}
