"""Waits until a folder changes, without polling where the system supports it (Linux: inotify).

A `Watch` listens from the moment a folder is added: read the folder after that, and no change
between reading and waiting is missed. On other systems it wakes up every 20 ms, and the caller
reads again.
"""

import ctypes
import os
import select
import struct
import sys
from contextlib import AbstractContextManager, suppress

_POLL_S = 0.02
_MODIFY, _CREATE, _MOVED_TO, _DELETE_SELF = 0x2, 0x100, 0x80, 0x400
_CLOSE_WRITE = 0x8
_ANY = _MODIFY | _CREATE | _MOVED_TO | _DELETE_SELF
_COMPLETE = _CLOSE_WRITE | _MOVED_TO
_IGNORED = 0x8000
_HEADER = struct.Struct("iIII")


class Watch(AbstractContextManager["Watch"]):
    """Wakes up when a file in one of its folders is written, created or renamed."""

    def __init__(self, *folders: str) -> None:
        linux = sys.platform.startswith("linux")
        self._fd = int(_libc().inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)) if linux else -1
        self._bell_out, self._bell_in = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._folders: dict[int, str] = {}
        self._sought: dict[int, bool] = {}  # whether to watch a removed folder once it is back
        self._missing: set[str] = set()
        for folder in folders:
            self.add(folder)

    def add(self, folder: str) -> None:
        """Listen to one more folder; a missing one is tried again at each wait."""
        if folder in self._folders.values():
            return
        self._missing.add(folder)
        self._listen()

    def add_complete(self, folder: str, mask: int = _COMPLETE) -> None:
        """Listen to a folder for files that are complete: closed after writing, or renamed into it.

        A file that merely grows wakes nobody, and a removed folder is not tried again.
        """
        if self._fd < 0:
            self.add(folder)
        elif folder not in self._folders.values():
            self._listen_to(folder, mask)

    def add_growing(self, folder: str) -> None:
        """Listen to a folder for files that are complete or grow."""
        self.add_complete(folder, _COMPLETE | _MODIFY)

    def drop(self, folder: str) -> None:
        """Stop listening to a folder."""
        self._missing.discard(folder)
        for number in [n for n, name in self._folders.items() if name == folder]:
            _libc().inotify_rm_watch(self._fd, number)
            del self._folders[number], self._sought[number]

    def ring(self) -> None:
        """Wake the waiting thread from another one."""
        with suppress(BlockingIOError):  # it is already awake
            os.write(self._bell_in, b"!")

    def wait(self, timeout_s: float | None) -> set[str]:
        """Return the folders that changed; none after the timeout or when woken by `ring`."""
        self._listen()
        blind = bool(self._missing)
        if blind:
            timeout_s = _POLL_S if timeout_s is None else min(_POLL_S, timeout_s)
        poll = select.poll()
        for fd in (self._fd, self._bell_out):
            if fd >= 0:
                poll.register(fd, select.POLLIN)
        ready = {fd for fd, _ in poll.poll(None if timeout_s is None else max(0, timeout_s) * 1000)}
        if self._bell_out in ready:
            os.read(self._bell_out, 65_536)
        changed = self._changed() if self._fd in ready else set()
        return changed | (self._missing if blind else set())

    def close(self) -> None:
        for fd in (self._fd, self._bell_in, self._bell_out):
            if fd >= 0:
                os.close(fd)
        self._fd = self._bell_in = self._bell_out = -1

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _listen(self) -> None:
        """Add the folders that could not be added before."""
        if self._fd < 0:
            return
        for folder in list(self._missing):
            if self._listen_to(folder, _ANY):
                self._missing.discard(folder)

    def _listen_to(self, folder: str, mask: int) -> bool:
        number = int(_libc().inotify_add_watch(self._fd, os.fsencode(folder), mask))
        if number >= 0:
            self._folders[number] = folder
            self._sought[number] = mask == _ANY
        return number >= 0

    def _changed(self) -> set[str]:
        events = os.read(self._fd, 1 << 20)
        changed: set[str] = set()
        at = 0
        while at < len(events):
            number, mask, _, length = _HEADER.unpack_from(events, at)
            at += _HEADER.size + length
            folder = self._folders.get(number)
            if folder is None:
                continue
            changed.add(folder)
            if mask & _IGNORED:
                # The folder was removed; listen again once it is back.
                del self._folders[number]
                if self._sought.pop(number):
                    self._missing.add(folder)
        return changed


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
