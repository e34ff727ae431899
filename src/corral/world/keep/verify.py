"""Reads a kept tree back and compares it with the disk; git only lists its entries."""

import hashlib
import os
import stat
from collections.abc import Iterable

from corral.core.errors import Refused
from corral.world.git.tree import Tree
from corral.world.git.view import View
from corral.world.keep import entries
from corral.world.keep.entries import GITLINK
from corral.world.keep.snapshot import Snapshot, keepable, paths_in

_PART = 1024 * 1024


def verify(tree: Tree, raw: View, written: str, taken: Snapshot) -> None:
    """Refuse unless the written tree contains exactly the files on disk."""
    kept = {
        entry.path: (entry.mode, entry.blob)
        for entry in entries.of_tree(raw, written)
        if entry.mode != GITLINK and entry.path not in taken.bundles
    }
    top = os.fsencode(tree.path)
    for path, expected in kept.items():
        if _on_disk(os.path.join(top, path), len(expected[1])) != expected:
            raise _changed(tree, path)
    for path in paths_in(tree.path, taken.ignored):
        known = path in kept or path.endswith(b"/.git")  # of a repository in it: see `nested`
        if not known and keepable(os.path.join(top, path)):
            raise _changed(tree, path)


def _on_disk(path: bytes, size: int) -> tuple[bytes, bytes] | None:
    """Return the mode and blob id that git would give a file without any conversion."""
    try:
        status = os.lstat(path)
        if stat.S_ISLNK(status.st_mode):
            return b"120000", _blob_id([os.readlink(path)], size, status.st_size)
        if not stat.S_ISREG(status.st_mode):
            return None
        with open(path, "rb", buffering=0) as file:
            parts = iter(lambda: file.read(_PART), b"")
            mode = b"100755" if status.st_mode & stat.S_IXUSR else b"100644"
            return mode, _blob_id(parts, size, status.st_size)
    except OSError:
        return None


def _blob_id(parts: Iterable[bytes], size: int, length: int) -> bytes:
    found = hashlib.sha1() if size == 40 else hashlib.sha256()
    found.update(b"blob %d\0" % length)
    for part in parts:
        found.update(part)
    return found.hexdigest().encode()


def _changed(tree: Tree, path: bytes) -> Refused:
    where = os.path.join(tree.path, os.fsdecode(path))
    return Refused(
        f"{where!r} was not kept as it is (does something still write there?); nothing was touched",
        "stop all processes in the tree, and try again",
    )
