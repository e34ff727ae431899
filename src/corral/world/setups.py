"""What the set-up of a tree has made: kept aside, and given to the same tree again.

It is kept for each path of a tree, because tools write absolute paths into what they install. A
result is made beside its final name and renamed, so a kill leaves nothing half-made. This module
imports nothing of ours: a check's runner loads it as a file.
"""

import fcntl
import os
import shutil
from contextlib import suppress

_FICLONE = 0x40049409  # shares the blocks of a file until one of both is changed
_KEPT = 2  # results for each tree
_NEW = "new-"

Listing = dict[str, tuple[int, int]]


def listing(tree: str) -> Listing:
    """Return the files of a tree with what tells whether one was replaced; without git's own."""
    found: Listing = {}
    for folder, folders, names in os.walk(tree):
        if folder == tree and ".git" in folders:
            folders.remove(".git")
        links = [name for name in folders if os.path.islink(f"{folder}/{name}")]
        for name in (*names, *links):
            path = f"{folder}/{name}"
            about = os.lstat(path)
            found[os.path.relpath(path, tree)] = about.st_ino, about.st_mtime_ns
    found.pop(".git", None)
    return found


def keep(store: str, key: str, tree: str, before: Listing) -> None:
    """Keep what was added to a tree since then, or replaced in it; older results are dropped."""
    os.makedirs(store, exist_ok=True)
    for name in os.listdir(store):
        if name.startswith(_NEW):  # of a process that was killed here; we hold the tree
            shutil.rmtree(f"{store}/{name}", ignore_errors=True)
    aside = f"{store}/{_NEW}{key}"
    os.mkdir(aside)
    for path, about in listing(tree).items():
        if before.get(path) != about:
            _copy(f"{tree}/{path}", f"{aside}/{path}")
    with suppress(OSError):  # the same is kept already
        os.rename(aside, f"{store}/{key}")
    kept = sorted(os.listdir(store), key=lambda name: os.stat(f"{store}/{name}").st_mtime_ns)
    for name in kept[:-_KEPT]:
        shutil.rmtree(f"{store}/{name}", ignore_errors=True)


def give(store: str, key: str, tree: str) -> bool:
    """Copy a result that was kept into a tree; say whether there was one."""
    kept = f"{store}/{key}"
    if not os.path.isdir(kept):
        return False
    os.utime(kept)
    found = listing(kept)
    folders = {folder for path in found for folder in _above(path)}
    if any(os.path.islink(f"{tree}/{folder}") for folder in folders):
        return False  # we would write to wherever the link in the work leads
    for path in found:
        _copy(f"{kept}/{path}", f"{tree}/{path}")
    return True


def _above(path: str) -> list[str]:
    parts = path.split("/")[:-1]
    return ["/".join(parts[: number + 1]) for number in range(len(parts))]


def copy_folder(source: str, target: str) -> None:
    """Copy a folder with its links as they are, sharing blocks where the file system can."""
    for path in listing(source):
        _copy(f"{source}/{path}", f"{target}/{path}")


def _copy(source: str, target: str) -> None:
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with suppress(FileNotFoundError):
        os.unlink(target)
    if os.path.islink(source):
        os.symlink(os.readlink(source), target)
    elif os.path.isfile(source):
        with open(source, "rb") as old, open(target, "wb") as new:
            try:
                fcntl.ioctl(new.fileno(), _FICLONE, old.fileno())
            except OSError:
                shutil.copyfileobj(old, new, 1 << 20)
        shutil.copystat(source, target)
