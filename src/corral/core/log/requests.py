"""Idempotent requests: sent any number of times, carried out once.

A client may never see the reply to its request, so it chooses a key and sends it along. The key is
stored with the last event of the request: it is there if and only if the request was carried out,
whichever process dies when.

    "key":"KEY/DIGEST"

The digest is that of the command: a key that comes with another command is a mistake, and refused.
The state remembers keys for `REMEMBERED_MS`.
"""

from typing import ClassVar, Protocol

import msgspec

from corral.core.errors import AlreadyDone, BadInput, Refused
from corral.core.log.state import AnsweredRequest, State
from corral.core.redaction import redacted
from corral.core.text import printable

REMEMBERED_MS = 600_000
REMEMBERED = 10_000
_SHORTEST, _LONGEST = 8, 64


class NamedRequest(Protocol):
    """A command, or a request that only one interface has."""

    name: ClassVar[str]


def keyed(key: str, command: NamedRequest) -> str:
    """Return the key of a command as it is stored; an empty key stays empty."""
    if not key:
        return ""
    plain = key.replace("-", "a").replace("_", "a")
    if not _SHORTEST <= len(key) <= _LONGEST or not (plain.isascii() and plain.isalnum()):
        hint = f"use {_SHORTEST} to {_LONGEST} letters, digits, - and _"
        raise BadInput(f"the idempotency key {printable(key)!r} is not valid", hint)
    if redacted(key) != key:
        raise BadInput("the idempotency key looks like a secret, which must not be logged")
    from hashlib import sha256

    asked = f"{command.name}\n".encode() + msgspec.json.encode(command)
    return f"{key}/{sha256(asked).hexdigest()[:12]}"


def refuse_again(state: State, actor: str, stored: str) -> None:
    """Raise AlreadyDone for a request that was carried out, and refuse a key that was reused."""
    key, _, digest = stored.partition("/")
    earlier = state.requests.get(f"{actor}/{key}")
    if earlier is None:
        return
    if earlier.digest != digest:
        raise Refused(
            f"the idempotency key {key} was used for another request, at event {earlier.seq};"
            " nothing was changed",
            "make a new key for each request",
            code="key_reused",
        )
    raise AlreadyDone(earlier.seq)


def remember(state: State, actor: str, stored: str, seq: int, at: int) -> None:
    """Part of the fold: remember a key, and forget those that are too old."""
    key, _, digest = stored.partition("/")
    known = state.requests
    known[f"{actor}/{key}"] = AnsweredRequest(seq, at, digest)
    while len(known) > REMEMBERED or next(iter(known.values())).at < at - REMEMBERED_MS:
        del known[next(iter(known))]
