"""The uncommitted work of a session: which files differ, and a git tree that contains them.

It serves conflict prediction only, so unlike kept work (`world/keep`) it is bounded: large files,
and files beyond a number, are left out. Neither the session's index nor its files are touched: git
reads a copy of the index on our own desk, and the tree is written from another one there. Nothing
is written to the object store before `snapshot` is called.
"""

import os
import stat
from collections.abc import Container
from os.path import join

from msgspec import Struct
from msgspec.structs import replace

from corral.world.git.command import GitFailed
from corral.world.git.paths import NOTHING, Changed, PathChange
from corral.world.git.tree import Tree
from corral.world.git.view import View
from corral.world.keep.snapshot import STATUS

_FILES = 500
_BYTES = 1024 * 1024
_SOMETHING = ("100644", "?")


class Unsaved(Struct, frozen=True):
    """The paths that differ from a commit; `mark` identifies their state."""

    paths: tuple[str, ...] = ()
    mark: tuple[tuple[int, int, int], ...] = ()
    added: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()

    def on_top_of(self, committed: Changed) -> Changed:
        """Return all changed paths."""
        entries = dict(committed.entries)
        for path in self.paths:
            old = entries[path].old if path in entries else _SOMETHING
            new = NOTHING if path in self.gone else _SOMETHING
            entries[path] = PathChange(NOTHING if path in self.added else old, new)
        return Changed(entries)


def unsaved(view: View, tree: Tree, commit: str, leaving_out: Container[str] = ()) -> Unsaved:
    """Find which files of a tree differ from a commit, with one `git status`."""
    with view.desk(commit, tree) as desk:
        try:
            said = desk.run(*STATUS, "-uall")
        except GitFailed:
            return Unsaved()  # its index is unreadable, or the tree is being removed
    lines = [line for line in said.split(b"\0") if line]
    named = {os.fsdecode(line[3:]): line[:2] for line in lines}
    marks: dict[str, tuple[int, int, int]] = {}
    for path in named:
        mark = None if path in leaving_out else _mark(join(tree.path, path))
        if mark is not None and len(marks) < _FILES:
            marks[path] = mark
    return Unsaved(
        paths=tuple(marks),
        mark=tuple(marks.values()),
        added=frozenset(path for path in marks if named[path] == b"??" or named[path][:1] == b"A"),
        gone=frozenset(path for path, mark in marks.items() if mark == (0, 0, 0)),
    )


def snapshot(view: View, tree: Tree, commit: str, found: Unsaved) -> str:
    """Return a git tree: the files of a commit, overlaid with uncommitted work.

    The repository must have the commit. Objects of the tree are not borrowed: git would not write
    those again, and what refers to them would be broken.
    """
    with view.desk(commit) as plain:
        desk = replace(plain, worktree=tree.path)
        desk.run("read-tree", commit, index="ahead")
        listed = b"".join(os.fsencode(path) + b"\0" for path in found.paths)
        options = ("--add", "--remove", "--replace", "--ignore-missing")
        desk.run("update-index", *options, "-z", "--stdin", index="ahead", stdin=listed)
        return desk.run("write-tree", index="ahead").decode().strip()


def _mark(path: str) -> tuple[int, int, int] | None:
    """Return a fingerprint of a file's content; None for files that are left out."""
    try:
        found = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return (0, 0, 0)
    kind = stat.S_IFMT(found.st_mode)
    if kind not in (stat.S_IFREG, stat.S_IFLNK) or found.st_size > _BYTES:
        return None
    return (found.st_mtime_ns, found.st_size, found.st_ino)
