"""Move the target to what was tested, and hold what must not be collected meanwhile.

The target may be checked out by the user. Its ref is moved all the same, and nothing else: the
files, the index and HEAD of that checkout stay as they are, so that git then shows the landed
changes as undone there. Who lands gets told which working trees that is.
"""

import os
from os.path import basename, dirname, join

from msgspec import Struct

from corral.core.errors import BadInput, Refused
from corral.core.ids import branch_of
from corral.world.git.command import GitFailed
from corral.world.git.refs import Git
from corral.world.git.tree import read_plain
from corral.world.git.view import View
from corral.world.git.worktrees import users_of


class Overtaken(Refused):
    """The target branch moved while work was about to land on it."""

    code = "overtaken"

    def __init__(self, ref: str, expected: str, found: str) -> None:
        where = f"is at {found[:12]}" if found else "is gone"
        super().__init__(
            f"{ref} {where}, not at {expected[:12]}; nothing has landed",
            "test again on what is there now",
        )
        self.ref = ref
        self.found = found


class Landed(Struct, frozen=True):
    ref: str
    old: str
    new: str
    checked_out: tuple[str, ...]  # the folders of working trees that have the target checked out


def land(view: View, ref: str, old: str, new: str, message: str) -> Landed:
    """Move a branch from one commit to another, if it still is where it was.

    The commits are on the disk before the branch names them. `message` is for the reflog.
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
    return Landed(ref, old, new, checkouts(view.git_dir, branch_of(ref)))


def settle(view: View, new: str, old: str) -> int:
    """Wait until the disk has all that one commit adds to another; return how many files.

    Git writes single objects without waiting, and a branch must not name what a loss of power
    can take away.
    """
    listed = view.run("rev-list", "--objects", "--no-object-names", new, f"^{old}").decode().split()
    count = 0
    folders = set()
    for oid in listed:
        folder = join(view.git_dir, "objects", oid[:2])
        try:
            file = os.open(join(folder, oid[2:]), os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            continue  # in a pack, which git has waited for
        try:
            os.fsync(file)
        finally:
            os.close(file)
        folders.add(folder)
        count += 1
    for folder in folders:
        file = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(file)
        finally:
            os.close(file)
    return count


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
