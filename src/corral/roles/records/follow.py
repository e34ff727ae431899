"""Follow the output of a session while it is written, across rotation.

The writer renames `output` to `output.1` and begins a new file; a file that is open here stays
readable under any name. So each file is read to its end before the next one is opened. A reader
that is slower than the session may find that a whole file is gone, and reports the gap. Waiting for
more is up to the caller.
"""

import os
from typing import NamedTuple

from corral.world.processes.output import NEWEST

_AT_ONCE = 1 << 18


class Part(NamedTuple):
    data: bytes
    gap: bool = False  # output before it is lost


class OutputFollower:
    def __init__(self, folder: str, lines: int, name: str = NEWEST) -> None:
        """Begin with the last lines that exist; with a negative number, with the oldest output."""
        self._newest = f"{folder}/{name}"
        self._older = f"{folder}/{name}.1"
        self._at = 0
        self._begin = b""
        self._file = -1
        if lines < 0:
            # If it is renamed between the two calls, the opened file turns out to have a successor.
            self._file = _open(self._older)
        if self._file < 0:
            self._file = _open(self._newest)
            if self._file >= 0 and lines >= 0:
                self._begin = self._last(lines)

    def read(self) -> Part:
        """Return the next part of the output; no bytes if there are none yet."""
        if self._begin:
            begin, self._begin = self._begin, b""
            return Part(begin)
        if self._file < 0:
            self._file = _open(self._newest)
        gap = False
        while self._file >= 0:
            # Checked before reading: nothing is added to a file once it has a successor.
            last = _inode(self._newest) in (None, os.fstat(self._file).st_ino)
            data = self._more()
            if data or last:
                return Part(data, gap)
            gap = self._go_on() or gap
        return Part(b"", gap)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
        self._file = -1

    def _more(self) -> bytes:
        if os.fstat(self._file).st_size < self._at:
            self._at = 0  # on a full disk the writer starts over in the same file
        data = os.pread(self._file, _AT_ONCE, self._at)
        self._at += len(data)
        return data

    def _go_on(self) -> bool:
        """Open the file that came after this one; say whether a file between them is lost."""
        gap = _inode(self._older) != os.fstat(self._file).st_ino
        file = _open(self._older if gap else self._newest)
        os.close(self._file)
        self._file, self._at = file, 0
        return gap

    def _last(self, lines: int) -> bytes:
        status = os.fstat(self._file)
        self._at = status.st_size
        found = _end_of(self._file, status.st_size)
        if found.count(b"\n") < lines and len(found) == status.st_size:
            older = _open(self._older)
            if older >= 0:
                before = os.fstat(older)
                # After a rotation in between, it is the same file.
                if before.st_ino != status.st_ino:
                    found = _end_of(older, before.st_size) + found
                os.close(older)
        return _lines(found, lines)


def _lines(data: bytes, number: int) -> bytes:
    """Return the last lines, including an unfinished one."""
    if number <= 0:
        return b""
    kept = data.split(b"\n")
    whole = not kept[-1]
    return b"\n".join(kept[-(number + whole) :])


def _end_of(file: int, size: int) -> bytes:
    return os.pread(file, min(size, _AT_ONCE), max(0, size - _AT_ONCE))


def _open(path: str) -> int:
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return -1


def _inode(path: str) -> int | None:
    try:
        return os.stat(path).st_ino
    except OSError:
        return None
