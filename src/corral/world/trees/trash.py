"""Deletes folders later: removing one is a rename, while deleting its files takes far longer."""

import os
import secrets
import shutil
import stat
import threading
import time
from contextlib import suppress
from os.path import dirname, isdir, join

_MARK = ".trash-"
_ATTEMPTS, _PAUSE_S = 50, 0.02


def take_away(path: str, place: str = "") -> str | None:
    """Move a folder out of the way on the same disk; None if it does not exist."""
    trash = join(place or dirname(path), f"{_MARK}{secrets.token_hex(8)}")
    try:
        os.rename(path, trash)
    except FileNotFoundError:
        return None
    return trash


def delete_soon(trash: str) -> None:
    # The next sweep deletes what is left when the process ends.
    threading.Thread(target=delete, args=(trash,), daemon=True, name="corral-trash").start()


def delete(trash: str) -> None:
    with suppress(FileNotFoundError):  # another sweep may be deleting it
        if os.path.islink(trash) or not isdir(trash):
            os.unlink(trash)
            return
        _open_up(trash)
    shutil.rmtree(trash, ignore_errors=True)


def erase(folder: str) -> None:
    """Delete a folder in place, even if processes that are ending still write to it."""
    for _ in range(_ATTEMPTS):
        delete(folder)
        if not os.path.lexists(folder):
            return
        time.sleep(_PAUSE_S)
    shutil.rmtree(folder)


def remove(path: str, place: str = "") -> None:
    """Delete a folder at once; others see it whole or not at all."""
    trash = take_away(path, place)
    if trash:
        delete(trash)


def sweep(place: str) -> int:
    """Delete everything in the trash; return how many folders could not be deleted."""
    found = waiting(place)
    for path in found:
        delete(path)
    return sum(map(os.path.lexists, found))


def waiting(place: str) -> list[str]:
    """Return the folders that are still to be deleted."""
    names = os.listdir(place) if isdir(place) else []
    return [join(place, name) for name in names if name.startswith(_MARK)]


def _open_up(folder: str) -> None:
    """Restore access to closed folders; links are not followed."""
    os.chmod(folder, stat.S_IRWXU)
    for inside, folders, _ in os.walk(folder):
        for name in folders:
            path = join(inside, name)
            mode = os.lstat(path).st_mode
            if stat.S_ISDIR(mode) and mode & stat.S_IRWXU != stat.S_IRWXU:
                os.chmod(path, stat.S_IRWXU)
