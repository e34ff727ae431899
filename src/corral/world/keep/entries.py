"""Entries of an index or a tree as git lists them; paths are arbitrary bytes."""

import os
from collections.abc import Iterable

from msgspec import Struct

from corral.world.git.view import Desk, View

GITLINK = b"160000"


class IndexEntry(Struct, frozen=True):
    mode: bytes
    blob: bytes
    path: bytes
    stage: int = 0
    flagged: bool = False  # the index is told not to check the file


def of_index(desk: Desk, index: str | None = None) -> list[IndexEntry]:
    found = []
    for line in desk.run("ls-files", "--stage", "-v", "-z", index=index).split(b"\0"):
        if line:
            about, _, path = line.partition(b"\t")
            tag, mode, blob, stage = about.split(b" ")
            found.append(IndexEntry(mode, blob, path, int(stage), tag.islower() or tag == b"S"))
    return found


def of_tree(view: View | Desk, tree: str) -> list[IndexEntry]:
    found = []
    for line in view.run("ls-tree", "-r", "-z", tree).split(b"\0"):
        if line:
            about, _, path = line.partition(b"\t")
            mode, _, blob = about.split(b" ")
            found.append(IndexEntry(mode, blob, path))
    return found


def put(desk: Desk, index: str, entries: Iterable[IndexEntry]) -> None:
    """Add entries to an index without reading any file."""
    lines = b"".join(
        b"%s %s %d\t%s\0" % (entry.mode, entry.blob, entry.stage, entry.path) for entry in entries
    )
    desk.run("update-index", "-z", "--index-info", index=index, stdin=lines)


def names(paths: bytes) -> tuple[str, ...]:
    """Return paths that git listed with `-z`; bytes that are not text survive a round trip."""
    return tuple(os.fsdecode(path) for path in paths.split(b"\0") if path)
