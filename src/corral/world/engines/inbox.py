"""Text for a session that runs: a folder of files in its room, each consumed exactly once.

    inbox/007.json          written by anyone (`send`), atomically, numbers never used twice
    inbox/taken/007.json    the runner has it and is handing it to its program
    inbox/done/007.json     the program has it; says how that was proved
    inbox/open.json         a runner reads this inbox; which kind of runner

Handing over and recording that it was handed over cannot be one step, so a runner that was killed
between the two leaves its message in `taken`. The next runner of the same session finds it there
(`doubtful`), and asks the program's own record whether it has the text before it says it again.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from os.path import join

import msgspec
from msgspec import Struct

from corral.core.errors import BadInput

LONGEST = 1 << 20
_FOLDER, _TAKEN, _DONE, _OPEN = "inbox", "taken", "done", "open.json"


class Proof(StrEnum):
    """How it is known that a program has a text."""

    RECORD = "record"  # the program itself says so: its protocol, its transcript
    SCREEN = "screen"  # it was seen on its screen
    NONE = "none"  # it was handed over, and nothing shows that it arrived


class Message(Struct, frozen=True, omit_defaults=True):
    number: int
    text: str
    answers: str = ""  # the question that this answers, by its `call`
    by: str = ""
    proof: Proof | None = None


class Reader(Struct, frozen=True):
    """Who reads an inbox."""

    kind: str


def send(room: str, text: str, *, answers: str = "", by: str = "") -> int:
    """Leave a text for the runner of this room; return its number."""
    if not text.strip():
        raise BadInput("there is no text to send")
    if len(text.encode()) > LONGEST:
        raise BadInput(f"the text is longer than {LONGEST >> 20} MB; nothing was sent")
    folder = _made(room)
    with _locked(folder):
        number = 1 + max(
            (n for kind in ("", _TAKEN, _DONE) for n in _numbers(folder, kind)), default=0
        )
        _write(join(folder, _name(number)), Message(number, text, answers, by))
    return number


def receipt(room: str, number: int) -> Proof | None:
    """Say how it is known that the program has a text; None while it has not."""
    message = _read(join(room, _FOLDER, _DONE, _name(number)))
    return message.proof if message else None


def reader_of(room: str) -> str:
    """Return the kind of runner that reads this inbox (`acp`, `tmux`); empty if none does."""
    try:
        with open(join(room, _FOLDER, _OPEN), "rb") as file:
            return msgspec.json.decode(file.read(), type=Reader).kind
    except (FileNotFoundError, msgspec.DecodeError):
        return ""


def done_folder(room: str) -> str:
    """Return where receipts appear, for whoever waits for one."""
    return join(_made(room), _DONE)


class Inbox:
    """The reading side; one runner at a time, which the session's launch sees to."""

    def __init__(self, room: str, kind: str) -> None:
        self.folder = _made(room)
        _write(join(self.folder, _OPEN), Reader(kind))

    def doubtful(self) -> list[Message]:
        """Return what a runner before this one took without saying that it was delivered."""
        delivered = set(_numbers(self.folder, _DONE))
        found = []
        for number in sorted(_numbers(self.folder, _TAKEN)):
            path = join(self.folder, _TAKEN, _name(number))
            if number in delivered:
                os.unlink(path)  # it was killed within `done`
            elif (message := _read(path)) is not None:
                found.append(message)
        return found

    def take(self) -> Message | None:
        """Take the oldest text; it stays on record as taken until `done`."""
        for number in sorted(_numbers(self.folder, "")):
            path = join(self.folder, _TAKEN, _name(number))
            os.rename(join(self.folder, _name(number)), path)
            if (message := _read(path)) is not None:
                return message
            # Not one of ours: kept, but never delivered.
            os.rename(path, join(self.folder, _DONE, f"unreadable-{_name(number)}"))
        return None

    def done(self, message: Message, proof: Proof) -> None:
        """Record that the program has it, and how that is known."""
        name = _name(message.number)
        kept = msgspec.structs.replace(message, proof=proof)
        _write(join(self.folder, _DONE, name), kept)
        os.unlink(join(self.folder, _TAKEN, name))

    def close(self) -> None:
        """Say that nobody reads here any more; what waits stays for the next runner."""
        with suppress(FileNotFoundError):
            os.unlink(join(self.folder, _OPEN))


def _made(room: str) -> str:
    folder = join(room, _FOLDER)
    for kind in (_TAKEN, _DONE):
        os.makedirs(join(folder, kind), mode=0o700, exist_ok=True)
    return folder


def _numbers(folder: str, kind: str) -> Iterator[int]:
    for name in os.listdir(join(folder, kind)):
        stem, dot, end = name.partition(".")
        if dot and end == "json" and stem.isdigit():
            yield int(stem)


def _name(number: int) -> str:
    return f"{number:03d}.json"


def _write(path: str, content: Struct) -> None:
    """Put a file into place whole, and on disk before anybody sees it."""
    folder, name = os.path.split(path)
    unfinished = join(folder, f".{name}.{os.getpid()}")
    fd = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(msgspec.json.encode(content))
        file.flush()
        os.fsync(fd)
    os.rename(unfinished, path)


def _read(path: str) -> Message | None:
    try:
        with open(path, "rb") as file:
            return msgspec.json.decode(file.read(2 * LONGEST), type=Message)
    except (FileNotFoundError, msgspec.DecodeError, UnicodeDecodeError):
        return None


@contextmanager
def _locked(folder: str) -> Iterator[None]:
    fd = os.open(join(folder, ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)
