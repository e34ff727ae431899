"""What a tree lacks as git alone checks it out: submodules, and files in Git LFS."""

import os
import shutil
from collections.abc import Sequence
from contextlib import suppress
from os.path import isdir, join

from msgspec import Struct

from corral.roles.preflight.finding import setting
from corral.world.git.view import View

_GITLINK = "160000"
_POINTER = b"version https://git-lfs"
_SHORT = range(100, 300)  # the bytes of a pointer
_NAMED = 3

_SUBMODULE = '["git", "submodule", "update", "--init", "--recursive"]'
_LFS = '["git", "lfs", "pull"]'


class Lacking(Struct, frozen=True):
    name: str
    said: str
    remedy: str


class Content(Struct, frozen=True):
    """The paths of a commit that may need more than a checkout."""

    submodules: tuple[str, ...] = ()
    pointers: tuple[str, ...] = ()
    lfs: bool = False  # its attributes name the filter
    size: int = 0  # the bytes of its files

    def __bool__(self) -> bool:
        return bool(self.submodules) or self.lfs

    def lacking(self, base: str, tree: str, setup: Sequence[Sequence[str]]) -> list[Lacking]:
        """Return what a tree lacks after its set-up."""
        found = []
        empty = [path for path in self.submodules if not _filled(join(tree, path))]
        if empty and not any("submodule" in command for command in setup):
            said = f"the submodules of {base} are empty in every tree: {_names(empty)}"
            found.append(Lacking("submodules", said, _added(_SUBMODULE, setup)))
        stubs = [path for path in self.pointers if _is_pointer(join(tree, path))]
        absent = shutil.which("git-lfs") is None
        if stubs or (self.lfs and absent):
            which = f": {_names(stubs)}" if stubs else ""
            said = f"{base} keeps files in Git LFS, which are only pointers in every tree{which}"
            if absent:
                said = f"{base} keeps files in Git LFS, and git-lfs is not installed{which}"
            mend = _added(_LFS, setup)
            found.append(Lacking("lfs", said, f"install git-lfs, then {mend}" if absent else mend))
        return found


def content(view: View, commit: str) -> Content:
    """Return what of a commit may be missing from its trees."""
    listed = os.fsdecode(view.run("ls-tree", "-r", "-l", "-z", commit)).split("\0")
    rows = [(*line.partition("\t")[0].split(), line.partition("\t")[2]) for line in listed if line]
    submodules = tuple(row[-1] for row in rows if row[0] == _GITLINK)
    size = sum(int(row[3]) for row in rows if row[3].isdecimal())
    attributes = [row[2] for row in rows if os.path.basename(row[-1]) == ".gitattributes"]
    if not any(b"filter=lfs" in view.run("cat-file", "blob", one) for one in attributes):
        return Content(submodules, size=size)
    short = [row for row in rows if row[3].isdecimal() and int(row[3]) in _SHORT]
    blobs = view.run("cat-file", "--batch", stdin="".join(f"{row[2]}\n" for row in short).encode())
    found = []
    for row in short:
        head, _, blobs = blobs.partition(b"\n")
        if blobs.startswith(_POINTER):
            found.append(row[-1])
        blobs = blobs[int(head.split()[-1]) + 1 :]
    return Content(submodules, tuple(found), lfs=True, size=size)


def _filled(folder: str) -> bool:
    return isdir(folder) and bool(os.listdir(folder))


def _is_pointer(path: str) -> bool:
    with suppress(OSError), open(path, "rb") as file:
        return file.read(len(_POINTER)) == _POINTER
    return False


def _names(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
    return ", ".join(paths[:_NAMED]) + more


def _added(command: str, setup: Sequence[Sequence[str]]) -> str:
    if setup:
        return setting("trees", f"put {command} first in setup")
    return setting("trees", f"setup = [{command}]")
