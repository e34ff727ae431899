"""The few Linux calls that Python lacks, looked up once before any fork."""

import ctypes
import os

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_prctl = ctypes.CDLL(None).prctl


def adopt_orphans() -> None:
    """Become the parent of every orphaned descendant; children do not inherit this."""
    if _prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError("prctl(PR_SET_CHILD_SUBREAPER) failed: Linux 3.4 or newer is needed")


def die_with_parent(number: int) -> None:
    """Have the system signal this process when its parent ends."""
    if _prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0):
        raise OSError("prctl(PR_SET_PDEATHSIG) failed")


def take_name(name: bytes) -> None:
    """Set the name that `ps` and `top` show."""
    fd = os.open("/proc/self/comm", os.O_WRONLY | os.O_CLOEXEC)
    os.write(fd, name)
    os.close(fd)
