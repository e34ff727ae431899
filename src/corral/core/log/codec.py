"""Events as lines of JSON, chained by hash.

A record's line is the exact text that is stored, mirrored and hashed:

    {"seq":7,"at":1700000000000,"actor":"ana","type":"task.claimed","data":{…}}
    hash(7) = sha256(hash(6) + line(7)),  hash(0) = 32 zero bytes

An event that ends what a request with a key asked for has that key, as `"key":"…"` at the end.

So anybody can check a log with `sha256` and a loop. A record of a type that this version does not
know is refused by the fold, and with it the log, until Corral is upgraded: nothing is guessed.
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
    """A record as it lies in a store: its exact line and the chain's hash up to it.

    A tuple, so that a row of a table serves as one where a hundred thousand are read.
    """

    seq: int
    line: bytes
    hash: bytes


_encode = msgspec.json.Encoder().encode
decode: Callable[[bytes], Record] = msgspec.json.Decoder(Record).decode
_decoders: "dict[str, Callable[[Any], Event]]" = {}


def chain(previous: bytes, line: bytes) -> bytes:
    """Return the hash of a log that is one line longer."""
    digest: bytes = (_sha256 or load_sha256())(previous + line).digest()
    return digest


_sha256: Callable[[bytes], Any] | None = None


def load_sha256(*, many: bool = False) -> Callable[[bytes], Any]:
    """Choose an implementation: OpenSSL is twice as fast, but takes 3,000 hashes to load."""
    global _sha256  # noqa: PLW0603 - set at the first hash, and again for a whole log
    name = "hashlib" if many else "_sha2" if sys.version_info >= (3, 12) else "_sha256"
    try:
        module = import_module(name)
    except ImportError:  # a Python that was built without hashes of its own
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
    decoder = msgspec.json.Decoder(kind).decode
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
