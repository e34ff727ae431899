"""Turns the index and the files of a working tree into git trees, without writing to it.

Rejected: `git stash create` (omits untracked files, refuses unmerged entries, converts bytes) and
`git add` on the session's own index (runs filters, and changes what is to be kept).
"""

import os
from collections.abc import Iterator, Set
from os.path import join, lexists

from msgspec import Struct
from msgspec.structs import replace

from corral.core.errors import Refused
from corral.world.git.command import GitFailed
from corral.world.git.tree import Tree
from corral.world.git.view import Desk, View
from corral.world.keep import entries, hidden
from corral.world.keep.entries import GITLINK, IndexEntry

# Git would run git inside a submodule to get its state.
STATUS = ("status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=dirty")


class Snapshot(Struct, frozen=True):
    index: str
    files: str
    unmerged: str = ""
    ignored: frozenset[bytes] = frozenset()  # paths that were left out


def take(tree: Tree, desk: Desk, plain: View, head: str | None) -> Snapshot | None:
    """Return the index and files of a tree; None if they equal HEAD.

    The desk converts nothing; `plain` says whether there are changes as `git status` would.
    """
    found = entries.of_index(desk)
    if not tree.exists:
        return _without_files(desk, found, head)
    _look(desk, found)
    said = replace(desk, view=plain).run(*STATUS, "-uall", "--ignored=matching")
    lines = [line for line in said.split(b"\0") if line]
    drafts = hidden.drafts(tree, replace(desk, view=plain), lines, found, head)
    ignored = frozenset(line[3:].rstrip(b"/") for line in lines if line.startswith(b"!! ")) - drafts
    for path in paths_in(tree.path, ignored):
        if path.endswith(b"/.git"):  # git never looks into it, so neither add nor clean sees it
            raise nested(tree, path.removesuffix(b"/.git"))
    if all(line.startswith(b"!! ") for line in lines) and not drafts:
        return None
    index, unmerged = _index(desk, found)
    return Snapshot(index, _files(tree, desk, found, drafts), unmerged, ignored)


def _without_files(desk: Desk, found: list[IndexEntry], head: str | None) -> Snapshot | None:
    """Handle a missing folder: staged content is still in the index."""
    index, unmerged = _index(desk, found)
    if head and not unmerged:
        committed = desk.run("rev-parse", "--verify", f"{head}^{{tree}}").decode().strip()
        found = [] if index == committed else found
    return Snapshot(index, index, unmerged) if found else None


def _look(desk: Desk, found: list[IndexEntry]) -> None:
    """Make our copy of the index check files that it is told to skip."""
    hidden = b"".join(entry.path + b"\0" for entry in found if entry.flagged)
    if hidden:
        for option in ("--no-assume-unchanged", "--no-skip-worktree"):
            desk.run("update-index", option, "-z", "--stdin", stdin=hidden)


def _index(desk: Desk, found: list[IndexEntry]) -> tuple[str, str]:
    """Write the staged entries, and the unmerged ones if any."""
    merged = [entry for entry in found if not entry.stage]
    unmerged = [
        IndexEntry(entry.mode, entry.blob, b"%d/%s" % (entry.stage, entry.path))
        for entry in found
        if entry.stage
    ]
    staged = _written(desk, "merged", merged)
    return staged, _written(desk, "unmerged", unmerged) if unmerged else ""


def _files(tree: Tree, desk: Desk, found: list[IndexEntry], drafts: Set[bytes]) -> str:
    """Write every file that is tracked, not ignored, or a draft, as it is on disk."""
    # Without the cached file data of the index, git reads every file again.
    known = {entry.path: IndexEntry(entry.mode, entry.blob, entry.path) for entry in found}
    links = [entry for entry in known.values() if entry.mode == GITLINK]
    entries.put(desk, "files", (entry for entry in known.values() if entry.mode != GITLINK))
    try:
        desk.run("add", "--all", index="files")
        if drafts:
            named = b"".join(path + b"\0" for path in sorted(drafts))
            options = ("--force", "--pathspec-from-file=-", "--pathspec-file-nul")
            desk.run("--literal-pathspecs", "add", *options, index="files", stdin=named)
    except GitFailed as error:
        raise Refused(
            f"not everything in {tree.path!r} can be kept, so nothing was touched: {error.message}"
        ) from error
    for entry in entries.of_index(desk, "files"):
        if entry.mode == GITLINK:
            raise nested(tree, entry.path)
    return _written(desk, "files", links)


def _written(desk: Desk, index: str, more: list[IndexEntry]) -> str:
    if more:
        entries.put(desk, index, more)
    return desk.run("write-tree", index=index).decode().strip()


def paths_in(root: str, ignored: Set[bytes]) -> Iterator[bytes]:
    """Yield all below a folder but its own `.git` and ignored paths; enter no nested `.git`."""
    top = os.fsencode(root)
    waiting = [b""]
    while waiting:
        inside = waiting.pop()
        with os.scandir(os.path.join(top, inside)) as listing:
            for entry in listing:
                path = os.path.join(inside, entry.name)
                if path == b".git" or path in ignored:
                    continue
                if entry.name != b".git" and entry.is_dir(follow_symlinks=False):
                    waiting.append(path)
                else:
                    yield path


def nested(tree: Tree, path: bytes) -> Refused:
    where = join(tree.path, os.fsdecode(path))
    what = "a submodule" if lexists(join(tree.path, ".gitmodules")) else "a git repository"
    return Refused(
        f"{where!r} is {what} of its own and cannot be kept with the files around it;"
        " nothing was touched",
        f"move it out of {tree.path!r}, or commit its files",
    )
