"""Where we are: the git repository around a folder, found without starting git.

Every working tree of a repository shares one folder for Corral's log: `corral/` in the git
directory, which git never commits and every `git worktree` can see.
"""

import os
from pathlib import Path

from msgspec import Struct

from corral.core.errors import BadInput, NotARepository


class Repository(Struct, frozen=True):
    git_dir: Path  # of the whole repository, not of one working tree
    worktree: Path  # the working tree that we are in; the git directory if it is bare
    head: Path  # the HEAD of this working tree

    @property
    def folder(self) -> Path:
        """The folder of the log and of all that Corral keeps about this repository."""
        return self.git_dir / "corral"

    @property
    def main_worktree(self) -> Path:
        return self.git_dir.parent if self.git_dir.name == ".git" else self.worktree

    def config_file(self) -> Path | None:
        """Return the configuration of this working tree, or else of the main one."""
        for tree in (self.worktree, self.main_worktree):
            path = tree / ".corral" / "config.toml"
            if path.is_file():
                return path
        return None

    def branch(self) -> str:
        """Return the branch that is checked out here; nothing if HEAD is detached."""
        content = self.head.read_text("utf-8", "replace").strip()
        name = content.removeprefix("ref: refs/heads/")
        return "" if name == content else name


def find(start: Path | None) -> Repository:
    """Find the repository around a folder; by default the current one, as git would."""
    if start is None and (named := os.environ.get("GIT_DIR")):
        return _of(Path(named).resolve(), Path.cwd())
    begin = (start or Path.cwd()).absolute()
    if not begin.is_dir():
        raise BadInput(f"there is no folder {str(begin)!r}")
    for folder in (begin, *begin.parents):
        marker = folder / ".git"
        if marker.is_dir():
            return _of(marker, folder)
        if marker.is_file():
            return _of(_linked(marker), folder)
        if _is_git_dir(folder):
            return _of(folder, folder)
    raise NotARepository(
        f"{str(begin)!r} is not in a git repository", "go into one, or use --repo FOLDER"
    )


def _of(git_dir: Path, worktree: Path) -> Repository:
    common = git_dir
    pointer = git_dir / "commondir"
    if pointer.is_file():
        common = (git_dir / pointer.read_text("utf-8").strip()).resolve()
    if not _is_git_dir(common):
        raise NotARepository(f"{str(git_dir)!r} is not a git repository", "git status")
    return Repository(common, worktree, git_dir / "HEAD")


def _linked(marker: Path) -> Path:
    """Follow the `.git` file of a linked working tree or submodule."""
    content = marker.read_text("utf-8", "replace").strip()
    target = content.removeprefix("gitdir:").strip()
    return (marker.parent / target).resolve()


def _is_git_dir(folder: Path) -> bool:
    return (folder / "HEAD").is_file() and (folder / "objects").is_dir()
