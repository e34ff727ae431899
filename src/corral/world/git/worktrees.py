"""The repository's list of working trees: `<git dir>/worktrees/<id>`, one folder for each.

Adding, repairing and forgetting are a few files, written here: git shows a new one half made, and
would believe what a session may have put there.
"""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from os.path import basename, dirname, isdir, islink, join, lexists

from corral.core.errors import Refused
from corral.core.ids import branch_ref
from corral.world.git.tree import read_head, read_plain
from corral.world.git.view import put

# What git writes into a new one; everything else there was left by who used it.
_OWN = frozenset({"HEAD", "commondir", "gitdir", "index", "locked"})


@contextmanager
def locked(git_dir: str) -> Iterator[None]:
    """Hold the one lock of a repository for its list of working trees."""
    folder = join(git_dir, "corral")
    os.makedirs(folder, exist_ok=True)
    file = os.open(join(folder, "trees.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def add(git_dir: str, path: str, commit: str, *, held: bool = True) -> str:
    """Add a working tree with a detached HEAD and no files; return its git folder.

    It appears whole: git's own `worktree add` shows a HEAD of zeros for a moment, and whoever
    reads all refs just then (`git gc`, `git log --all`) fails on it. Call it under the repository's
    lock. One that is held is not pruned by git while its folder is away.
    """
    os.makedirs(path, exist_ok=True)
    if os.listdir(path):
        raise Refused(f"{path} is there already", "move it away, or name another folder")
    listed = join(git_dir, "worktrees")
    os.makedirs(listed, exist_ok=True)
    own = _unused(join(listed, basename(path)))
    link = join(path, ".git")
    draft = join(git_dir, "corral", "new-tree")
    remove(draft)  # of one that died here
    os.mkdir(draft)
    put(join(draft, "HEAD"), f"{commit}\n")
    put(join(draft, "commondir"), "../..\n")
    put(join(draft, "gitdir"), f"{link}\n")
    if held:
        put(join(draft, "locked"), "corral\n")
    os.rename(draft, own)
    put(link, f"gitdir: {own}\n")
    return own


def _unused(path: str) -> str:
    number, free = 0, path
    while lexists(free):
        number += 1
        free = f"{path}{number}"
    return free


def reconnect(own: str, path: str, head: str) -> None:
    """Put right what git needs to find a tree in use; what the session made there stays."""
    if islink(own) or not isdir(own):
        remove(own)
        os.makedirs(own)
    if read_plain(join(own, "HEAD"), 16) is None:
        put(join(own, "HEAD"), f"{head}\n")
    _connect(own, join(path, ".git"))


def repair(own: str, path: str, head: str) -> None:
    """Make a tree's git folder and its `.git` as git makes them, with a HEAD, and nothing else."""
    if islink(own) or not isdir(own):
        remove(own)
        os.makedirs(own)
    for entry in os.scandir(own):
        if entry.name not in _OWN or not entry.is_file(follow_symlinks=False):
            remove(entry.path)
    link = join(path, ".git")
    if islink(link) or isdir(link):
        remove(link)
    put(join(own, "HEAD"), f"{head}\n")
    _connect(own, link)


def _connect(own: str, link: str) -> None:
    put(join(own, "commondir"), "../..\n")
    put(join(own, "gitdir"), f"{link}\n")
    put(join(own, "locked"), "corral\n")
    if islink(link) or not isdir(link):
        put(link, f"gitdir: {own}\n")


def forget(own: str) -> None:
    """Take a tree off the list; the last one takes the list along, as git does."""
    remove(own)
    try:
        os.rmdir(dirname(own))
    except OSError:
        return


def remove(path: str) -> None:
    if islink(path) or not isdir(path):
        try:
            os.unlink(path)
        except FileNotFoundError:
            return
    else:
        shutil.rmtree(path)


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
