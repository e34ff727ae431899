"""Garbage collection in the repository: when it is due, and what to do while one runs.

`git gc --prune=now` deletes objects that were unreachable when it looked, even if a ref points to
them by then. While it runs, a file contains its pid.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os.path import join

from corral.world.git import command
from corral.world.git.tree import read_plain

_LONGEST_S = 120.0
_LOOK_S = 0.02
_LOOSE, _PACKS = 6700, 50  # git's own defaults


def wait_until_over(git_dir: str) -> None:
    """Wait for the end of the running collection, if there is one.

    One that begins later sees the current refs, so it is not waited for.
    """
    process, deadline = _collector(git_dir), time.monotonic() + _LONGEST_S
    while process and _collector(git_dir) == process and time.monotonic() < deadline:
        time.sleep(_LOOK_S)


def is_due(git_dir: str) -> bool:
    """Estimate as git does, from one of 256 folders, whether the repository wants tidying."""
    objects = join(git_dir, "objects")
    loose = len(_names(join(objects, "17"))) * 256
    packs = sum(name.endswith(".pack") for name in _names(join(objects, "pack")))
    return loose > _LOOSE or packs > _PACKS


def collect(git_dir: str) -> None:
    """Tidy the repository as git itself would after a commit, unless the user has forbidden it."""
    options = ("core.hooksPath=/dev/null", "core.fsmonitor=false", "gc.autoDetach=false")
    settings = [word for option in options for word in ("-c", option)]
    git = ["git", f"--git-dir={git_dir}", *settings, "gc", "--auto", "--quiet"]
    command.run(git, git_dir, command.users_environment(), limit_s=None)


def _names(folder: str) -> list[str]:
    return os.listdir(folder) if os.path.isdir(folder) else []


@contextmanager
def held_off(git_dir: str) -> Iterator[bool]:
    """Lock out garbage collections, as a collection does itself; False if that is impossible."""
    wait_until_over(git_dir)
    path = join(git_dir, "gc.pid")
    held = _take(git_dir, path)
    try:
        yield held
    finally:
        if held:
            os.unlink(path)


def _take(git_dir: str, path: str) -> bool:
    """Write the file as git does: the holder of its lock may read and replace it."""
    lock = f"{path}.lock"
    try:
        fd = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    except OSError:  # it is locked, or the disk is full or read-only
        return False
    try:
        os.write(fd, f"{os.getpid()} {os.uname().nodename}".encode())
        if not _collector(git_dir):
            os.rename(lock, path)
            return True
        os.unlink(lock)
    except OSError:
        with suppress(OSError):
            os.unlink(lock)
    finally:
        os.close(fd)
    return False


def _collector(git_dir: str) -> int:
    words = (read_plain(join(git_dir, "gc.pid")) or b"").split()
    number = int(words[0]) if words and words[0].isdigit() else 0
    return number if number and os.path.isdir(f"/proc/{number}") else 0
