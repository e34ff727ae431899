"""Events as lines of JSON, chained by hash.

A record's line is the exact text that is stored, mirrored and hashed:

    {"seq":7,"at":1700000000000,"actor":"ana","type":"task.claimed","data":{…}}
    hash(7) = sha256(hash(6) + line(7)),  hash(0) = 32 zero bytes

An event that ends what a request with a key asked for has that key, as `"key":"…"` at the end.

So anybody can check a log with `sha256` and a loop. A record of a type that this version does not
know is refused by the fold, and with it the log, until Corral is upgraded: nothing is guessed.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw, Struct

from corral.core.errors import LogTooNew
from corral.core.log.events import EVENTS, Event
from corral.core.mayor import events as mayor_events  # noqa: F401 - registers its events
from corral.core.message import events as message_events  # noqa: F401 - registers its events
from corral.core.queue import events as queue_events  # noqa: F401 - registers its events

FORMAT = 1
GENESIS = bytes(32)


class Record(Struct, frozen=True, gc=False, omit_defaults=True):
    """An event with its place in the log."""

    seq: int
    at: int
    actor: str
    type: str
    data: Raw
    key: str = ""  # see `requests`


class Stored(NamedTuple):
    """A record as it lies in a store: its exact line and the chain's hash up to it.

    A tuple, so that a row of a table serves as one where a hundred thousand are read.
    """

    seq: int
    line: bytes
    hash: bytes


_encode = msgspec.json.Encoder().encode
decode: Callable[[bytes], Record] = msgspec.json.Decoder(Record).decode
_decoders: dict[str, Callable[[Any], Event]] = {}


def chain(previous: bytes, line: bytes) -> bytes:
    """Return the hash of a log that is one line longer."""
    digest: bytes = (_sha256 or _load_sha256())(previous + line).digest()
    return digest


_sha256: Callable[[bytes], Any] | None = None


def _load_sha256() -> Callable[[bytes], Any]:
    """Load OpenSSL when the first hash is wanted: most commands that only look need none."""
    global _sha256  # noqa: PLW0603 - set once
    from hashlib import sha256

    _sha256 = sha256
    return sha256


def encode(seq: int, at: int, actor: str, event: Event, key: str = "") -> bytes:
    """Return the line of an event."""
    return _encode(Record(seq, at, actor, event.type, Raw(_encode(event)), key))


def event_of(record: Record) -> Event:
    """Return the typed event of a record."""
    decoder = _decoders.get(record.type) or _decoder(record)
    return decoder(record.data)


def _decoder(record: Record) -> Callable[[Any], Event]:
    if record.type not in EVENTS:
        raise LogTooNew(
            f"event {record.seq} is a {record.type!r}, which this version of Corral does not know",
            "upgrade Corral to the version that wrote the log",
        )
    decoder = msgspec.json.Decoder(EVENTS[record.type]).decode
    _decoders[record.type] = decoder
    return decoder


def mirrored(stored: Stored) -> bytes:
    """Return the line with its hash, as `corral log --json` and the mirror show it."""
    return stored.line[:-1] + b',"hash":"' + stored.hash.hex().encode() + b'"}'


def unmirrored(line: bytes) -> Stored:
    """Undo `mirrored`; raise ValueError for anything else."""
    body, mark, tail = line.rpartition(b',"hash":"')
    if not mark or not tail.endswith(b'"}'):
        raise ValueError("not a line of a log")
    original = body + b"}"
    return Stored(decode(original).seq, original, bytes.fromhex(tail[:-2].decode("ascii")))
