"""The few calls of Linux that Python does not have, looked up once, before any fork."""

import ctypes
import os

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_prctl = ctypes.CDLL(None).prctl


def adopt_orphans() -> None:
    """Become the parent of every descendant that loses its own; children do not inherit this."""
    if _prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError("the system has no child subreapers: Linux 3.4 or newer is needed")


def die_with_parent(number: int) -> None:
    """Have the system send this process a signal when its parent ends."""
    if _prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0):
        raise OSError("the system refused the signal for a parent's death")


def take_name(name: bytes) -> None:
    """Set the name that `ps` and `top` show."""
    fd = os.open("/proc/self/comm", os.O_WRONLY | os.O_CLOEXEC)
    os.write(fd, name)
    os.close(fd)
