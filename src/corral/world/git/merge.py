"""Three-way merges in the object store, without a checkout, an index or any user file.

Git's own `merge-tree` does the work, so a result is what `git merge` makes of the same commits. It
finds the base automatically and, before 2.40, cannot be given another. So it gets a commit that
exists only for this purpose, with our files and a chosen history: a base as its only parent, or
more commits that our side is assumed to contain (such as a fork point that was squashed).
"""

import os
import re
from collections.abc import Iterator, Sequence
from os.path import join
from typing import Self

from msgspec import Struct

from corral.world.git.attributes import Attributes
from corral.world.git.command import GitFailed
from corral.world.git.objects import Objects
from corral.world.git.view import Desk, View, put

_REMEMBERED = 10_000
_PUT_BESIDE = re.compile(r"~(?:[0-9a-f]{40}|[0-9a-f]{64})(?:_\d+)?$")
_NOBODY = b"Corral <corral@localhost> 0 +0000"


class Stage(Struct, frozen=True):
    """One side of a conflicted path: 1 is the base, 2 ours, 3 theirs."""

    mode: str
    oid: str
    stage: int
    path: str


class MergeMessage(Struct, frozen=True):
    """A message of git about some paths; `kind` is stable, such as `CONFLICT (contents)`."""

    paths: tuple[str, ...]
    kind: str
    text: str

    @property
    def conflict(self) -> bool:
        return self.kind.startswith("CONFLICT")


class Merged(Struct, frozen=True):
    """The result of a merge: a tree, with conflict markers if it is not clean."""

    tree: str
    clean: bool = True
    conflicts: tuple[Stage, ...] = ()
    messages: tuple[MergeMessage, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths in conflict, each once."""
        said = (path for one in self.messages if one.conflict for path in one.paths)
        return tuple(dict.fromkeys([stage.path for stage in self.conflicts] or said))

    @property
    def named(self) -> tuple[str, ...]:
        """The same paths, by the names that they have in the commits.

        If one side has a file where the other has a folder or a link, git puts the file beside it,
        with the name of the commit appended.
        """
        return tuple(dict.fromkeys(_PUT_BESIDE.sub("", path) for path in self.paths))


class Sides(Struct, frozen=True):
    """Two commits to merge.

    `known` are commits that ours is assumed to contain besides its history; `tree` replaces its
    tree if something was stacked on it.
    """

    ours: str
    theirs: str
    known: tuple[str, ...] = ()
    tree: str = ""


class Merger:
    """Merges commits of one repository; use it in one thread, and close it."""

    def __init__(self, view: View, *, union: Sequence[str] = ()) -> None:
        """`union` holds `.gitattributes` patterns of paths that keep the lines of both sides."""
        self.view = view
        self.objects = Objects(view)
        self._attributes = Attributes(self.objects, union)
        self._stand_ins: dict[tuple[str, tuple[str, ...]], str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        self.objects.close()

    def merge_tree(self, tree: str, theirs: str, base: str | None) -> Merged:
        """Merge with exactly this base; with None, as if both had started empty."""
        if base is None:
            base = self.stand_in(self.view.empty_tree(), ())
        other = self.objects.commit(theirs)
        # A parent is an ancestor, so that the base is found through the commit itself.
        told = theirs if base in other.parents else self.stand_in(other.tree, (base,))
        return self._alone(self.stand_in(tree, (base,)), told, tree)

    def join(self, sides: Sides) -> Merged:
        """Merge two commits by their histories, as `git merge` would."""
        return self._alone(self.ours(sides), sides.theirs, self._tree(sides))

    def bases(self, sides: Sides) -> tuple[str, ...]:
        """Return the merge bases of such a merge."""
        said = self.view.run("merge-base", "--all", self.ours(sides), sides.theirs, fine=(0, 1))
        return tuple(said.decode().split())

    def shown(self, sides: Sides, name: str) -> Merged:
        """Merge as `join` does, for a reader: markers say `HEAD` and `worktree/<name>`."""
        with self.view.desk(self.ours(sides)) as desk:
            place = join(desk.folder, "refs", "worktree")
            os.makedirs(place)
            put(join(place, name), f"{sides.theirs}\n")
            said = Desk(self.view, desk.folder, self._attributes.folder(self._tree(sides))).run(
                *("-c", "merge.conflictStyle=zdiff3", "merge-tree", "--write-tree", "-z"),
                *("--allow-unrelated-histories", "HEAD", f"worktree/{name}"),
                fine=(0, 1),
            )
        return _read_one(said)

    def join_many(self, many: Sequence[Sides]) -> list[Merged]:
        """Merge many pairs separately, in one process per set of attributes."""
        self.objects.commits([side.ours for side in many])
        groups: dict[str, list[int]] = {}
        for number, sides in enumerate(many):
            folder = self._attributes.folder(self._tree(sides))
            groups.setdefault(folder, []).append(number)
        ours = {side: self.ours(side) for side in {_our_side(sides) for sides in many}}
        found: dict[int, Merged] = {}
        for folder, numbers in groups.items():
            lines = [f"{ours[_our_side(many[n])]} {many[n].theirs}\n" for n in numbers]
            said = self.view.run(
                *("merge-tree", "--write-tree", "-z", "--stdin", "--allow-unrelated-histories"),
                worktree=folder,
                stdin="".join(lines).encode(),
                fine=(0, 1),
            )
            results = list(_read_many(said))
            if len(results) != len(numbers):
                raise GitFailed(f"git answered {len(results)} of {len(numbers)} merges")
            found |= zip(numbers, results, strict=True)
        return [found[number] for number in range(len(many))]

    def with_files(self, tree: str | None, entries: Sequence[tuple[str, str, str]]) -> str:
        """Return a tree with files replaced, each given as mode (0: removed), blob and path."""
        with self.view.desk() as desk:
            if tree:
                desk.run("read-tree", tree)
            lines = "".join(f"{mode} {oid}\t{path}\0" for mode, oid, path in entries)
            desk.run("update-index", "-z", "--index-info", stdin=os.fsencode(lines))
            return desk.run("write-tree").decode().strip()

    def _alone(self, ours: str, theirs: str, tree: str) -> Merged:
        said = self.view.run(
            *("merge-tree", "--write-tree", "-z", "--allow-unrelated-histories", ours, theirs),
            worktree=self._attributes.folder(tree),
            fine=(0, 1),
        )
        return _read_one(said)

    def ours(self, sides: Sides) -> str:
        """Return ours, or a substitute commit with more history."""
        tree = self._tree(sides)
        known = [commit for commit in dict.fromkeys(sides.known) if commit != sides.ours]
        if not known and tree == self.objects.commit(sides.ours).tree:
            return sides.ours
        return self.stand_in(tree, (sides.ours, *known))

    def _tree(self, sides: Sides) -> str:
        return sides.tree or self.objects.commit(sides.ours).tree

    def stand_in(self, tree: str, parents: tuple[str, ...]) -> str:
        """Return a commit that exists only for merging; no ref holds it."""
        found = self._stand_ins.get((tree, parents))
        if found and self.objects.kinds([found]) == ["commit"]:  # git may have deleted it
            return found
        lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
        head = "\n".join(lines).encode()
        content = b"%s\nauthor %s\ncommitter %s\n\nfor a merge\n" % (head, _NOBODY, _NOBODY)
        if len(self._stand_ins) >= _REMEMBERED:
            self._stand_ins.clear()
        oid = self._stand_ins[tree, parents] = self.objects.write_commits([content])[0]
        return oid


def _our_side(sides: Sides) -> Sides:
    return Sides(sides.ours, "", sides.known, sides.tree)


def _read_one(said: bytes) -> Merged:
    words = iter(said.split(b"\0"))
    oid = next(words).decode()
    return _rest(oid, words, clean=len(said) == len(oid) + 1)


def _read_many(said: bytes) -> Iterator[Merged]:
    words = iter(said.split(b"\0"))
    for status in words:
        if status:
            yield _rest(next(words).decode(), words, clean=status == b"1")


def _rest(tree: str, words: Iterator[bytes], *, clean: bool) -> Merged:
    """Read the stages and messages that follow a tree; each list ends with an empty field."""
    stages = [] if clean else [_stage(word) for word in iter(lambda: next(words, b""), b"")]
    messages = []
    # Git 2.39 ends the list with advice about submodules, if there are any in conflict.
    while (count := next(words, b"")).isdigit():
        paths = tuple(os.fsdecode(next(words)) for _ in range(int(count)))
        kind, text = next(words).decode(), next(words).decode("utf-8", "replace")
        messages.append(MergeMessage(paths, kind, text.rstrip("\n")))
    return Merged(tree, clean, tuple(stages), tuple(messages))


def _stage(word: bytes) -> Stage:
    about, _, path = word.partition(b"\t")
    mode, oid, stage = about.decode().split(" ")
    return Stage(mode, oid, int(stage), os.fsdecode(path))
