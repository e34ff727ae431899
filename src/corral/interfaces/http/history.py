"""The state as it was at an earlier event, folded from the nearest earlier state in memory.

A person who moves back and forth in time asks for many moments, so some states on the way are kept,
encoded, up to a bound. Folding happens in a thread, one request at a time, and does not block the
server.
"""

import asyncio
from bisect import bisect_right
from itertools import islice

import msgspec

from corral.core.log.state import State
from corral.interfaces.http.feed import Feed
from corral.store.replay import extend

_STEP = 500  # events that are folded at once
_KEPT = 64
_KEPT_BYTES = 32 << 20

_decoder = msgspec.msgpack.Decoder(State)


class History:
    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._one = asyncio.Lock()
        self._seqs: list[int] = []
        self._states: dict[int, bytes] = {}
        self._bytes = 0
        self._apart = _STEP  # kept states are at least this many events apart

    async def at(self, seq: int) -> State:
        """Return the state after an event that is in the log."""
        async with self._one:
            return await asyncio.to_thread(self._fold, seq)

    def _fold(self, seq: int) -> State:
        state = self._nearest(seq)
        records = self._feed.store.read(state.seq, seq - state.seq)
        while state.seq < seq:
            before = state.seq
            extend(state, islice(records, _STEP - state.seq % _STEP))
            if state.seq == before:
                raise AssertionError(f"the log ends at {before}, before {seq}")
            if state.seq % self._apart == 0:
                self._keep(state)
        return state

    def _nearest(self, seq: int) -> State:
        place = bisect_right(self._seqs, seq)
        kept = self._seqs[place - 1] if place else 0
        saved = self._feed.store.saved(seq)
        if not place or saved.seq > kept:
            return saved
        return _decoder.decode(self._states[kept])

    def _keep(self, state: State) -> None:
        if state.seq in self._states:
            return
        encoded = msgspec.msgpack.encode(state)
        self._states[state.seq] = encoded
        self._seqs = sorted(self._states)
        self._bytes += len(encoded)
        while len(self._seqs) > _KEPT or self._bytes > _KEPT_BYTES:
            self._thin()

    def _thin(self) -> None:
        """Drop every other state, and keep fewer from now on, so that they stay evenly spread."""
        self._apart *= 2
        for seq in [seq for seq in self._seqs if seq % self._apart]:
            self._bytes -= len(self._states.pop(seq))
        self._seqs = sorted(self._states)
