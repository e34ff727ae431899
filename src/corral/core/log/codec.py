"""Events as lines of JSON, chained by hash.

A record's line is the exact text that is stored, mirrored and hashed:

    {"seq":7,"at":1700000000000,"actor":"ana","type":"task.claimed","data":{…}}
    hash(7) = sha256(hash(6) + line(7)),  hash(0) = 32 zero bytes

The last event of a request with an idempotency key carries that key, as `"key":"…"` at the end.

So anyone can check a log with `sha256` and a loop. The fold refuses a record of a type that this
version does not know, and with it the log, until Corral is upgraded: nothing is guessed.
"""

import sys
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec import Raw, Struct

from corral.core.errors import LogTooNew

if TYPE_CHECKING:
    from corral.core.log.events import Event

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
    """A record as a store keeps it: its exact line, and the hash of the chain up to it.

    It is a tuple, so that a table row can serve as one: a hundred thousand may be read at once.
    """

    seq: int
    line: bytes
    hash: bytes


_encode = msgspec.json.Encoder().encode
decode: Callable[[bytes], Record] = msgspec.json.Decoder(Record).decode
_decoders: "dict[str, Callable[[Any], Event]]" = {}


def chain(previous: bytes, line: bytes) -> bytes:
    """Return the hash of a log after one more line."""
    digest: bytes = (_sha256 or load_sha256())(previous + line).digest()
    return digest


_sha256: Callable[[bytes], Any] | None = None


def load_sha256(*, many: bool = False) -> Callable[[bytes], Any]:
    """Choose an implementation: OpenSSL is twice as fast, but loading it costs 3,000 hashes."""
    global _sha256  # noqa: PLW0603 - set at the first hash, and again for a whole log
    name = "hashlib" if many else "_sha2" if sys.version_info >= (3, 12) else "_sha256"
    try:
        module = import_module(name)
    except ImportError:  # a Python built without its own hash functions
        module = import_module("hashlib")
    chosen: Callable[[bytes], Any] = module.sha256
    _sha256 = chosen
    return chosen


def encode(seq: int, at: int, actor: str, event: "Event", key: str = "") -> bytes:
    """Return the line of an event."""
    return _encode(Record(seq, at, actor, event.type, Raw(_encode(event)), key))


def event_of(record: Record) -> "Event":
    """Return the typed event of a record."""
    decoder = _decoders.get(record.type) or _decoder(record)
    return decoder(record.data)


def _decoder(record: Record) -> "Callable[[Any], Event]":
    from corral.core.log.events import event_class

    kind = event_class(record.type)
    if kind is None:
        raise LogTooNew(
            f"event {record.seq} is a {record.type!r}, which this version of Corral does not know",
            "upgrade Corral to the version that wrote the log",
        )
    return _decoders.setdefault(record.type, msgspec.json.Decoder(kind).decode)


def mirrored(stored: Stored) -> bytes:
    """Return the line with its hash, as in the mirror and `corral log --json`."""
    return stored.line[:-1] + b',"hash":"' + stored.hash.hex().encode() + b'"}'


def unmirrored(line: bytes) -> Stored:
    """Undo `mirrored`; raise ValueError for anything else."""
    body, mark, tail = line.rpartition(b',"hash":"')
    if not mark or not tail.endswith(b'"}'):
        raise ValueError("not a line of a log")
    original = body + b"}"
    return Stored(decode(original).seq, original, bytes.fromhex(tail[:-2].decode("ascii")))
