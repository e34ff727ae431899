"""Which paths commits change, for many of them in one process."""

import os
from collections.abc import Sequence

from msgspec import Struct

from corral.world.git.refs import GitFailed
from corral.world.git.view import View


class Changed(Struct, frozen=True):
    """Paths by what happened to them; a rename is one deleted and one added."""

    added: frozenset[str] = frozenset()
    deleted: frozenset[str] = frozenset()
    modified: frozenset[str] = frozenset()

    @property
    def all(self) -> frozenset[str]:
        return self.added | self.deleted | self.modified


def changed_paths(view: View, pairs: Sequence[tuple[str, str]]) -> list[Changed]:
    """Return what changed from the first to the second commit of each pair.

    They are ids of commits or trees: of branches, or of a snapshot of somebody's work.
    """
    trees = _trees(view, [oid for pair in pairs for oid in pair])
    lines = "".join(f"{trees[2 * n]} {trees[2 * n + 1]}\n" for n in range(len(pairs)))
    said = view.run(
        *("diff-tree", "--stdin", "-r", "-z", "--name-status", "--no-renames"),
        stdin=lines.encode(),
    )
    return _read(said, [(trees[2 * n], trees[2 * n + 1]) for n in range(len(pairs))])


def _trees(view: View, names: Sequence[str]) -> list[str]:
    asked = "".join(f"{name}^{{tree}}\n" for name in names)
    said = view.run("cat-file", "--batch-check", stdin=asked.encode()).decode().splitlines()
    wrong = [line for line in said if " tree " not in line]
    if wrong or len(said) != len(names):
        raise GitFailed(f"there is no tree of {wrong[0] if wrong else names}", "git fsck")
    return [line.split(" ", 1)[0] for line in said]


def _read(said: bytes, pairs: Sequence[tuple[str, str]]) -> list[Changed]:
    found = []
    at = 0
    for old, new in pairs:
        header = f"{old} {new}\n".encode()
        if said[at : at + len(header)] != header:
            raise GitFailed(f"git said nothing about what changed from {old} to {new}")
        at += len(header)
        by_kind: dict[bytes, set[str]] = {b"A": set(), b"D": set(), b"M": set()}
        while at + 1 < len(said) and said[at + 1 : at + 2] == b"\0":
            end = said.index(b"\0", at + 2)
            kind = said[at : at + 1]
            by_kind[kind if kind in by_kind else b"M"].add(os.fsdecode(said[at + 2 : end]))
            at = end + 1
        found.append(Changed(*(frozenset(by_kind[kind]) for kind in (b"A", b"D", b"M"))))
    return found
