"""Moves the target to the tested commit, once its objects are safely on disk.

The user may have the target checked out. Its ref is moved anyway, and nothing else: the files, the
index and HEAD of that checkout stay as they are, so git then shows the landed changes as reverted
there. The caller is told which working trees those are.
"""

import os
from contextlib import suppress
from os.path import basename, dirname, join

from corral.core.errors import BadInput, Refused
from corral.core.refs import branch_of
from corral.world.git.command import GitFailed
from corral.world.git.refs import Git
from corral.world.git.tree import read_plain
from corral.world.git.view import View
from corral.world.git.worktrees import users_of


class Overtaken(Refused, code="overtaken"):
    """The target branch moved while work was about to land on it."""

    def __init__(self, ref: str, expected: str, found: str) -> None:
        where = f"is at {found[:12]}" if found else "is gone"
        said = f"{ref} {where}, not at {expected[:12]}; nothing has landed"
        super().__init__(said, "check again on the new tip")
        self.found = found


def land(view: View, ref: str, old: str, new: str, message: str) -> tuple[str, ...]:
    """Move a branch from one commit to another, unless it has moved.

    The commits are on disk before the branch points to them. `message` is for the reflog. Return
    the folders of the working trees that have the branch checked out.
    """
    if not branch_of(ref):
        raise BadInput(f"{ref!r} is not a branch, so nothing can land on it")
    settle(view, new, old)
    try:
        # Not through the view, which has no reflogs.
        Git(view.git_dir, view.git_dir).land(ref, new, old, " ".join(message.split()))
    except GitFailed:
        found = view.commit(ref) or ""
        if found != old:
            raise Overtaken(ref, old, found) from None
        raise
    return checkouts(view.git_dir, branch_of(ref))


def settle(view: View, new: str, old: str) -> int:
    """Flush all objects that one commit adds to another to disk; return the number of files.

    Git writes loose objects without flushing, and a branch must not point to objects that a power
    failure can lose.
    """
    listed = view.run("rev-list", "--objects", "--no-object-names", new, f"^{old}").decode().split()
    flushed = []
    for oid in listed:
        path = join(view.git_dir, "objects", oid[:2], oid[2:])
        with suppress(FileNotFoundError):  # in a pack, which git has flushed
            _flush(path)
            flushed.append(path)
    for folder in {dirname(path) for path in flushed}:
        _flush(folder)
    return len(flushed)


def _flush(path: str) -> None:
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def checkouts(git_dir: str, branch: str) -> tuple[str, ...]:
    """Return the folders of the working trees that have a branch checked out."""
    found = []
    for own in users_of(git_dir, branch):
        if own != git_dir:
            link = os.fsdecode((read_plain(join(own, "gitdir"), 8192) or b"").strip())
            found.append(dirname(link) if link else own)
        elif basename(git_dir) == ".git":
            found.append(dirname(git_dir))
    return tuple(found)
