"""The one way into the log. Every back end passes `tests/contract`.

`transaction` is the only primitive that changes anything: read the current state, let a pure
function decide, append its events, all or nothing. When it returns, the events are durable.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct

from corral.core.errors import CorralError
from corral.core.log import requests
from corral.core.log.codec import FORMAT, Record, Stored, chain, decode, encode
from corral.core.log.events import Event, LogCreated
from corral.core.log.fold import apply
from corral.core.log.state import State
from corral.core.redaction import suspicious, without_secrets

T = TypeVar("T")
Decide = Callable[[State, int], Sequence[Event]]
Answer = Callable[[State, Sequence[Stored]], T]
_PAGE = 32


class Request(Struct, Generic[T], frozen=True):
    """One decision that waits for its turn, and how to answer its caller.

    With a key (`core/log/requests`) it is carried out once, however often it is sent.
    """

    actor: str
    decide: Decide
    answer: Answer[T]
    key: str = ""


class Store(Protocol):
    def transaction(self, request: Request[T]) -> T:
        """Decide on the current state and append the events, atomically and durably, or neither."""

    def batch(self, requests: Sequence[Request[Any]]) -> list[Any]:
        """Carry out several transactions with one wait for the disk; return answers in order.

        Each sees the effect of those before it. A refusal takes its place and affects no other.
        """

    def read(self, after: int = 0, limit: int | None = None) -> Iterator[Stored]:
        """Yield the records after an event, in order."""

    def state(self) -> State:
        """Return the fold of the whole log. It belongs to the store: read it, do not keep it."""

    def wait(self, after: int, timeout_s: float | None = None) -> bool:
        """Wait until the log is longer than `after`; return False if the time runs out first."""

    def verify(self) -> State:
        """Check every stored event; raise LogDamaged with the first bad one."""

    def adopt(self, records: Sequence[Stored]) -> None:
        """Append records that were made elsewhere, unchanged; they must continue the chain."""

    def settle(self) -> None:
        """Do the work that may follow the acknowledgement (snapshots)."""

    def close(self) -> None: ...


def follow(store: Store, after: int = 0) -> Iterator[Stored]:
    """Yield the records after an event, then each new one, forever."""
    while True:
        for stored in store.read(after):
            after = stored.seq
            yield stored
        store.wait(after)


def record_at(store: Store, seq: int) -> Record:
    """Return one event as it is stored."""
    return decode(next(iter(store.read(seq - 1, 1))).line)


def events_of(store: Store, seq: int) -> list[Stored]:
    """Return all events that a request with a key has appended, given the last one."""
    found = list(store.read(seq - 1, 1))
    last = decode(found[0].line)
    while (first := found[0].seq) > 1:
        for stored in reversed(list(store.read(max(0, first - 1 - _PAGE), min(_PAGE, first - 1)))):
            record = decode(stored.line)
            if record.key or (record.actor, record.at) != (last.actor, last.at):
                return found
            found.insert(0, stored)
    return found


def attempt(state: State, request: Request[T], now: int, log: str) -> tuple[list[Stored], Any]:
    """Run one request on a state; return the records to store, and the answer or the refusal.

    A refusal changes nothing. If anything else is raised, the state must be discarded.
    """
    try:
        if request.key:
            requests.refuse_again(state, request.actor, request.key)
        events = request.decide(state, now)
    except CorralError as refusal:
        return [], refusal
    stored: list[Stored] = []
    if events and state.seq == 0:
        stored.append(_append(state, LogCreated(log=log, format=FORMAT), "corral", now))
        # The first decision was made on an empty log: its numbers are one too low.
        events = request.decide(state, now)
    last = len(events) - 1
    for number, event in enumerate(events):
        key = request.key if number == last else ""
        stored.append(_append(state, event, request.actor, now, key))
    return stored, request.answer(state, stored)


def _append(state: State, event: Event, actor: str, now: int, key: str = "") -> Stored:
    seq = state.seq + 1
    line = encode(seq, now, actor, event, key)
    if suspicious(line):  # every event passes here, whoever made it
        event = without_secrets(event)
        line = encode(seq, now, actor, event, key)
    head = chain(state.head, line)
    apply(state, event, seq, now)
    if key:
        requests.remember(state, actor, key, seq, now)
    state.head = head
    return Stored(seq, line, head)
