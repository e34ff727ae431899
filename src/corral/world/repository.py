"""Finds the git repository around a folder, without starting git.

Every working tree of a repository shares one folder for Corral's log: `corral/` in the git
directory, which git never commits and every `git worktree` can see. The tree of a session has a git
folder of its own, with a file that names the repository.
"""

import os
from os.path import abspath, basename, dirname, isdir, isfile, join, lexists, realpath

from msgspec import Struct

from corral.core.errors import BadInput, NotARepository

POINTER = "corral-repository"  # in the git folder of a session's tree


class Repository(Struct, frozen=True):
    git_dir: str  # of the whole repository, not of one working tree
    worktree: str  # the current working tree; the git directory if the repository is bare
    head: str  # the HEAD of this working tree

    @property
    def folder(self) -> str:
        """The folder of the log and of everything else that Corral keeps for this repository."""
        return join(self.git_dir, "corral")

    @property
    def main_worktree(self) -> str:
        return dirname(self.git_dir) if basename(self.git_dir) == ".git" else self.worktree

    def config_file(self) -> str | None:
        """Return the configuration file of the main working tree, or else of this one.

        Never that of a session's tree: it is what an agent has made of it.
        """
        own = () if lexists(join(dirname(self.head), POINTER)) else (self.worktree,)
        for tree in (self.main_worktree, *own):
            path = join(tree, ".corral", "config.toml")
            if lexists(path):
                return path
        return None

    def branch(self) -> str:
        """Return the branch that is checked out here; empty if HEAD is detached."""
        content = _read(self.head)
        name = content.removeprefix("ref: refs/heads/")
        return "" if name == content else name

    def has_ref(self, ref: str) -> bool:
        """Say whether a ref exists, loose or packed."""
        if isfile(join(self.git_dir, ref)):
            return True
        packed = join(self.git_dir, "packed-refs")
        return isfile(packed) and f" {ref}\n" in _read(packed) + "\n"


def find(start: str | None) -> Repository:
    """Find the repository around a folder (default: the current one), as git would."""
    if start is None and (named := os.environ.get("GIT_DIR")):
        return _of(realpath(named), os.getcwd())
    begin = abspath(start or ".")
    if not isdir(begin):
        raise BadInput(f"there is no folder {begin!r}")
    folder = begin
    while True:
        marker = join(folder, ".git")
        if _is_git_dir(marker) or isfile(join(marker, "commondir")):
            return _of(marker, folder)  # like git, skip one that is not a git directory
        if isfile(marker):  # of a linked working tree or submodule
            target = _read(marker).removeprefix("gitdir:").strip()
            return _of(realpath(join(folder, target)), folder)
        if _is_git_dir(folder):
            return _of(folder, folder)
        if folder == dirname(folder):
            break
        folder = dirname(folder)
    raise NotARepository(
        f"{begin!r} is not in a git repository", "go into one, or use --repo FOLDER"
    )


def _of(git_dir: str, worktree: str) -> Repository:
    common = git_dir
    pointer = join(git_dir, "commondir")
    if isfile(pointer):
        common = realpath(join(git_dir, _read(pointer)))
    if isfile(join(common, POINTER)):
        common = _read(join(common, POINTER))
    if not _is_git_dir(common):
        raise NotARepository(f"{git_dir!r} is not a git repository", "git status")
    return Repository(common, worktree, join(git_dir, "HEAD"))


def _is_git_dir(folder: str) -> bool:
    return isfile(join(folder, "HEAD")) and isdir(join(folder, "objects"))


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError as error:
        raise NotARepository(f"{path!r} cannot be read: {error.strerror}", "git status") from error
