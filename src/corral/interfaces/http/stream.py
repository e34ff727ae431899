"""`GET /api/events`: the log as Server-Sent Events, each once and in order.

A stream is only a cursor. It looks up the next events when the client is ready for them, so a slow
client falls behind in the log and costs no memory. Ids are the numbers of events, so
`Last-Event-ID` continues where the last stream ended.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic
from typing import Annotated as A

from msgspec import Meta, Struct

from corral.core.access import Principal, still_holds, visible
from corral.core.errors import BadInput, NoToken, TooMany
from corral.interfaces.http.exchange import SAFE, Call, Send, asked
from corral.interfaces.http.feed import Feed, Item

BEAT_S = 15.0
STUCK_S = 60.0  # a client that reads nothing for this long is disconnected
MOST = 1000
_MOST_EVENTS = 1 << 53
_CHUNK = 32_768
_PAGE = 100


class EventsQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    after: A[int, Meta(ge=-1, le=_MOST_EVENTS, description="begin after this event; -1: now")] = -1
    task: A[str, Meta(description="only events about this task")] = ""
    convoy: A[str, Meta(description="only events about this convoy")] = ""
    type: A[str, Meta(description="only events of this type, or of a group of types like task")] = (
        ""
    )


class Streams:
    """All streams: woken together when the log grows, and regularly to send a beat."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self.sent = 0
        self.open: set[Channel] = set()
        self._beats = asyncio.get_running_loop().create_task(self._beat())

    def stop(self) -> None:
        self._beats.cancel()
        for stream in list(self.open):
            stream.end()

    async def serve(self, call: Call, send: Send) -> None:
        query: EventsQuery = asked(call, EventsQuery)
        cursor = start(call, query.after, self._feed)
        await self._must_be_known(cursor)
        await self.keep(_Stream(self._feed, cursor, _wanted(call, query)), call, send)

    async def _must_be_known(self, seq: int) -> None:
        """Refuse to begin after an event that is not in the log: those up to it would be lost."""
        if seq <= self._feed.state.seq:
            return
        if not await asyncio.to_thread(lambda: list(self._feed.store.read(seq - 1, 1))):
            newest = self._feed.state.seq
            raise BadInput(f"there is no event {seq}: the newest is {newest}", "begin with after=0")

    async def keep(self, stream: "Channel", call: Call, send: Send) -> None:
        """Serve a stream until it ends."""
        if len(self.open) >= MOST:
            raise TooMany(f"{MOST} event streams are open, which is the limit")
        self.open.add(stream)
        try:
            await stream.run(call, send)
        finally:
            self.sent += stream.sent
            self.open.discard(stream)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(BEAT_S)
            for stream in list(self.open):
                if stream.stuck_s() > STUCK_S:
                    stream.end()
            self._feed.wake()


def start(call: Call, after: int, feed: Feed) -> int:
    """Return the event after which a stream begins; an `after` of -1 means the newest."""
    said = call.header(b"last-event-id")
    if not said:
        return after if after >= 0 else feed.state.seq
    if not (said.isascii() and said.isdigit() and len(said) < 19):
        raise BadInput("Last-Event-ID is not the number of an event")
    return int(said)


Wanted = Callable[[Item], bool]


def _wanted(call: Call, query: EventsQuery) -> Wanted | None:
    """Return the predicate of the wanted events; None if all are wanted."""
    if query == EventsQuery(after=query.after):
        return None
    task, kind = query.task.upper(), f"{query.type}."

    def wanted(item: Item) -> bool:
        return (
            (not task or item.task == task)
            and (not query.convoy or item.convoy == query.convoy)
            and (not query.type or item.type == query.type or item.type.startswith(kind))
        )

    return wanted


class Channel:
    """One client, served for as long as it listens."""

    BEAT = b":\n\n"

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._sending_since = 0.0
        self._said_at = 0.0
        self._ended = False
        self.sent = 0

    def stuck_s(self) -> float:
        return monotonic() - self._sending_since if self._sending_since else 0.0

    def end(self) -> None:
        self._ended = True
        if self._task is not None:
            self._task.cancel()

    async def run(self, call: Call, send: Send) -> None:
        self._task = asyncio.current_task()
        leaving = asyncio.ensure_future(self._until_gone(call))
        try:
            kind = (b"content-type", b"text/event-stream")
            headers = [kind, (b"x-accel-buffering", b"no"), *SAFE]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await self._say(send, b": corral\nretry: 1000\n\n")
            await self._go_on(call.principal, send)
        except asyncio.CancelledError:
            if not self._ended:
                raise
            if self._sending_since:  # in the middle of a message that the client does not read
                call.abort()
                return
        except NoToken:
            pass  # the claim has ended, and with it the right to watch
        finally:
            leaving.cancel()
        with suppress(OSError):
            await send({"type": "http.response.body", "body": b""})

    async def _go_on(self, who: Principal, send: Send) -> None:
        """Send events until the stream is ended."""
        raise NotImplementedError

    async def _until_gone(self, call: Call) -> None:
        await call.gone()
        self.end()

    async def _beat(self, send: Send) -> None:
        """Send a beat, unless something else was sent recently."""
        if monotonic() - self._said_at >= BEAT_S - 1:
            await self._say(send, self.BEAT)

    async def _say(self, send: Send, chunk: bytes) -> None:
        self._said_at = self._sending_since = monotonic()
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
        self._sending_since = 0.0


class _Stream(Channel):
    def __init__(self, feed: Feed, cursor: int, wanted: Wanted | None) -> None:
        super().__init__()
        self._feed = feed
        self._cursor = cursor
        self._wanted = wanted

    async def _go_on(self, who: Principal, send: Send) -> None:
        while True:
            tick = self._feed.tick  # taken before the read: anything later wakes us
            items = self._feed.recent(self._cursor)
            if items is None:
                items = await asyncio.to_thread(self._feed.older, self._cursor, _PAGE)
            if items:
                chunk = self._chunk(items, who)
                if chunk:
                    await self._say(send, chunk)
                continue
            await self._beat(send)
            await tick.wait()

    def _chunk(self, items: Sequence[Item], who: Principal) -> bytes:
        """Return as many events as fit into one message, and move the cursor past them."""
        if who.session:
            still_holds(self._feed.state, who)
        frames: list[bytes] = []
        size = 0
        for item in items:
            if size >= _CHUNK:
                break
            self._cursor = item.seq
            if self._wanted is not None and not self._wanted(item):
                continue
            if who.session and not visible(self._feed.state, who, item.task):
                continue
            frames.append(item.frame)
            size += len(item.frame)
        self.sent += len(frames)
        return b"".join(frames)
