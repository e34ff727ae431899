"""Ensures that each role runs once per repository, by a lock that ends with its holder."""

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from os.path import join

from corral.core.errors import Refused
from corral.world.locks import is_held

_ENDING_S = 1.0  # a child of a killed holder has the lock until it starts its program
_BETWEEN_S = 0.02


@contextmanager
def only_one(folder: str, role: str, *, wait_s: float = _ENDING_S) -> Iterator[None]:
    """Hold the lock of a role; refuse a second holder."""
    os.makedirs(folder, exist_ok=True)
    lock = os.open(_path(folder, role), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    deadline = time.monotonic() + wait_s
    try:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                # Who looks whether the lock is held, or keeps a role out, is waited for.
                if time.monotonic() > deadline and taken(folder, role):
                    text = f"another {role} is already running for this repository"
                    raise Refused(f"{text}; nothing was changed", code=f"{role}_runs") from None
                time.sleep(_BETWEEN_S)
        yield
    finally:
        os.close(lock)


@contextmanager
def kept_out(folder: str, role: str) -> Iterator[bool]:
    """Say whether a role does not run, and let none start in between: it waits."""
    with open(_path(folder, role), "ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


def taken(folder: str, role: str) -> bool:
    """Say whether a process holds the lock of a role."""
    return is_held(_path(folder, role))


def _path(folder: str, role: str) -> str:
    return join(folder, f"{role}.lock")
