"""Wait until a folder changes, without polling where the system can tell (Linux: inotify).

A `Watch` starts listening when it is made: look at the folder after that, and no change between
the look and the wait is missed. Elsewhere it wakes up every 20 ms, and the caller looks again.
"""

import ctypes
import os
import select
import struct
import sys
import time
from types import TracebackType
from typing import Self

_POLL_S = 0.02
_MODIFY, _CREATE, _MOVED_TO, _DELETE_SELF = 0x2, 0x100, 0x80, 0x400
_IGNORED = 0x8000
_HEADER = struct.Struct("iIII")


class Watch:
    """Wakes up when something in the folder is written, made or renamed."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._fd = _inotify()
        self._watched = False
        self._listen()

    def wait(self, timeout_s: float | None) -> bool:
        """Return True after a change (or where none can be seen, soon), False after the time."""
        if not self._watched and not self._listen():
            pause = _POLL_S if timeout_s is None else min(_POLL_S, timeout_s)
            time.sleep(pause)
            return True
        poll = select.poll()
        poll.register(self._fd, select.POLLIN)
        if not poll.poll(None if timeout_s is None else timeout_s * 1000):
            return False
        self._drain()
        return True

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _listen(self) -> bool:
        if self._fd < 0:
            return False
        mask = _MODIFY | _CREATE | _MOVED_TO | _DELETE_SELF
        added = _libc().inotify_add_watch(self._fd, os.fsencode(self._folder), mask)
        self._watched = added >= 0
        return self._watched

    def _drain(self) -> None:
        events = os.read(self._fd, 65_536)
        at = 0
        while at < len(events):
            _, mask, _, length = _HEADER.unpack_from(events, at)
            at += _HEADER.size + length
            if mask & _IGNORED:
                # The folder was removed; listen again once it is back.
                self._watched = False


def _inotify() -> int:
    if not sys.platform.startswith("linux"):
        return -1
    return int(_libc().inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK))


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
