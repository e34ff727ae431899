"""The events themselves, page by page, all of them or those that match a filter.

A long log is not read in one go: a page says how far it has searched, and the next request
continues from there.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING
from typing import Annotated as A

from msgspec import Meta, Raw, Struct

from corral.core.log.codec import Record, Stored, decode, mirrored

if TYPE_CHECKING:
    from corral.core.log.state import State
    from corral.store.port import Store

_BLOCK = 1000
_LOOKED = 20_000  # at most this many events are searched for one page


class LogQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    after: A[int, Meta(ge=0, le=1 << 53, description="only events after this number")] = 0
    before: A[int, Meta(ge=0, le=1 << 53, description="the last events before this number")] = 0
    limit: A[int, Meta(ge=1, le=1000, description="at most this many")] = 100
    type: A[str, Meta(description="only these types, like `task.added,session`")] = ""
    task: A[str, Meta(description="only events about this task")] = ""
    convoy: A[str, Meta(description="only events about this convoy")] = ""
    actor: A[str, Meta(description="only events whose actor's name contains this")] = ""
    text: A[str, Meta(description="only events that contain this text")] = ""


class LogPage(Struct, frozen=True):
    """Events from `begin` to `end` were searched; continue with `before=BEGIN` or `after=END`."""

    events: list[Raw]
    seq: int  # the newest event in the log
    begin: int
    end: int


Fits = Callable[[Record], bool] | None


def log_page(store: "Store", state: "State", query: LogQuery) -> LogPage:
    """Read a page of the log, as far as the state knows it."""
    from corral.core.show.log_filter import Sought, sieve

    types = tuple(name for name in query.type.split(",") if name)
    sought = Sought(types, query.task, query.convoy, query.actor, query.text)
    fits = sieve(sought, state) if sought != Sought() else None
    return (_back if query.before else _on)(store, query, state.seq, fits)


def _on(store: "Store", query: LogQuery, known: int, fits: Fits) -> LogPage:
    found: list[Stored] = []
    end = query.after
    while end < known and len(found) < query.limit and end - query.after < _LOOKED:
        size = _BLOCK if fits else query.limit
        rows = [row for row in store.read(end, size) if row.seq <= known]
        kept = _kept(rows, fits)[: query.limit - len(found)]
        found += kept
        end = kept[-1].seq if len(found) == query.limit else rows[-1].seq
    return _page(found, known, query.after + 1, end)


def _back(store: "Store", query: LogQuery, known: int, fits: Fits) -> LogPage:
    found: list[Stored] = []
    end = begin = min(known, query.before - 1)
    while begin > query.after and len(found) < query.limit and end - begin < _LOOKED:
        size = min(begin - query.after, _BLOCK if fits else query.limit)
        rows = list(store.read(begin - size, size))
        kept = _kept(rows, fits)[-(query.limit - len(found)) :]
        found = kept + found
        begin = kept[0].seq - 1 if len(found) == query.limit else begin - size
    return _page(found, known, begin + 1, end)


def _kept(rows: Sequence[Stored], fits: Fits) -> list[Stored]:
    return [row for row in rows if fits is None or fits(decode(row.line))]


def _page(found: Iterable[Stored], known: int, begin: int, end: int) -> LogPage:
    return LogPage([Raw(mirrored(row)) for row in found], known, begin, end)
