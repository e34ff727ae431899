"""`GET /api/live`: the dashboard's whole board, then every change to it, on one connection.

The board is made and compared once for all browsers, at most ten times a second, and only while
a client listens. Changes are kept for a while, so a client that reconnects or reads slowly gets the
rows that differ from its own, each as it is now; one that was away for too long gets the board.

    event: state    id SEQ  the whole board
    event: change   id SEQ  {seq, set: {table: [rows]}, gone: {table: [ids]}}
    event: log              an event as in the log; sent before the change that it caused
    event: output           {session, text, begin, end, restarted}: continue with offset=END
    event: tails            {session: [last lines]}, of the sessions that have written something
    event: beat             {}: the stream is alive, though there was nothing to send for a while
"""

import asyncio
import sys
import traceback
from collections import deque
from collections.abc import Callable, Iterable
from time import thread_time
from typing import Annotated as A
from typing import Any, NamedTuple

import msgspec
from msgspec import Meta, Struct

from corral.core.access import Principal
from corral.core.ids import SessionId
from corral.core.show.rows import Board
from corral.core.show.tables import BoardChange, Tables, board_of, difference, tables_of
from corral.interfaces.http.exchange import Call, Send, asked
from corral.interfaces.http.feed import Feed
from corral.interfaces.http.outputs import Outputs
from corral.interfaces.http.stream import Channel, Streams, start
from corral.roles.records import earlier, pages
from corral.roles.records.rooms import Room
from corral.world import processes

PACE_S = 0.1  # at least this long between two comparisons
_REST = 9  # and at least this many times the CPU time that the last one took
_KEPT = 512
_KEPT_BYTES = 8 << 20
_PAGE = 65_536  # bytes of output at once
_TAIL_LINES = 8
_TAIL_WIDTH = 300
_TAILS_S = 1.0  # between two reads of the ends of outputs


class LiveQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    after: A[int, Meta(ge=-1, description="the event of the board that you have; -1: none")] = -1
    log: A[bool, Meta(description="send the events, too")] = False
    output: A[str, Meta(description="send the output of this session")] = ""
    offset: A[str, Meta(description="from this place on; without it: the end of the output")] = ""
    tails: A[bool, Meta(description="send the last lines of all running sessions")] = False


class OutputPart(Struct, frozen=True):
    session: SessionId
    text: str
    begin: str
    end: str
    restarted: bool


class LiveData(Struct, frozen=True):
    """The data of each kind of event on this stream."""

    state: Board
    change: BoardChange
    log: dict[str, Any]
    output: OutputPart
    tails: dict[str, list[str]]
    beat: dict[str, str]  # empty


class _Step(NamedTuple):
    """The difference between two boards, and the bytes of its event."""

    before: int
    change: BoardChange
    frame: bytes


class LiveStreams:
    def __init__(
        self, feed: Feed, streams: Streams, folder: str, hide: Callable[[str], str]
    ) -> None:
        """`hide` removes the values of keys from the output of sessions."""
        self.hide = hide
        self._feed = feed
        self._streams = streams
        self.folder = folder
        self.tick = asyncio.Event()
        self.seq = -1
        self._board: Board | None = None
        self._tables: Tables = {}
        self._encoded: tuple[int, bytes] = (-1, b"")
        self._steps: deque[_Step] = deque()
        self._bytes = 0
        self._open: set[_Watching] = set()
        self._following: asyncio.Task[None] | None = None
        self._tailing: asyncio.Task[None] | None = None
        self._outputs = Outputs(folder, self._written)
        self._untold: set[SessionId] = set()
        self.tails: dict[SessionId, tuple[int, list[str]]] = {}  # with the number of the read
        self.looks = 0

    async def serve(self, call: Call, send: Send) -> None:
        query: LiveQuery = asked(call, LiveQuery)
        session = None
        if query.output:  # it may be an earlier session of its task
            state, store = self._feed.state, self._feed.store
            session = (await asyncio.to_thread(earlier.find, store, state, query.output)).id
        anew = query.after < 0 and not call.header(b"last-event-id")
        known = -1 if anew else start(call, query.after, self._feed)
        stream = _Watching(self, self._feed, query, known, session)
        self._open.add(stream)
        self.refresh()  # a board that another stream is at may be older than what was acknowledged
        self._busy()
        try:
            await self._streams.keep(stream, call, send)
        finally:
            self._open.discard(stream)
            self._busy()

    def stop(self) -> None:
        self._outputs.stop()
        for task in (self._following, self._tailing):
            if task is not None:
                task.cancel()

    def encoded(self) -> bytes:
        """Return the newest board as JSON."""
        self.refresh()
        return self._whole()

    def _whole(self) -> bytes:
        """Return the board that the streams have reached; encoded once for each event."""
        if self._encoded[0] != self.seq:
            self._encoded = (self.seq, msgspec.json.encode(self._board))
        return self._encoded[1]

    def refresh(self) -> None:
        """Bring the board up to the newest event, and keep the difference."""
        state = self._feed.state
        if state.seq == self.seq:
            return
        board = board_of(state)
        tables = tables_of(board)
        if self._board is not None:
            change = difference(self._tables, tables, state.seq)
            step = _Step(self.seq, change, _frame(b"change", change, state.seq))
            self._steps.append(step)
            self._bytes += len(step.frame)
            while len(self._steps) > _KEPT or self._bytes > _KEPT_BYTES:
                self._bytes -= len(self._steps.popleft().frame)
        self._board, self._tables, self.seq = board, tables, state.seq

    def since(self, known: int) -> bytes:
        """Return what brings a client with the board of event `known` up to date."""
        if known == self.seq:
            return b""
        steps = [step for step in self._steps if step.change.seq > known]
        if not steps or known < steps[0].before or known > self.seq:
            return b"id: %d\nevent: state\ndata: %s\n\n" % (self.seq, self._whole())
        if len(steps) == 1:
            return steps[0].frame
        return _frame(b"change", _merged([step.change for step in steps]), self.seq)

    def wake(self) -> None:
        old, self.tick = self.tick, asyncio.Event()
        old.set()

    def _busy(self) -> None:
        """Start the work that the listening clients need, and stop what none of them needs."""
        loop = asyncio.get_running_loop()
        if not self._open and self._following is not None:
            self._following.cancel()
            self._following = None
        if self._open and self._following is None:
            self._following = loop.create_task(self._follow())
            self._following.add_done_callback(self._over)
        tails = any(stream.tails for stream in self._open)
        if not tails and self._tailing is not None:
            self._tailing.cancel()
            self._tailing, self.tails = None, {}
        if tails and self._tailing is None:
            self._tailing = loop.create_task(self._tail())
            self._tailing.add_done_callback(self._over)
        self._seek()

    def _over(self, task: "asyncio.Task[None]") -> None:
        """End all streams after an error, so that no client shows a frozen board: it reconnects."""
        if task.cancelled() or (error := task.exception()) is None:
            return
        traceback.print_exception(error, file=sys.stderr)
        for stream in list(self._open):
            stream.end()

    def _seek(self) -> None:
        """Follow the outputs that clients want."""
        sessions = self._feed.state.sessions
        wanted = {stream.session for stream in self._open if stream.session is not None}
        if self._tailing is not None:
            wanted |= {session.id for session in sessions.values() if session.live}
        self._outputs.want(wanted, {s.id: s.launches for s in sessions.values() if s.id in wanted})

    async def _follow(self) -> None:
        while True:
            tick = self._feed.tick
            if self._feed.state.seq == self.seq:
                self.wake()  # the streams send their beats
                await tick.wait()
                continue
            began = thread_time()
            self.refresh()
            self._seek()
            self.wake()
            await asyncio.sleep(max(PACE_S, _REST * (thread_time() - began)))

    def _written(self, sessions: set[SessionId]) -> None:
        self._untold |= sessions
        for stream in self._open:
            if stream.session in sessions:
                stream.written = True
        self.wake()

    async def _tail(self) -> None:
        """Read the ends of the outputs that have grown, from time to time."""
        while True:
            tick = self.tick
            grown, self._untold = self._untold, set()
            if grown:
                found = await asyncio.to_thread(self._ends, grown)
                self.looks += 1
                live = {s.id for s in self._feed.state.sessions.values() if s.live}
                self.tails = {one: self.tails[one] for one in self.tails if one in live}
                self.tails |= {one: (self.looks, lines) for one, lines in found.items()}
                self.wake()
                await asyncio.sleep(_TAILS_S)
            else:
                await tick.wait()

    def _ends(self, sessions: Iterable[SessionId]) -> dict[SessionId, list[str]]:
        found: dict[SessionId, list[str]] = {}
        for session in sessions:
            launch = Room(self.folder, session).launch()
            lines = processes.tail(launch, _TAIL_LINES) if launch else []
            found[session] = [self.hide(line[:_TAIL_WIDTH]) for line in lines]
        return found


class _Watching(Channel):
    """One browser."""

    # An event, not a comment as elsewhere: a page cannot see comments, and must notice silence.
    BEAT = b"event: beat\ndata: {}\n\n"

    def __init__(
        self, live: LiveStreams, feed: Feed, query: LiveQuery, known: int, session: SessionId | None
    ) -> None:
        super().__init__()
        self._live = live
        self._feed = feed
        self._known = known
        self._log = query.log
        self._logged = known if known >= 0 else feed.state.seq
        self._offset = pages.place(query.offset)
        self._looked = 0
        self.session = session
        self.written = session is not None
        self.tails = query.tails

    async def _go_on(self, who: Principal, send: Send) -> None:
        while True:
            tick = self._live.tick  # taken before the read: anything later wakes us
            chunk = self._news() + self._ends() + await self._output()
            if chunk:
                self.sent += 1
                await self._say(send, chunk)
                continue
            await self._beat(send)
            await tick.wait()

    def _news(self) -> bytes:
        if self._known == self._live.seq:
            return b""
        chunk = (self._events() if self._log else b"") + self._live.since(self._known)
        self._known = self._live.seq
        return chunk

    def _events(self) -> bytes:
        """Return the events that led to the newest board; for older ones there is /api/log."""
        items = self._feed.recent(self._logged) or ()
        self._logged = self._live.seq
        frames = [item.frame for item in items if item.seq <= self._live.seq]
        return b"".join(b"event: log\n" + frame[frame.index(b"data: ") :] for frame in frames)

    def _ends(self) -> bytes:
        if not self.tails or self._looked == self._live.looks:
            return b""
        found = {s: lines for s, (look, lines) in self._live.tails.items() if look > self._looked}
        self._looked = self._live.looks
        return _frame(b"tails", found) if found else b""

    async def _output(self) -> bytes:
        if self.session is None or not self.written:
            return b""
        self.written = False
        room = Room(self._live.folder, self.session)
        page = await asyncio.to_thread(pages.after, room, self._offset, _PAGE)
        if page.end == "" or (not page.text and self._offset is not None):
            return b""
        self.written = True  # there may be more than a page
        self._offset = pages.place(page.end)
        text = self._live.hide(page.text)
        part = OutputPart(self.session, text, page.begin, page.end, page.restarted)
        return _frame(b"output", part)


def _merged(changes: list[BoardChange]) -> BoardChange:
    """Merge consecutive changes into one."""
    rows: dict[str, dict[str, Any]] = {}
    gone: dict[str, dict[str, None]] = {}
    for change in changes:
        for table, found in change.set.items():
            for row in found:
                rows.setdefault(table, {})[row.id] = row
                gone.get(table, {}).pop(row.id, None)
        for table, lost in change.gone.items():
            for one in lost:
                rows.get(table, {}).pop(one, None)
                gone.setdefault(table, {})[one] = None
    return BoardChange(
        changes[-1].seq,
        {table: list(found.values()) for table, found in rows.items() if found},
        {table: list(lost) for table, lost in gone.items() if lost},
    )


def _frame(kind: bytes, data: Any, seq: int | None = None) -> bytes:
    number = b"" if seq is None else b"id: %d\n" % seq
    return b"%sevent: %s\ndata: %s\n\n" % (number, kind, msgspec.json.encode(data))
