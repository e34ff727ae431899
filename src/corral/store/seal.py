"""Notice, at the cost of two `stat` calls, that something other than Corral changed the log.

Checking every hash takes a second for half a million events. Instead, every process that appends
notes, while it holds the lock, how long the log is and what its files look like. As long as that
and the newest event are the same, the log is as it was verified; otherwise all of it is checked
(after a crash, a restored backup, a flipped byte). A log that has become shorter is damaged.
"""

import os
import zlib
from contextlib import suppress

import msgspec
from msgspec import Struct

from corral.core.errors import LogDamaged
from corral.core.text import counted

_SIZE = 512
_Look = tuple[int, int, int, int]
_ABSENT: _Look = (0, 0, 0, 0)


class Mark(Struct, frozen=True, array_like=True):
    """A point that the log is known to have reached."""

    seq: int
    head: bytes

    def must_be_in(self, length: int, head_there: bytes) -> None:
        """Raise LogDamaged if the log, now `length` long, has lost events that were seen."""
        if length < self.seq:
            raise LogDamaged(length + 1, f"is missing: the log had {counted(self.seq, 'event')}")
        if head_there != self.head:
            raise LogDamaged(self.seq, "is not the event that was written there")


class Seal(Struct, frozen=True, array_like=True):
    mark: Mark
    looks: tuple[_Look, _Look]


def look(log: str) -> tuple[_Look, _Look]:
    # SQLite running as root sets the owner of the WAL at each open, which changes its ctime.
    return _look(log), (*_look(f"{log}-wal")[:3], 0)


def write(path: str, seal: Seal) -> None:
    """Overwrite in place: this wakes followers, and a torn seal only costs a check."""
    body = msgspec.json.encode(seal)
    content = (b"%08x" % zlib.crc32(body) + body).ljust(_SIZE)
    fd = _open(path)
    try:
        os.pwrite(fd, content, 0)
    finally:
        os.close(fd)


def read(path: str) -> Seal | None:
    # A seal that another version wrote may have another format.
    with suppress(OSError, msgspec.ValidationError), open(path, "rb", buffering=0) as file:
        content = file.read(2 * _SIZE).rstrip()
        if content[:8] == b"%08x" % zlib.crc32(content[8:]):
            return msgspec.json.decode(content[8:], type=Seal)
    return None


def broken(path: str, mark: Mark) -> None:
    """Keep what is known, but have the log checked again: it is not what it should be."""
    write(path, Seal(mark, (_ABSENT, _ABSENT)))


def _open(path: str) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC
    try:
        return os.open(path, flags, 0o644)
    except FileNotFoundError:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return os.open(path, flags, 0o644)


def _look(path: str) -> _Look:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return _ABSENT
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
