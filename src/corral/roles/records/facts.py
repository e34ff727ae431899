"""Read an engine's output as facts while it is printed, in bounded memory.

A reading begins at the oldest output that still exists, so a newly started witness arrives at the
same summary as the one before it. (If the output exceeds twice `watch.output_mb`, its middle is
gone, but what was recorded by then is in the log.)
"""

import os
from collections.abc import Callable
from contextlib import suppress
from os.path import join

from corral.core.engine.facts import Fact
from corral.core.engine.stream import Stream, take
from corral.roles.records.follow import OutputFollower
from corral.world.engines.recipe import OutputReader
from corral.world.engines.recipe import Stream as Source
from corral.world.processes.output import ERRORS, NEWEST

_LONGEST = 4 << 20  # bytes of a line; a longer one is skipped
_AT_ONCE = 4 << 20  # bytes that are read before other sessions get their turn

Heard = Callable[[Fact], None]


class Reading:
    """One launch of one engine."""

    def __init__(
        self,
        folder: str,
        reader: OutputReader,
        stream: Stream,
        now: int,
        heard: Heard | None = None,
    ) -> None:
        self.folder = folder
        self._reader = reader
        self._heard = heard
        self._lines: dict[Source, _GrowingLines] = {
            "out": _GrowingLines(folder, NEWEST),
            "err": _GrowingLines(folder, ERRORS),
        }
        self.stream = stream  # as it was before anything was read
        self.more = True  # there may be more to read at once
        self.fact_at = min(now, _changed_at(folder) or now)
        self.limited_at = 0
        self.asked_at = 0
        self.finished_at = 0
        self.begun = False  # at least one fact was read
        self.unread = 0  # lines that the reader failed on
        self._ended = False

    def advance(self, now: int) -> None:
        """Read new output, up to a limit."""
        before = self.stream
        left = _AT_ONCE
        for source, lines in self._lines.items():
            while left > 0 and (data := lines.read()):
                left -= len(data)
                for line in lines.split(data):
                    self._feed(line, source)
        self.more = left <= 0
        if self.stream is not before:
            self.fact_at = min(now, _changed_at(self.folder) or now)
        self._note_times(before, now)

    def catch_up(self, now: int) -> None:
        """Read all output that exists."""
        self.more = True
        while self.more:
            self.advance(now)

    def finish(self, now: int) -> Stream:
        """Read the rest of the output of a program that has ended."""
        if self._ended:
            return self.stream
        self.catch_up(now)
        for source, lines in self._lines.items():
            if lines.rest:
                self._feed(lines.rest, source)
        for fact in self._reader.finish():
            self._take(fact)
        self._ended = True
        self.close()
        return self.stream

    def close(self) -> None:
        for lines in self._lines.values():
            lines.close()

    def _feed(self, line: bytes, source: Source) -> None:
        # A border: a program may print anything, and a line that its reader fails on must not cost
        # the lines after it. It is counted, and an alert is raised.
        try:
            facts = self._reader.feed(line, source)
        except Exception:
            self.unread += 1
            return
        for fact in facts:
            self._take(fact)

    def _take(self, fact: Fact) -> None:
        self.stream = take(self.stream, fact)
        self.begun = True
        if self._heard is not None:
            self._heard(fact)

    def _note_times(self, before: Stream, now: int) -> None:
        if self.stream.finished is not None and not self.finished_at:
            self.finished_at = now
        if self.stream.limited is None:
            self.limited_at = 0
        elif before.limited is None or not self.limited_at:
            self.limited_at = now
        if self.stream.asked is None:
            self.asked_at = 0
        elif before.asked != self.stream.asked or not self.asked_at:
            self.asked_at = now


class _GrowingLines:
    """Whole lines of one file that grows and rotates."""

    def __init__(self, folder: str, name: str) -> None:
        self._following = OutputFollower(folder, -1, name)
        self.rest = b""
        self._too_long = False

    def read(self) -> bytes:
        part = self._following.read()
        if part.gap:
            self.rest, self._too_long = b"", True  # it begins within some line
        return part.data

    def split(self, data: bytes) -> list[bytes]:
        *whole, rest = data.split(b"\n")
        if whole:
            whole[0] = self.rest + whole[0]
            if self._too_long:
                del whole[0]
            self.rest, self._too_long = rest, False
        else:
            self.rest += rest
        if len(self.rest) > _LONGEST:
            self.rest, self._too_long = b"", True
        return whole

    def close(self) -> None:
        self._following.close()


def _changed_at(folder: str) -> int:
    """Return when output or errors were last printed; 0 if nothing was."""
    times = [0]
    for name in (NEWEST, ERRORS):
        with suppress(OSError):
            times.append(os.stat(join(folder, name)).st_mtime_ns // 1_000_000)
    return max(times)
