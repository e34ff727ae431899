"""What a tree needs besides its commit: files of the user's checkout, and the key of its set-up.

Links are a hazard on both sides: one in the checkout may lead to a secret outside the repository,
and one in the tree (a session's branch may contain any) to a file outside it.
"""

import os
import shutil
import stat
from collections.abc import Sequence
from os.path import commonpath, dirname, isabs, isdir, islink, join, normpath, realpath

from corral.core import setups
from corral.core.config import TreeSettings
from corral.core.errors import BadInput, NotFound, Refused
from corral.world.git.tree import Tree
from corral.world.git.view import View
from corral.world.setups import copy_folder


def copy(view: View, source: str, tree: Tree, paths: Sequence[str]) -> tuple[str, ...]:
    """Copy files or folders; return those that git does not ignore and a session might commit."""
    for path in paths:
        _refuse_outside(path)
    missing = [path for path in paths if not os.path.exists(join(source, path))]
    if missing:
        raise NotFound(
            f"missing from {source!r}: {', '.join(missing)}; nothing was copied",
            "create them, or remove them from the configuration",
        )
    for path in paths:
        _refuse_leaving(source, join(source, path))
        _refuse_leaving(tree.path, dirname(join(tree.path, normpath(path))))
    for path in paths:
        _copy(source, normpath(path), tree.path)
    return _exposed(view, tree, paths)


def plant(source: str, tree: str, folders: Sequence[str]) -> None:
    """Copy whole folders with their links, unless the tree has them or the checkout has not."""
    for path in folders:
        _refuse_outside(path)
        start, end = join(source, path), join(tree, normpath(path))
        if isdir(start) and not islink(start) and not os.path.lexists(end):
            _refuse_leaving(tree, dirname(end))
            copy_folder(start, end)


def setup_key(view: View, commit: str, settings: TreeSettings) -> str:
    """Return the key of a set-up's result on a commit."""
    said = os.fsdecode(view.run("ls-tree", "-r", "-z", commit)).split("\0")
    entries = [line.partition("\t") for line in said if line]
    files = {path: about.split()[2] for about, _, path in entries}

    def read(path: str) -> str:
        return view.run("cat-file", "blob", files[path]).decode("utf-8", "replace")

    tree = view.run("rev-parse", "--verify", f"{commit}^{{tree}}").decode().strip()
    return setups.key(settings.setup, settings.locks, tree, files, read)


def _refuse_outside(path: str) -> None:
    if isabs(path) or normpath(path).split(os.sep)[0] in ("..", ".git", "."):
        raise BadInput(f"{path!r} is not a path inside the repository")


def _refuse_leaving(root: str, path: str) -> None:
    top = realpath(root)
    real = realpath(path)
    if commonpath([top, real]) != top or commonpath([join(top, ".git"), real]) == join(top, ".git"):
        raise Refused(f"{path!r} leads outside {root!r}; nothing was copied")


def _copy(source: str, path: str, target: str) -> None:
    start, end = join(source, path), join(target, path)
    if isdir(start):
        for name in sorted(os.listdir(start)):
            inner = join(start, name)
            if not islink(inner) and name != ".git":
                _copy(source, join(path, name), target)
        return
    if not stat.S_ISREG(os.stat(start).st_mode):
        return
    _refuse_leaving(target, dirname(end))
    os.makedirs(dirname(end), exist_ok=True)
    if islink(end) or os.path.isfile(end):
        os.unlink(end)
    shutil.copy2(start, end, follow_symlinks=True)


def _exposed(view: View, tree: Tree, paths: Sequence[str]) -> tuple[str, ...]:
    if not paths:
        return ()
    asked = b"".join(os.fsencode(path) + b"\0" for path in paths)
    with view.desk(tree.base, tree) as desk:
        said = desk.run("check-ignore", "-z", "--stdin", stdin=asked, fine=(0, 1))
    ignored = {os.fsdecode(path) for path in said.split(b"\0")}
    return tuple(path for path in paths if path not in ignored)
