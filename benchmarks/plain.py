"""The peers of the SQLite log: two plain append-only files, flushed once for each batch.

`RawFile` is the floor: nothing but a queue, a write and an fsync. `PlainFileStore` does everything
that Corral does with an event (decide, encode, chain, fold) and differs only in where it writes.
"""

import os
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

from benchmarks.slow import Syncs
from corral.core.errors import CorralError
from corral.core.log.codec import Stored
from corral.core.log.state import State
from corral.store.port import Request, attempt
from corral.world.clock import now

T = TypeVar("T")

_Pending = tuple[bytes, threading.Lock]

_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC


class RawFile:
    """A bare group commit: finished lines and one writer thread."""

    def __init__(self, path: Path, syncs: Syncs) -> None:
        self._fd = os.open(path, _FLAGS, 0o644)
        self._syncs = syncs
        self._queue: SimpleQueue[_Pending | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def append(self, line: bytes) -> None:
        """Return once the line is on disk."""
        done = threading.Lock()
        done.acquire()
        self._queue.put((line, done))
        done.acquire()

    def close(self) -> None:
        self._queue.put(None)
        self._thread.join()
        os.close(self._fd)

    def _run(self) -> None:
        expected = 0
        while True:
            taken = self._take(expected)
            batch = [pending for pending in taken if pending is not None]
            os.write(self._fd, b"".join(line for line, _ in batch))
            self._syncs.fsync(self._fd)
            for _, done in batch:
                done.release()
            expected = len(batch) + self._queue.qsize()
            if len(batch) < len(taken):
                return

    def _take(self, expected: int) -> list[_Pending | None]:
        """Wait for a line, then for all that are expected, as long as more keep arriving.

        The producers that were just answered are about to return: without the wait, half of them
        would miss each fsync.
        """
        taken = [self._queue.get()]
        seen = -1
        while seen < self._queue.qsize() < expected - 1:
            seen = self._queue.qsize()
            time.sleep(0)  # lets other threads run
        taken.extend(self._queue.get() for _ in range(self._queue.qsize()))
        return taken


class PlainFileStore:
    """A store for one process that can only append, which is enough for a `Writer`."""

    def __init__(self, path: Path, syncs: Syncs) -> None:
        self._fd = os.open(path, _FLAGS, 0o644)
        self._syncs = syncs
        self._log = os.urandom(8).hex()
        self._state = State()

    def transaction(self, request: Request[T]) -> T:
        (answer,) = self.batch([request])
        if isinstance(answer, CorralError):
            raise answer
        return answer  # type: ignore[no-any-return]  # batch answers each request with its own T

    def batch(self, requests: Sequence[Request[Any]]) -> list[Any]:
        answers: list[Any] = []
        lines: list[bytes] = []
        for request in requests:
            stored, answer = attempt(self._state, request, now(), self._log)
            lines.extend(b"%s %s\n" % (record.line, record.hash) for record in stored)
            answers.append(answer)
        os.write(self._fd, b"".join(lines))
        self._syncs.fsync(self._fd)
        return answers

    def state(self) -> State:
        return self._state

    def settle(self) -> None:
        """There is no snapshot."""

    def close(self) -> None:
        os.close(self._fd)

    def read(self, after: int = 0, limit: int | None = None) -> Iterator[Stored]:
        raise NotImplementedError

    def wait(self, after: int, timeout_s: float | None = None) -> bool:
        raise NotImplementedError

    def verify(self) -> State:
        raise NotImplementedError

    def adopt(self, records: Sequence[Stored]) -> None:
        raise NotImplementedError
