"""Confines writes of this process and its descendants to given files and folders.

It uses Landlock (Linux 5.13 or newer), which needs no privileges and costs nothing. Files that are
already open stay open. Only writing is confined: reading and the network are as before.
"""

import ctypes
import os
import stat
import struct

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION, _PATH_BENEATH, _SIGNALS = 1, 1, 2
_PR_SET_NO_NEW_PRIVS = 38

_WRITE_FILE, _TRUNCATE = 1 << 1, 1 << 14
_REFER = 1 << 13  # to rename from one folder to another
# Removing, and making of every kind: 4 (remove a folder) to 12 (make a link).
_IN_FOLDERS = sum(1 << bit for bit in range(4, 13))
_SINCE = {_REFER: 2, _TRUNCATE: 3}  # the version that introduced a right

_libc = ctypes.CDLL(None, use_errno=True)
_syscall = _libc.syscall
_syscall.restype = ctypes.c_long


def version() -> int:
    """Return the Landlock version of this system; 0: none."""
    found = _syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION)
    return max(0, int(found))


def confine(writable: list[str]) -> None:
    """Let this process write only to these files and inside these folders.

    Missing ones are skipped. Where the system supports it, signals to other processes are blocked,
    too.
    """
    known = version()
    if not known:
        raise OSError(38, "this system has no Landlock, which is needed to confine sessions")
    rights = _WRITE_FILE | _IN_FOLDERS
    rights |= sum(right for right, since in _SINCE.items() if known >= since)
    asked = struct.pack("QQQ", rights, 0, _SIGNALS if known >= 6 else 0)
    size = 24 if known >= 6 else 8
    ruleset = _call(_CREATE_RULESET, asked, ctypes.c_size_t(size), 0)
    for path in filter(None, writable):
        _allow(ruleset, path, rights)
    if _libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_NO_NEW_PRIVS) failed")
    _call(_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(os.fstat(place).st_mode):
        rights &= _WRITE_FILE | _TRUNCATE
    _call(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", rights, place), 0)
    os.close(place)


def _call(number: int, *given: object) -> int:
    found = int(_syscall(number, *given))
    if found < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"Landlock: {os.strerror(error)}")
    return found
