"""A lock between processes that is fair and is released when its holder dies.

One `flock` is not fair: a process that releases it can take it again before the others wake up, and
some were seen to starve for seconds. Two in a row are fair: to reach the inner lock a process must
pass the outer one, which the next in line holds while it waits. A process that has just left queues
behind all that wait.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from corral.core.errors import LogBusy

PATIENCE_S = 60.0


class Turnstile:
    def __init__(self, folder: str) -> None:
        self._paths = (f"{folder}/queue.lock", f"{folder}/lock")
        self._fds: tuple[int, int] | None = None

    @contextmanager
    def held(self) -> Iterator[None]:
        """Wait for a turn, in order of arrival; raise LogBusy if a stopped process keeps it."""
        if self._fds is None:
            outer, inner = self._paths
            self._fds = (_open(outer), _open(inner))
        outer_fd, inner_fd = self._fds
        _lock(outer_fd, inner_fd)
        try:
            _lock(inner_fd, inner_fd)
        finally:
            fcntl.flock(outer_fd, fcntl.LOCK_UN)
        try:
            yield
        finally:
            fcntl.flock(inner_fd, fcntl.LOCK_UN)

    def close(self) -> None:
        for fd in self._fds or ():
            os.close(fd)
        self._fds = None


def _open(path: str) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)


def _lock(fd: int, held: int) -> None:
    """Wait for a lock; after too long, say which process has the one that is `held`."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        with _impatience(held):
            fcntl.flock(fd, fcntl.LOCK_EX)


def holder(fd: int) -> int | None:
    """Return the process that holds the lock on an open file, where the system can tell (Linux)."""
    inode = str(os.fstat(fd).st_ino)
    with suppress(OSError), open("/proc/locks") as locks:
        for line in locks:
            words = line.split()
            if words[1] == "FLOCK" and words[5].rpartition(":")[2] == inode:
                return int(words[4])
    return None


@contextmanager
def _impatience(fd: int) -> Iterator[None]:
    """Raise LogBusy in the main thread after a while; other threads wait without a limit."""
    import signal
    import threading

    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def give_up(number: int, frame: FrameType | None) -> None:
        who = f"process {pid}" if (pid := holder(fd)) else "another process"
        said = f"{who} has kept the log locked for {PATIENCE_S:.0f} s; nothing was changed"
        raise LogBusy(said, "it may be stopped (resume it with kill -CONT), or its disk may hang")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
