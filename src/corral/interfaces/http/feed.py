"""The log as the server sees it: the state that views are made from, and the newest events.

One thread waits for the log to grow, whichever process wrote to it, and hands the new events to the
loop, where everything else happens: so a view is of one moment, without a lock. The newest events
are kept up to a bound, with the bytes that event streams send; older ones are read from the log.
"""

import asyncio
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

import msgspec

from corral.core.log.codec import Stored, decode, mirrored
from corral.core.log.state import State
from corral.store.replay import extend
from corral.store.sqlite import SqliteStore

_AT_ONCE = 500
_KEPT = 4096
_KEPT_BYTES = 4 << 20
_PATIENCE_S = 2.0
_LOOK_S = 5.0  # how often the thread checks whether it has to stop


class Item(NamedTuple):
    """An event as streams need it."""

    seq: int
    type: str
    task: str
    convoy: str
    session: str
    frame: bytes


class _EventSubjects(msgspec.Struct):
    task: str = ""
    convoy: str = ""
    session: str = ""


_about = msgspec.json.Decoder(_EventSubjects).decode


class Feed:
    def __init__(self, store: SqliteStore, fail: Callable[[], None]) -> None:
        """`store` is the feed's own; `fail` is called if the log can no longer be followed."""
        self.store = store
        self.state: State = store.detached()
        self.tick = asyncio.Event()
        self._recent: list[Item] = []
        self._bytes = 0
        self._fail = fail
        self._loop = asyncio.get_running_loop()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="corral-feed", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()

    async def reach(self, seq: int) -> None:
        """Wait until the state includes an event, so that callers see what was acknowledged."""
        while self.state.seq < seq:
            await self.tick.wait()

    async def up_to_date(self) -> None:
        """Wait until the state includes all that anybody was told is stored, by any process."""
        newest = await self._stored()
        while self.state.seq < newest:
            with suppress(TimeoutError):
                async with asyncio.timeout(_PATIENCE_S):
                    await self.reach(newest)
            newest = min(newest, await self._stored())  # it may be replaced by a shorter log

    async def _stored(self) -> int:
        """Return how long the log is; writers seal it before they answer."""
        return self.store.sealed_seq or await asyncio.to_thread(self.store.length)

    def recent(self, after: int) -> Sequence[Item] | None:
        """Return the events after one, or None if some of them are no longer in memory."""
        if after >= self.state.seq:
            return ()
        if not self._recent or after + 1 < self._recent[0].seq:
            return None
        return self._recent[after + 1 - self._recent[0].seq :]

    def older(self, after: int, limit: int) -> list[Item]:
        """Read the events after one from the log, up to the last one that the state includes."""
        known = self.state.seq
        return [self.item(row) for row in self.store.read(after, limit) if row.seq <= known]

    def item(self, stored: Stored) -> Item:
        record = decode(stored.line)
        about = _about(record.data)
        task = about.task or about.session.rpartition(".")[0]
        found = self.state.tasks.get(task)  # type: ignore[call-overload]  # ids are texts
        said = (stored.seq, record.type.encode(), mirrored(stored))
        frame = b"id: %d\nevent: %s\ndata: %s\n\n" % said
        convoy = about.convoy or (found.convoy if found else "")
        return Item(stored.seq, record.type, task, convoy, about.session, frame)

    def wake(self) -> None:
        """Wake everything that waits for a new event."""
        old, self.tick = self.tick, asyncio.Event()
        old.set()

    def _run(self) -> None:
        seen = self.state.seq
        try:
            while not self._stopping.is_set():
                if not self.store.wait(seen, _LOOK_S):
                    continue
                rows = list(self.store.read(seen, _AT_ONCE))
                taken = threading.Event()
                self._loop.call_soon_threadsafe(self._publish, rows, taken)
                seen = rows[-1].seq
                while not taken.wait(_LOOK_S) and not self._stopping.is_set():
                    pass
        except Exception:  # a border: without the log the server has nothing to serve
            if not self._stopping.is_set():
                traceback.print_exc(file=sys.stderr)
                self._loop.call_soon_threadsafe(self._fail)

    def _publish(self, rows: list[Stored], taken: threading.Event) -> None:
        try:
            extend(self.state, rows)
        except Exception:
            traceback.print_exc(file=sys.stderr)
            self._fail()
            return
        items = [self.item(row) for row in rows]
        self._recent += items
        self._bytes += sum(len(item.frame) for item in items)
        self._forget()
        taken.set()
        self.wake()

    def _forget(self) -> None:
        """Drop the oldest events, many at a time: cutting the front off a list is not free."""
        if len(self._recent) <= _KEPT and self._bytes <= _KEPT_BYTES:
            return
        keep, size = 0, 0
        for item in reversed(self._recent):
            size += len(item.frame)
            if keep >= _KEPT // 2 or size > _KEPT_BYTES // 2:
                break
            keep += 1
        self._recent = self._recent[len(self._recent) - keep :]
        self._bytes = sum(len(item.frame) for item in self._recent)
