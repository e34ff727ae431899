"""Finds files that only an uncommitted `.gitignore` hides: a session's drafts, which are its work.

What git ignores is not kept, because caches and build results can be made again. That is decided by
the rules that are committed. A `.gitignore` that is not counts only for a folder without a tracked
file, where tools put one that says `*` into their caches.
"""

import os
from collections.abc import Iterator, Sequence
from os.path import basename, dirname, join

from msgspec.structs import replace

from corral.world.git.tree import Tree, read_plain
from corral.world.git.view import Desk, put
from corral.world.keep.entries import IndexEntry

_RULES = b".gitignore"
_IGNORED = b"!! "


def drafts(
    tree: Tree, desk: Desk, lines: Sequence[bytes], found: Sequence[IndexEntry], head: str | None
) -> frozenset[bytes]:
    """Return ignored paths, of the lines of a status, that the rules of HEAD do not ignore."""
    ignored = [line[3:] for line in lines if line.startswith(_IGNORED)]
    tools = _of_tools(ignored, found)
    changed = {line[3:] for line in lines if basename(line[3:]) == _RULES} - tools
    if not ignored or not changed:
        return frozenset()
    scratch = join(desk.folder, "rules")
    os.mkdir(scratch)
    rules = replace(desk, worktree=scratch)
    if head:
        _check_out(rules, head)
    for path in ignored:
        place = join(os.fsencode(scratch), path)
        if path.endswith(b"/"):  # git asks the disk what is a folder
            os.makedirs(place, exist_ok=True)
        elif path in tools:
            os.makedirs(dirname(place), exist_ok=True)
            content = read_plain(join(tree.path, os.fsdecode(path))) or b""
            put(os.fsdecode(place), os.fsdecode(content))
    asked = b"".join(path.rstrip(b"/") + b"\0" for path in ignored)
    said = rules.run("check-ignore", "--no-index", "-z", "--stdin", stdin=asked, fine=(0, 1))
    return frozenset(path.rstrip(b"/") for path in ignored) - frozenset(said.split(b"\0"))


def _of_tools(ignored: Sequence[bytes], found: Sequence[IndexEntry]) -> set[bytes]:
    """Return the rules that ignore themselves, in folders without a tracked file."""
    rules = {path for path in ignored if basename(path) == _RULES}
    folders = {folder for entry in found for folder in _above(entry.path)} if rules else set()
    return {path for path in rules if dirname(path) not in folders}


def _above(path: bytes) -> Iterator[bytes]:
    while path:
        path = dirname(path)
        yield path


def _check_out(rules: Desk, head: str) -> None:
    rules.run("read-tree", head, index="rules-index")
    listed = rules.run("ls-files", "-z", index="rules-index").split(b"\0")
    names = b"".join(path + b"\0" for path in listed if basename(path) == _RULES)
    rules.run("checkout-index", "-q", "-z", "--stdin", index="rules-index", stdin=names)
