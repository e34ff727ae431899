"""Turns the index and the files of a working tree into git trees, without writing to it.

Rejected: `git stash create` (omits untracked files, refuses unmerged entries, converts bytes) and
`git add` on the session's own index (runs filters, and changes what is to be kept).
"""

import os
import stat
from collections.abc import Iterator, Set
from contextlib import suppress
from os.path import join

from msgspec import Struct
from msgspec.structs import replace

from corral.core.errors import Refused
from corral.world.git.command import GitFailed
from corral.world.git.tree import Tree
from corral.world.git.view import Desk, View
from corral.world.keep import entries, hidden, nested
from corral.world.keep.entries import GITLINK, IndexEntry
from corral.world.keep.nested import BUNDLE, Nested

# Git would run git inside a submodule to get its state.
STATUS = ("status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=dirty")
_NAMED = ("--pathspec-from-file=-", "--pathspec-file-nul")


class Snapshot(Struct, frozen=True):
    index: str
    files: str
    unmerged: str = ""
    ignored: frozenset[bytes] = frozenset()  # paths that were left out
    bundles: frozenset[bytes] = frozenset()  # paths that are not on disk


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
    inside = _nested(tree, desk.view, plain, ignored)
    clean = all(line.startswith(b"!! ") for line in lines) and not drafts
    if clean and not any(one.unsaved for one in inside):
        return None
    index, unmerged = _index(desk, found)
    ignored = ignored.union(*(one.ignored for one in inside))
    files = _files(tree, desk, found, drafts=drafts, inside=inside, ignored=ignored)
    left_out = ignored | {one.path for one in inside if not one.unsaved}
    bundles = frozenset(join(one.path, BUNDLE) for one in inside if one.bundle)
    return Snapshot(index, files, unmerged, left_out, bundles)


def _nested(tree: Tree, raw: View, plain: View, ignored: Set[bytes]) -> list[Nested]:
    """Look into each repository in a tree that is not ignored, the outer ones first."""
    found: list[Nested] = []
    for path in sorted(nested.folders(paths_in(tree.path, ignored))):
        above = (one for other in found for one in other.ignored)
        if not any(path == one or path.startswith(one + b"/") for one in above):
            found.append(nested.look(tree, path, raw, plain, STATUS))
    return found


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


def _files(
    tree: Tree,
    desk: Desk,
    found: list[IndexEntry],
    *,
    drafts: Set[bytes],
    inside: list[Nested],
    ignored: Set[bytes],
) -> str:
    """Write every file that is tracked, not ignored, or a draft, as it is on disk."""
    # Without the cached file data of the index, git reads every file again.
    known = {entry.path: IndexEntry(entry.mode, entry.blob, entry.path) for entry in found}
    links = [entry for entry in known.values() if entry.mode == GITLINK]
    ours = [entry for entry in known.values() if entry.mode != GITLINK]
    entries.put(desk, "files", (entry for entry in ours if not _is_in(entry.path, inside)))
    here = b".\0" + b"".join(b":(exclude,literal)%s\0" % one.path for one in inside)
    try:
        desk.run("add", "--all", *_NAMED, index="files", stdin=here)
        if drafts:
            named = b"".join(path + b"\0" for path in sorted(drafts))
            force = ("--literal-pathspecs", "add", "--force", *_NAMED)
            desk.run(*force, index="files", stdin=named)
    except GitFailed as error:
        raise Refused(
            f"not everything in {tree.path!r} can be kept, so nothing was touched: {error.message}"
        ) from error
    for entry in entries.of_index(desk, "files"):
        if entry.mode == GITLINK:
            raise _not_kept(tree, entry.path)
    return _written(desk, "files", _files_inside(tree, desk, inside, links, ignored))


def _files_inside(
    tree: Tree, desk: Desk, inside: list[Nested], links: list[IndexEntry], ignored: Set[bytes]
) -> list[IndexEntry]:
    """Write the files of repositories in a tree that have unsaved work; return what is left to add.

    That is a bundle for each of these, and links to the others.
    """
    unsaved = {one.path for one in inside if one.unsaved}
    kept = (
        path
        for path in (paths_in(tree.path, ignored) if unsaved else ())
        if _is_in(path, inside) and not path.endswith(b"/.git")
    )
    named = b"".join(path + b"\0" for path in kept if keepable(join(os.fsencode(tree.path), path)))
    options = ("--add", "--replace", "-z", "--stdin")
    desk.run("update-index", *options, index="files", stdin=named)
    at = {one.path: one.head.encode() for one in inside if one.head}
    linked = at | {link.path: link.blob for link in links}
    added = [
        IndexEntry(GITLINK, commit, path)
        for path, commit in linked.items()
        if not any(one == path or one.startswith(path + b"/") for one in unsaved)
        and (_around(path, inside) is None or _is_in(path, inside))
    ]
    for one in inside:
        if one.bundle:
            blob = desk.run("hash-object", "-w", "--no-filters", "--stdin", stdin=one.bundle)
            added.append(IndexEntry(b"100644", blob.strip(), join(one.path, BUNDLE)))
    return added


def _is_in(path: bytes, inside: list[Nested]) -> bool:
    """Say whether a path belongs to a repository in the tree that has unsaved work."""
    around = _around(path, inside)
    return around is not None and around.unsaved


def _around(path: bytes, inside: list[Nested]) -> Nested | None:
    found = (one for one in inside if path.startswith(one.path + b"/"))
    return max(found, key=lambda one: len(one.path), default=None)


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


def keepable(path: bytes) -> bool:
    """Say whether the path is a file or link; pipes and sockets have no content."""
    with suppress(OSError):
        return stat.S_IFMT(os.lstat(path).st_mode) in (stat.S_IFREG, stat.S_IFLNK)
    return False


def _not_kept(tree: Tree, path: bytes) -> Refused:
    where = join(tree.path, os.fsdecode(path))
    return Refused(
        f"{where!r} is a git repository of its own and cannot be kept with the files around it;"
        " nothing was touched",
        f"move it out of {tree.path!r}, or commit its files",
    )
