"""A session's working tree, and the content of its git folder, read without starting git.

The session owns that folder: a file may be an endless pipe, a link to anywhere, or garbage. So only
regular files are read, only their first part, and nothing found there is trusted to exist.
"""

import os
import re
import stat
from collections.abc import Iterator
from os.path import isdir, islink, join
from typing import Literal

from msgspec import Struct

from corral.core.refs import branch_of, branch_ref

Kind = Literal["worktree", "clone"]

_HASH = re.compile(rb"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b")
_NO_COMMITS = frozenset({"objects", "hooks", "modules", "lfs", "index", "info"})
_LIMIT = 16 * 1024 * 1024


class Tree(Struct, frozen=True):
    """One session's working tree."""

    path: str
    name: str  # of its session
    kind: Kind
    branch: str
    base: str  # the commit that the session started from
    git_dir: str  # where git keeps the data of this tree alone

    @property
    def exists(self) -> bool:
        """Say whether the folder exists; a link to another folder does not count."""
        return isdir(self.path) and not islink(self.path)

    @property
    def borrowed(self) -> tuple[str, ...]:
        """The object stores with objects of this tree that the repository may lack."""
        inside = join(self.path, ".git")
        objects = join(inside, "objects")
        own = self.exists and isdir(inside) and not islink(inside) and isdir(objects)
        return (objects,) if own else ()


class Head(Struct, frozen=True):
    """A HEAD: its branch or its commit; neither if it is unreadable."""

    branch: str = ""
    commit: str = ""


def read_plain(path: str, limit: int = _LIMIT) -> bytes | None:
    """Return the content of a regular file; None if it is missing or anything else."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    with open(file, "rb") as opened:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return None
        return opened.read(limit)


def read_head(git_dir: str) -> Head:
    content = (read_plain(join(git_dir, "HEAD"), 4096) or b"").strip()
    branch = branch_of(os.fsdecode(content.removeprefix(b"ref: ")))
    if content.startswith(b"ref: ") and branch:
        return Head(branch=branch)
    return Head(commit=content.decode() if _HASH.fullmatch(content) else "")


def read_branch(git_dir: str, branch: str) -> str | None:
    """Return the commit of a branch according to the files of a git folder."""
    ref = os.fsencode(branch_ref(branch))
    loose = (read_plain(os.path.join(os.fsencode(git_dir), ref).decode(), 4096) or b"").strip()
    if _HASH.fullmatch(loose):
        return loose.decode()
    for line in (read_plain(join(git_dir, "packed-refs")) or b"").splitlines():
        commit, _, name = line.partition(b" ")
        if name == ref and _HASH.fullmatch(commit):
            return commit.decode()
    return None


def mentioned(git_dir: str) -> set[str]:
    """Return everything that looks like an object id in a tree's git folder.

    HEAD, its reflog, private refs, a merge, rebase or bisection in progress: all are small files
    that name commits, and new versions of git add more. Finding too many is better than too few.
    """
    return {
        found.decode()
        for path in _plain_files(git_dir, _NO_COMMITS)
        for found in _HASH.findall(read_plain(path) or b"")
    }


def _plain_files(folder: str, leaving_out: frozenset[str] = frozenset()) -> Iterator[str]:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.name in leaving_out:
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _plain_files(entry.path)
        elif entry.is_file(follow_symlinks=False):
            yield entry.path
