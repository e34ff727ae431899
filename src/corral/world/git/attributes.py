"""The `.gitattributes` that apply to a merge, as git itself would see them.

Like `git merge`, `git merge-tree` reads them from the working tree (its `--attr-source` needs git
2.41). So each set of them gets a folder, `<git dir>/corral/attributes/<set>`, which git gets as its
working tree. The repository's `info/attributes` is ignored: it belongs to no commit, and any
session could use it to change how the work of others is merged.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Sequence
from os.path import dirname, isdir, join

from corral.core.errors import BadInput
from corral.world.git.objects import TREE, Objects

_NAME = b".gitattributes"
_FILES = (b"100644", b"100755", b"100664")  # git does not follow a link here
_REMEMBERED = 200_000

Rules = tuple[tuple[bytes, str], ...]  # path and blob of each `.gitattributes`


class Attributes:
    def __init__(self, objects: Objects, union: Sequence[str] = ()) -> None:
        """`union` holds patterns of paths whose conflicts keep the lines of both sides."""
        self._objects = objects
        self._extra = b"".join(pattern_line(pattern, "merge=union") for pattern in union)
        self._below: dict[str, Rules] = {}
        self._folders: dict[Rules, str] = {}
        self._home = join(objects.view.git_dir, "corral", "attributes")

    def folder(self, tree: str) -> str:
        """Return the folder with the attributes of a tree."""
        rules = self._rules(tree)
        if rules not in self._folders:
            self._folders[rules] = self._lay_out(rules)
        return self._folders[rules]

    def _rules(self, tree: str) -> Rules:
        """Find all `.gitattributes` of a tree; a known folder is not read again."""
        if len(self._below) > _REMEMBERED:
            self._below.clear()
        order: list[str] = []
        children: dict[str, list[tuple[bytes, str]]] = {}
        own: dict[str, Rules] = {}
        level = [tree] if tree not in self._below else []
        while level:
            following = []
            for oid, entries in zip(level, self._objects.trees(level), strict=True):
                order.append(oid)
                children[oid] = [(one.name, one.oid) for one in entries if one.mode == TREE]
                own[oid] = tuple(
                    (one.name, one.oid)
                    for one in entries
                    if one.name == _NAME and one.mode in _FILES
                )
                following += [inner for _, inner in children[oid]]
            level = [
                oid
                for oid in dict.fromkeys(following)
                if oid not in self._below and oid not in children
            ]
        # A tree comes after at least one of its parents, perhaps before another: so from the end,
        # and again for those whose inner trees were not known yet.
        waiting = order
        while waiting:
            later = []
            for oid in reversed(waiting):
                if any(inner not in self._below for _, inner in children[oid]):
                    later.append(oid)
                    continue
                inside = (
                    (name + b"/" + path, blob)
                    for name, inner in children[oid]
                    for path, blob in self._below[inner]
                )
                self._below[oid] = (*own[oid], *inside)
            waiting = later[::-1]
        return self._below[tree]

    def _lay_out(self, rules: Rules) -> str:
        safe = [(path, blob) for path, blob in rules if _safe(path)]
        said = b"".join(b"%s %s\0" % (blob.encode(), path) for path, blob in safe) + self._extra
        folder = join(self._home, hashlib.sha256(said).hexdigest()[:40])
        if isdir(folder):
            return folder
        os.makedirs(self._home, exist_ok=True)
        draft = tempfile.mkdtemp(prefix=".new-", dir=self._home)
        contents = self._objects.contents([blob for _, blob in safe], "blob")
        files = {path: content for (path, _), content in zip(safe, contents, strict=True)}
        if self._extra:
            # First, so that the attributes in the repository override it.
            files[_NAME] = self._extra + files.get(_NAME, b"")
        for path, content in files.items():
            target = join(draft, os.fsdecode(path))
            os.makedirs(dirname(target), exist_ok=True)
            with open(target, "wb") as file:
                file.write(content)
        try:
            os.rename(draft, folder)
        except OSError:
            shutil.rmtree(draft)
            if not isdir(folder):  # no other process created it: the disk is full, or worse
                raise
        return folder


def _safe(path: bytes) -> bool:
    """Say whether a path of a tree stays inside the folder; trees can be forged."""
    parts = path.split(b"/")
    return not any(part.lower() in (b"", b".", b"..", b".git") or b"\0" in part for part in parts)


def pattern_line(pattern: str, attribute: str) -> bytes:
    """Return a line of `.gitattributes`."""
    if not pattern or pattern.startswith(("!", "[attr]")) or "\n" in pattern or "\0" in pattern:
        raise BadInput(f"{pattern!r} is not a valid .gitattributes pattern")
    escaped = pattern.replace("\\", "\\\\").replace('"', '\\"')
    return os.fsencode(f'"{escaped}" {attribute}\n')
