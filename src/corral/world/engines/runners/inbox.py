"""Text for a running session: a folder of files in its room, each consumed exactly once.

inbox/m-7.json          written by the witness (`put`), atomically, once per message
inbox/taken/m-7.json    the runner has it and is handing it to its program
inbox/done/m-7.json     the program has it; says how that was proved
inbox/open.json         a runner reads this inbox; its kind
inbox/knock             there are messages: the runner says when its program is between turns
inbox/nothing           the messages are gone: the runner need not wait for them
"""

import fcntl
import os
from contextlib import suppress
from enum import StrEnum
from os.path import isfile, join

import msgspec
from msgspec import Struct

_LONGEST = 2 << 20  # as JSON
_FOLDER, _TAKEN, _DONE, _OPEN = "inbox", "taken", "done", "open.json"
_KNOCK, _NOTHING = "knock", "nothing"


class DeliveryProof(StrEnum):
    """How it is known that a program has a text."""

    RECORD = "record"  # the program itself says so: its protocol, its transcript
    SCREEN = "screen"  # it was seen on its screen
    NONE = "none"  # it was sent, and nothing shows that it arrived


class InboxMessage(Struct, frozen=True, omit_defaults=True):
    name: str
    text: str  # as it was written
    answers: str = ""  # the question that this answers, by its `call`
    by: str = ""
    told: str = ""  # as an agent sees it: with its number and sender
    plain: bool = False  # to be typed verbatim
    proof: DeliveryProof | None = None

    @property
    def said(self) -> str:
        return self.told or self.text

    @property
    def typed(self) -> str:
        return self.text if self.plain else self.said


def put(room: str, message: InboxMessage) -> None:
    """Put a message of the log into the inbox of a room, unless it is there already."""
    folder = _made(room)
    with open(join(folder, ".lock"), "ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not any(message.name in _names(folder, place) for place in ("", _TAKEN, _DONE)):
            _write(join(folder, f"{message.name}.json"), message)


def withdraw(room: str, name: str) -> None:
    """Withdraw a message that no runner has taken; only while no runner runs."""
    _removed(join(room, _FOLDER), f"{name}.json")


def taken(room: str, name: str) -> bool:
    """Say whether a runner took a message and did not record its delivery."""
    return isfile(join(room, _FOLDER, _TAKEN, f"{name}.json")) and receipt(room, name) is None


def knock(room: str) -> None:
    """Ask the runner to say when its program is between two turns."""
    _sign(join(_made(room), _KNOCK))


def dismiss(room: str) -> None:
    """Tell the runner that there is nothing to wait for any more."""
    _sign(join(_made(room), _NOTHING))


def _sign(path: str) -> None:
    if not isfile(path):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))


def receipt(room: str, name: str) -> DeliveryProof | None:
    """Return how it is known that the program has a text; None while it does not."""
    message = _read(join(room, _FOLDER, _DONE, f"{name}.json"))
    return message.proof if message else None


def reader_of(room: str) -> str:
    """Return the kind of runner that reads this inbox (`acp`, `tmux`); empty if none does."""
    try:
        with open(join(room, _FOLDER, _OPEN), "rb") as file:
            return msgspec.json.decode(file.read(), type=dict[str, str]).get("kind", "")
    except (FileNotFoundError, msgspec.DecodeError):
        return ""


class Inbox:
    """The reading side; the session's launch ensures that there is one runner at a time."""

    def __init__(self, room: str, kind: str) -> None:
        self.folder = _made(room)
        _write(join(self.folder, _OPEN), {"kind": kind})

    def doubtful(self) -> list[InboxMessage]:
        """Return what an earlier runner took without recording its delivery.

        The two cannot be one step: look in the program's own record before sending it again.
        """
        delivered = set(_names(self.folder, _DONE))
        found = []
        for name in _names(self.folder, _TAKEN):
            path = join(self.folder, _TAKEN, f"{name}.json")
            if name in delivered:
                os.unlink(path)  # it was killed within `done`
            elif (message := _read(path)) is not None:
                found.append(message)
        return found

    def take(self) -> InboxMessage | None:
        """Take the oldest text; it stays on record as taken until `done`."""
        for name in _names(self.folder, ""):
            path = join(self.folder, _TAKEN, f"{name}.json")
            os.rename(join(self.folder, f"{name}.json"), path)
            if (message := _read(path)) is not None:
                return message
            # Not a message: kept, but never delivered.
            os.rename(path, join(self.folder, _DONE, f"unreadable-{name}.json"))
        return None

    def knocked(self) -> bool:
        """Say whether somebody waits for the program to be ready."""
        if not _removed(self.folder, _KNOCK):
            return False
        _removed(self.folder, _NOTHING)  # about an earlier knock
        return True

    def dismissed(self) -> bool:
        """Say whether the wait is over."""
        return _removed(self.folder, _NOTHING)

    def done(self, message: InboxMessage, proof: DeliveryProof) -> None:
        """Record that the program has a text, and how that is known."""
        name = f"{message.name}.json"
        _write(join(self.folder, _DONE, name), msgspec.structs.replace(message, proof=proof))
        os.unlink(join(self.folder, _TAKEN, name))

    def close(self) -> None:
        """Record that no runner reads this inbox; messages wait for the next one."""
        _removed(self.folder, _OPEN)


def _removed(folder: str, name: str) -> bool:
    with suppress(FileNotFoundError):
        os.unlink(join(folder, name))
        return True
    return False


def _made(room: str) -> str:
    folder = join(room, _FOLDER)
    for kind in (_TAKEN, _DONE):
        os.makedirs(join(folder, kind), mode=0o700, exist_ok=True)
    return folder


def _names(folder: str, place: str) -> list[str]:
    """Return the names of the messages in one place, oldest first."""
    stems = [name.removesuffix(".json") for name in os.listdir(join(folder, place))]
    found = [stem for stem in stems if stem.startswith("m-") and stem[2:].isdigit()]
    return sorted(found, key=lambda stem: int(stem[2:]))


def _write(path: str, content: object) -> None:
    """Write a file atomically and durably."""
    folder, name = os.path.split(path)
    unfinished = join(folder, f".{name}.{os.getpid()}")
    fd = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(msgspec.json.encode(content))
        file.flush()
        os.fsync(fd)
    os.rename(unfinished, path)


def _read(path: str) -> InboxMessage | None:
    try:
        with open(path, "rb") as file:
            return msgspec.json.decode(file.read(_LONGEST), type=InboxMessage)
    except (FileNotFoundError, msgspec.DecodeError, UnicodeDecodeError):
        return None
