"""Notice, at the cost of two `stat` calls, that something other than Corral changed the log.

Checking every hash takes about a second for half a million events, too long for each command.
Instead, every process that appends notes, while it still holds the lock, how long the log is and
what its files look like (size, times of change). As long as they look the same and the newest event
is the sealed one, the log is as it was verified. Otherwise the whole log is checked before anything
is built on it: after a crash between the append and the seal, a restored backup, or a flipped byte.

The seal also remembers how long the log was: a log that has become shorter is damaged even if all
its hashes fit. The seal is derived; without it, the log is checked once and sealed again.
"""

import os
import zlib

import msgspec
from msgspec import Struct

from corral.core.errors import LogDamaged

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
            raise LogDamaged(length + 1, f"is missing: the log had {self.seq} events")
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
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        content = os.read(fd, 2 * _SIZE).rstrip()
    finally:
        os.close(fd)
    body = content[8:]
    if content[:8] != b"%08x" % zlib.crc32(body):
        return None
    try:
        return msgspec.json.decode(body, type=Seal)
    except msgspec.ValidationError:
        return None  # written by a version with another format


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
