"""Which paths commits change, for many commits in one process."""

import os
from collections.abc import Sequence

from msgspec import Struct

from corral.world.git.command import GitFailed
from corral.world.git.view import View

NOTHING = ("000000", "")


class PathChange(Struct, frozen=True):
    """The old and new mode and object of a path; `NOTHING` if it does not exist."""

    old: tuple[str, str]
    new: tuple[str, str]


class Changed(Struct, frozen=True):
    """Paths and their changes; a rename is a deletion and an addition."""

    entries: dict[str, PathChange]

    @property
    def all(self) -> frozenset[str]:
        return frozenset(self.entries)

    @property
    def added(self) -> frozenset[str]:
        return frozenset(path for path, one in self.entries.items() if one.old == NOTHING)

    @property
    def deleted(self) -> frozenset[str]:
        return frozenset(path for path, one in self.entries.items() if one.new == NOTHING)


def changed_paths(view: View, pairs: Sequence[tuple[str, str]]) -> list[Changed]:
    """Return what changed from the first to the second commit of each pair.

    They are ids of commits or trees: of branches, or of a snapshot of uncommitted work.
    """
    oids = _trees(view, [oid for pair in pairs for oid in pair])
    trees = list(zip(oids[::2], oids[1::2], strict=True))
    lines = "".join(f"{old} {new}\n" for old, new in trees)
    said = view.run(
        *("diff-tree", "--stdin", "-r", "-z", "--raw", "--no-renames", "--no-abbrev"),
        stdin=lines.encode(),
    )
    return _read(said, trees)


def unlike(
    view: View,
    paths: Sequence[str],
    commit: str,
    others: Sequence[str],
    borrow: Sequence[str] = (),
) -> tuple[str, ...]:
    """Return those of the paths that a commit has unlike each of the others."""
    left = tuple(paths)
    for other in others if left else ():
        options = ("diff-tree", "-r", "-z", "--name-only", "--no-renames")
        said = view.run("--literal-pathspecs", *options, other, commit, "--", *left, borrow=borrow)
        differing = {os.fsdecode(name) for name in said.split(b"\0")}
        left = tuple(path for path in left if path in differing)
    return left


def _trees(view: View, names: Sequence[str]) -> list[str]:
    unique = list(dict.fromkeys(names))
    asked = "".join(f"{name}^{{tree}}\n" for name in unique)
    said = view.run("cat-file", "--batch-check", stdin=asked.encode()).decode().splitlines()
    wrong = [line for line in said if " tree " not in line]
    if wrong or len(said) != len(unique):
        raise GitFailed(f"there is no such tree: {(wrong or ['?'])[0]}", "git fsck")
    found = {name: line.split(" ", 1)[0] for name, line in zip(unique, said, strict=True)}
    return [found[name] for name in names]


def _read(said: bytes, pairs: Sequence[tuple[str, str]]) -> list[Changed]:
    """Read the answers: a line with both trees, then `:modes ids kind` NUL path NUL for each."""
    found = []
    at = 0
    for old, new in pairs:
        header = f"{old} {new}\n".encode()
        if said[at : at + len(header)] != header:
            raise GitFailed(f"git did not report what changed from {old} to {new}")
        at += len(header)
        entries = {}
        while said[at : at + 1] == b":":
            middle = said.index(b"\0", at)
            end = said.index(b"\0", middle + 1)
            modes = said[at + 1 : middle].decode().split(" ")
            entries[os.fsdecode(said[middle + 1 : end])] = PathChange(
                _side(modes[0], modes[2]), _side(modes[1], modes[3])
            )
            at = end + 1
        found.append(Changed(entries))
    return found


def _side(mode: str, oid: str) -> tuple[str, str]:
    return (mode, oid) if oid.strip("0") else NOTHING
