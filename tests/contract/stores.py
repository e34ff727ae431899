"""Fixtures of the contract suite: every store, with and without a writer, and small requests."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Thread
from typing import Any, TypeVar

import msgspec

from corral.core.log.codec import Stored, decode, event_of
from corral.core.log.events import AlertRaised, Event
from corral.core.log.state import State
from corral.store.port import Request, Store
from corral.store.sqlite import SqliteStore
from corral.store.writer import Writer
from tests.contract.memory_store import MemoryStore

T = TypeVar("T")
Open = Callable[[], SqliteStore]

START = 1_700_000_000_000
KINDS = ("memory", "sqlite", "writer-memory", "writer-sqlite")


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        return self.now


class Behind:
    """A store whose transactions go through a writer, as in a server; the rest is the store's."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.writer = Writer(store)

    def transaction(self, request: Request[T]) -> T:
        return self.writer.transaction(request)

    def batch(self, requests: Sequence[Request[Any]]) -> list[Any]:
        return self.store.batch(requests)

    def read(self, after: int = 0, limit: int | None = None) -> Iterator[Stored]:
        return self.store.read(after, limit)

    def state(self) -> State:
        return self.store.state()

    def wait(self, after: int, timeout_s: float | None = None) -> bool:
        return self.store.wait(after, timeout_s)

    def verify(self) -> State:
        return self.store.verify()

    def adopt(self, records: Sequence[Stored]) -> None:
        self.store.adopt(records)

    def settle(self) -> None:
        self.store.settle()

    def close(self) -> None:
        self.writer.close()
        self.store.close()


def opened(kind: str, folder: Path, clock: Clock) -> Store:
    writer, _, back_end = kind.rpartition("-")
    store: Store
    store = SqliteStore(folder, clock) if back_end == "sqlite" else MemoryStore(clock)
    return Behind(store) if writer else store


def alert(name: str) -> AlertRaised:
    return AlertRaised(alert=name, kind="note", subject=name, text=name)


def note(*names: str, actor: str = "ana") -> Request[list[int]]:
    """A request that appends one alert for each name, and answers with their numbers."""
    return Request(actor, lambda state, now: [alert(name) for name in names], numbers)


def numbers(state: State, stored: Sequence[Stored]) -> list[int]:
    return [record.seq for record in stored]


def raising(error: Exception) -> Request[None]:
    def decide(state: State, now: int) -> Sequence[Event]:
        raise error

    return Request("eve", decide, lambda state, stored: None)


def raising_late(error: Exception) -> Request[None]:
    """A request whose events are fine and whose answer is not."""

    def answer(state: State, stored: Sequence[Stored]) -> None:
        raise error

    return Request("eve", lambda state, now: [alert("never")], answer)


def names(store: Store, after: int = 0) -> list[str]:
    """Return what `note` wrote, as the log has it."""
    events = [event_of(decode(stored.line)) for stored in store.read(after)]
    return [event.alert for event in events if isinstance(event, AlertRaised)]


def encoded(state: State) -> bytes:
    return msgspec.msgpack.encode(state)


def joined(*threads: Thread) -> None:
    """Wait for threads to end; one that hangs fails the test instead of hanging it."""
    for thread in threads:
        thread.join(20)
    assert not any(thread.is_alive() for thread in threads)
