"""The repository's list of working trees: `<git dir>/worktrees/<id>`, one folder each.

Adding, repairing and removing one means writing a few files, which happens here: git exposes a
half-created one, and would trust what a session may have put there.
"""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from os.path import basename, dirname, isdir, islink, join, lexists

from corral.core.refs import branch_ref
from corral.world.git.tree import read_head, read_plain
from corral.world.git.view import put

# What git writes into a new one; everything else was left by its users.
_OWN = frozenset({"HEAD", "commondir", "gitdir", "index", "locked"})


@contextmanager
def locked(git_dir: str) -> Iterator[None]:
    """Hold the repository's lock for its list of working trees."""
    folder = join(git_dir, "corral")
    os.makedirs(folder, exist_ok=True)
    with open(join(folder, "trees.lock"), "ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def add(git_dir: str, path: str, commit: str, *, held: bool = True) -> str:
    """Add a working tree with a detached HEAD, whose files are checked out later or already.

    Returns its git folder.

    It appears complete: git's own `worktree add` briefly shows a HEAD of zeros, and commands that
    read all refs at that moment (`git gc`, `git log --all`) fail. Call it under the repository's
    lock. Git does not prune a locked one while its folder is missing.
    """
    os.makedirs(path, exist_ok=True)
    listed = join(git_dir, "worktrees")
    os.makedirs(listed, exist_ok=True)
    names = (join(listed, f"{basename(path)}{number or ''}") for number in count())
    own = next(name for name in names if not lexists(name))
    link = join(path, ".git")
    draft = join(git_dir, "corral", "new-tree")
    remove(draft)  # left by a process that was killed here
    os.mkdir(draft)
    put(join(draft, "HEAD"), f"{commit}\n")
    put(join(draft, "commondir"), "../..\n")
    put(join(draft, "gitdir"), f"{link}\n")
    if held:
        put(join(draft, "locked"), "corral\n")
    os.rename(draft, own)
    put(link, f"gitdir: {own}\n")
    return own


def reconnect(own: str, path: str, head: str) -> None:
    """Repair the links that git needs to find a tree; the session's own files stay."""
    _folder(own)
    if read_plain(join(own, "HEAD"), 16) is None:
        put(join(own, "HEAD"), f"{head}\n")
    _connect(own, join(path, ".git"))


def repair(own: str, path: str, head: str) -> None:
    """Recreate a tree's git folder and its `.git` as git does, with a HEAD and nothing else."""
    _folder(own)
    for entry in os.scandir(own):
        if entry.name not in _OWN or not entry.is_file(follow_symlinks=False):
            remove(entry.path)
    link = join(path, ".git")
    if islink(link) or isdir(link):
        remove(link)
    put(join(own, "HEAD"), f"{head}\n")
    _connect(own, link)


def _folder(own: str) -> None:
    if islink(own) or not isdir(own):
        remove(own)
        os.makedirs(own)


def _connect(own: str, link: str) -> None:
    put(join(own, "commondir"), "../..\n")
    put(join(own, "gitdir"), f"{link}\n")
    put(join(own, "locked"), "corral\n")
    if islink(link) or not isdir(link):
        put(link, f"gitdir: {own}\n")


def forget(own: str) -> None:
    """Take a tree off the list at once; the last one also removes the list, as git does."""
    # A garbage collection that saw it half removed would remove the rest at the same time.
    gone = join(dirname(dirname(own)), "corral", f"old-{basename(own)}")
    remove(gone)  # left by a process that was killed here
    with suppress(FileNotFoundError):
        os.rename(own, gone)
    remove(gone)
    with suppress(OSError):
        os.rmdir(dirname(own))


def remove(path: str) -> None:
    if islink(path) or not isdir(path):
        with suppress(FileNotFoundError):
            os.unlink(path)
    else:
        shutil.rmtree(path)


def listed(git_dir: str) -> Iterator[tuple[str, str, bool]]:
    """Yield each linked tree: its git folder, its path, and whether Corral holds it."""
    linked = join(git_dir, "worktrees")
    for name in sorted(os.listdir(linked)) if isdir(linked) else ():
        own = join(linked, name)
        link = os.fsdecode((read_plain(join(own, "gitdir")) or b"").strip())
        yield own, dirname(link), read_plain(join(own, "locked")) == b"corral\n"


def users_of(git_dir: str, branch: str) -> Iterator[str]:
    """Yield the git folders of the trees that have a branch checked out or are rebasing it."""
    linked = join(git_dir, "worktrees")
    folders = [join(linked, name) for name in os.listdir(linked)] if isdir(linked) else []
    wanted = os.fsencode(branch_ref(branch))
    for folder in (git_dir, *folders):
        rebased = (join(folder, kind, "head-name") for kind in ("rebase-merge", "rebase-apply"))
        if read_head(folder).branch == branch or wanted in {
            (read_plain(path) or b"").strip() for path in rebased
        }:
            yield folder
