"""Confines what this process and its descendants can write, and hides folders from them.

It uses Landlock (Linux 5.13 or newer), which needs no privileges and costs nothing. Files that are
already open stay open, and the network is as before. Landlock can only allow, so a folder is hidden
by allowing everything around it: what is created later directly in a folder that contains a hidden
one cannot be read. This module imports nothing of ours: a check's runner loads it as a file.
"""

import ctypes
import os
import stat
import struct
from collections.abc import Iterator, Sequence
from contextlib import suppress

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION, _PATH_BENEATH, _SIGNALS = 1, 1, 2
_PR_SET_NO_NEW_PRIVS = 38

_EXECUTE, _WRITE_FILE, _READ_FILE, _TRUNCATE = 1 << 0, 1 << 1, 1 << 2, 1 << 14
_READ = _EXECUTE | _READ_FILE  # folders can still be listed, so that a program says what it missed
_ON_FILES = _READ | _WRITE_FILE | _TRUNCATE
_REFER = 1 << 13  # to rename from one folder to another
# Removing, and making of every kind: 4 (remove a folder) to 12 (make a link).
_IN_FOLDERS = sum(1 << bit for bit in range(4, 13))
_SINCE = {_REFER: 2, _TRUNCATE: 3}  # the version that introduced a right

_libc = ctypes.CDLL(None, use_errno=True)
_syscall = _libc.syscall
_syscall.restype = ctypes.c_long


def can_hide() -> bool:
    """Say whether folders can be hidden (Linux 5.19 or newer): before that, renaming would fail."""
    return version() >= _SINCE[_REFER]


def version() -> int:
    """Return the Landlock version of this system; 0: none."""
    found = _syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION)
    return max(0, int(found))


def confine(
    writable: list[str] | None, hidden: Sequence[str] = (), shown: Sequence[str] = ()
) -> None:
    """Let this process write only to these files and inside these folders; None: anywhere.

    Files in the `hidden` folders can be neither read nor run, except those in `shown`. Missing ones
    are skipped. If writing is confined, signals to other processes are blocked where possible.
    """
    known = version()
    if not known:
        raise OSError(38, "this system has no Landlock, which is needed to confine sessions")
    writing = 0
    if writable is not None:
        writing = _WRITE_FILE | _IN_FOLDERS
        writing |= sum(right for right, since in _SINCE.items() if known >= since)
    scoped = _SIGNALS if known >= 6 and writable is not None else 0
    # To rename from folder to folder is forbidden unless it is allowed somewhere.
    asked = struct.pack("QQQ", writing | (_READ | _REFER if hidden else 0), 0, scoped)
    size = 24 if known >= 6 else 8
    ruleset = _call(_CREATE_RULESET, asked, ctypes.c_size_t(size), 0)
    for path in filter(None, writable or ()):
        _allow(ruleset, path, writing)
    if hidden and writable is None:
        _allow(ruleset, "/", _REFER)
    for path in _around("/", hidden, shown) if hidden else ():
        _allow(ruleset, path, _READ)
    if _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_NO_NEW_PRIVS) failed")
    _call(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _around(folder: str, hidden: Sequence[str], shown: Sequence[str]) -> Iterator[str]:
    """Yield the fewest paths that contain everything in a folder except the hidden ones."""
    within = f"{folder.rstrip('/')}/"
    if folder in hidden:
        yield from (path for path in shown if path == folder or path.startswith(within))
    elif any(path.startswith(within) for path in hidden):
        names = {
            path.removeprefix(within).split("/")[0] for path in hidden if path.startswith(within)
        }
        with suppress(OSError):  # some can be entered, but not listed
            names.update(os.listdir(folder))
        for path in (f"{within}{name}" for name in names):
            if not os.path.islink(path):  # its target is allowed where it is, if at all
                yield from _around(path, hidden, shown)
    else:
        yield folder


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # it is missing, or we cannot reach it either
    if not stat.S_ISDIR(os.fstat(place).st_mode):
        rights &= _ON_FILES
    _call(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", rights, place), 0)
    os.close(place)


def _call(number: int, *given: object) -> int:
    found = int(_syscall(number, *given))
    if found < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"Landlock: {os.strerror(error)}")
    return found
