"""A session's working tree, and the content of its git folder, read without starting git.

The session owns that folder: a file may be an endless pipe, a link to anywhere, or garbage. So only
regular files are read, only their first part, and nothing found there is trusted to exist.
"""

import os
import re
import stat
from collections.abc import Iterator
from os.path import isdir, islink, join
from typing import BinaryIO, Literal

from msgspec import Struct

from corral.core.refs import branch_of, branch_ref

Kind = Literal["worktree", "clone"]

_HASH = re.compile(rb"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b")
_NO_COMMITS = frozenset({"objects", "hooks", "modules", "lfs", "index", "info"})
_KINDS = ("heads", "tags", "remotes", "notes")
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

    def with_refs(self, repository: str) -> str:
        """Return the git folder that has the branch of this tree: its own or the repository's."""
        return self.git_dir if self.kind == "clone" else repository

    @property
    def borrowed(self) -> tuple[str, ...]:
        """The object stores with objects of this tree that the repository may lack."""
        inside = join(self.path, ".git")  # a folder if an earlier version or the session made one
        folders = [self.git_dir] if self.kind == "clone" else []
        folders += [inside] if inside not in folders and self.exists and not islink(inside) else []
        stores = [join(folder, "objects") for folder in folders]
        return tuple(store for store in stores if isdir(store) and not islink(store))


def is_hash(text: str) -> bool:
    """Say whether a text has the form of an object id."""
    return _HASH.fullmatch(os.fsencode(text)) is not None


class Head(Struct, frozen=True):
    """A HEAD: its branch or its commit; neither if it is unreadable."""

    branch: str = ""
    commit: str = ""


def read_plain(path: str, limit: int = _LIMIT) -> bytes | None:
    """Return the content of a regular file; None if it is missing or anything else."""
    file = open_plain(path)
    if file is None:
        return None
    with file:
        return file.read(limit)


def open_plain(path: str) -> BinaryIO | None:
    """Open a regular file; None if it is missing or anything else."""
    try:
        number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    file = open(number, "rb")  # noqa: SIM115  # the caller closes it
    if stat.S_ISREG(os.fstat(number).st_mode):
        return file
    file.close()
    return None


def read_head(git_dir: str) -> Head:
    content = (read_plain(join(git_dir, "HEAD"), 4096) or b"").strip()
    branch = branch_of(os.fsdecode(content.removeprefix(b"ref: ")))
    if content.startswith(b"ref: ") and branch:
        return Head(branch=branch)
    return Head(commit=content.decode() if _HASH.fullmatch(content) else "")


def read_branch(git_dir: str, branch: str) -> str | None:
    """Return the commit of a branch according to the files of a git folder."""
    return read_ref(git_dir, branch_ref(branch))


def read_ref(git_dir: str, name: str) -> str | None:
    """Return what a ref points to according to the files of a git folder."""
    ref = os.fsencode(name)
    loose = (read_plain(os.path.join(os.fsencode(git_dir), ref).decode(), 4096) or b"").strip()
    if _HASH.fullmatch(loose):
        return loose.decode()
    for line in (read_plain(join(git_dir, "packed-refs")) or b"").splitlines():
        commit, _, packed = line.partition(b" ")
        if packed == ref and _HASH.fullmatch(commit):
            return commit.decode()
    return None


def read_refs(git_dir: str) -> dict[str, str]:
    """Return the branches, tags and notes of a repository from its files; broken ones are not."""
    refs = {}
    for line in os.fsdecode(read_plain(join(git_dir, "packed-refs")) or b"").splitlines():
        commit, _, ref = line.partition(" ")
        if is_hash(commit) and ref.startswith("refs/") and ref.split("/")[1] in _KINDS:
            refs[ref] = commit
    for kind in _KINDS:
        for inside, _, names in os.walk(join(git_dir, "refs", kind)):
            whole = [name for name in names if not name.endswith(".lock") and name[0] != "."]
            for path in (join(inside, name) for name in whole):  # the others are being written
                commit = os.fsdecode(read_plain(path, 4096) or b"").strip()
                if is_hash(commit):
                    refs[path[len(git_dir) + 1 :]] = commit
    return refs


def packed_tags(git_dir: str) -> set[str]:
    """Return what the packed tags point to: a clone packs those that it gets."""
    lines = os.fsdecode(read_plain(join(git_dir, "packed-refs")) or b"").splitlines()
    named = (line.partition(" ") for line in lines)
    return {tag for tag, _, ref in named if ref.startswith("refs/tags/") and is_hash(tag)}


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
