"""One writer for many threads: requests that arrive while the disk is busy share the next commit.

Callers are served in order of arrival. With 32 of them, one fsync carries about 32 events instead
of one.
"""

import threading
import time
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any, TypeVar

from corral.core.errors import CorralError, Failed
from corral.store.port import Request, Store

T = TypeVar("T")

_MOST = 512  # requests in one commit: limits how long the first of them waits

Told = Callable[[Any], None]
_Pending = tuple[Request[Any], Told]


class Writer:
    """Puts a thread in front of a store's `transaction`; all else goes to the store itself."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._queue: SimpleQueue[_Pending | None] = SimpleQueue()
        self._door = threading.Lock()  # no request is accepted after the writer was closed
        self._open = True
        self._expected = 0  # callers that may ask again at any moment
        self.trouble: Exception | None = None  # why the store could not settle, if it could not
        self._thread = threading.Thread(target=self._run, name="corral-writer", daemon=True)
        self._thread.start()

    def transaction(self, request: Request[T]) -> T:
        done = threading.Lock()
        done.acquire()
        answers: list[Any] = []

        def told(answer: Any) -> None:
            answers.append(answer)
            done.release()

        self.submit(request, told)
        done.acquire()
        if isinstance(answers[0], BaseException):
            raise answers[0]
        return answers[0]  # type: ignore[no-any-return]  # each request is answered with its T

    def submit(self, request: Request[Any], told: Told) -> None:
        """Ask without waiting: `told` gets the answer or the error, in the writer's thread.

        It must be short and must not raise: other callers are waiting for their answers.
        """
        with self._door:
            if not self._open:
                raise Failed("the writer is closed; nothing was changed")
            self._queue.put((request, told))

    def close(self) -> None:
        """Finish the requests that were accepted, then stop."""
        with self._door:
            self._open = False
            self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        while True:
            batch = self._take()
            for (_, told), answer in zip(batch, self._answers(batch), strict=True):
                told(answer)
            self._expected = min(len(batch) + self._queue.qsize(), _MOST)
            if not self._open and self._queue.empty():
                return
            try:
                self._store.settle()
                self.trouble = None
            except (CorralError, OSError) as error:
                self.trouble = error

    def _take(self) -> list[_Pending]:
        """Wait for a request, then take all that are waiting.

        Callers that were just answered often ask again at once. As long as more of them arrive,
        wait for them; otherwise half of them would miss each commit.
        """
        taken = [self._queue.get()]
        seen = -1
        while seen < (waiting := self._queue.qsize()) < self._expected - 1:
            seen = waiting
            time.sleep(0)  # let them run
        taken.extend(self._queue.get() for _ in range(min(self._queue.qsize(), _MOST - 1)))
        return [pending for pending in taken if pending is not None]

    def _answers(self, batch: Sequence[_Pending]) -> Sequence[Any]:
        """Ask the store. If one request breaks the batch, ask for each of them alone."""
        try:
            return self._store.batch([request for request, _ in batch])
        except Failed as error:
            return [error] * len(batch)  # the disk or the log failed, not a request: retry nothing
        except Exception as error:
            if len(batch) == 1:
                return [error]
            return [answer for pending in batch for answer in self._answers([pending])]
