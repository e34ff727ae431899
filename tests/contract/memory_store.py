"""A store in memory, for tests: it passes the same contract as the one on disk."""

import os
import threading
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from corral.core.errors import CorralError
from corral.core.log.codec import Stored
from corral.core.log.state import State
from corral.store.port import Request, attempt
from corral.store.replay import extend
from corral.world.clock import Clock, now

T = TypeVar("T")


class MemoryStore:
    def __init__(self, clock: Clock = now) -> None:
        self._clock = clock
        self._log = os.urandom(8).hex()
        self._stored: list[Stored] = []
        self._state = State()
        self._changed = threading.Condition()

    def transaction(self, request: Request[T]) -> T:
        (answer,) = self.batch([request])
        if isinstance(answer, CorralError):
            raise answer
        return answer  # type: ignore[no-any-return]  # batch answers each request with its own T

    def batch(self, requests: Sequence[Request[Any]]) -> list[Any]:
        with self._changed:
            rows: list[Stored] = []
            answers = []
            try:
                for request in requests:
                    stored, answer = attempt(self._state, request, self._clock(), self._log)
                    rows.extend(stored)
                    answers.append(answer)
            except BaseException:
                self._state = self.verify()  # the other one may be part of the way
                raise
            self._stored.extend(rows)
            self._changed.notify_all()
            return answers

    def read(self, after: int = 0, limit: int | None = None) -> Iterator[Stored]:
        with self._changed:
            end = None if limit is None else after + limit
            return iter(self._stored[after:end])

    def state(self) -> State:
        return self._state

    def wait(self, after: int, timeout_s: float | None = None) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: len(self._stored) > after, timeout_s)

    def verify(self) -> State:
        return extend(State(), self._stored)

    def adopt(self, records: Sequence[Stored]) -> None:
        with self._changed:
            self._state = extend(self.verify(), records)
            self._stored.extend(records)
            self._changed.notify_all()

    def settle(self) -> None:
        """Nothing is derived here."""

    def close(self) -> None:
        """Nothing is open here."""
