"""A conflict as shown to an agent or a person: files with markers, stages, the other side.

Where git has no markers (a binary file, a file that one side deleted or made a folder), adding
everything would quietly take one side. So the file is taken away, and what each side has is put
beside it: work is not resolved while one of these is left.
"""

import os
import re
from collections.abc import Sequence
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from corral.core.session.returned import Undecided
from corral.world.git.command import GitFailed
from corral.world.git.merge import Merged, Merger, Sides
from corral.world.git.view import Desk, View

_MARKER = re.compile(rb"^<{7,} ", re.MULTILINE)
_BESIDE = {2: "~landed", 3: "~yours"}  # by stage
_PUT_BESIDE = re.compile(r"~(?:HEAD|worktree_[^/]*)$")  # by git, beside a folder of that name


class ConflictState(Struct, frozen=True):
    """A working tree in a conflict: its branch at `tip`, files and index from the merge."""

    tip: str
    merged: Merged
    undecided: tuple[Undecided, ...] = ()


def conflict_state(merger: Merger, tip: str, commit: str, fork: str, *, name: str) -> ConflictState:
    """Merge a branch into a tip for a working tree that will show the conflict.

    In the markers our side is `HEAD` and the branch `worktree/<name>`. There is no MERGE_HEAD: the
    next commit is the resolved change on top of the tip.
    """
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", name).strip("-") or "branch"
    merged = merger.shown(Sides(tip, commit, (fork,)), plain)
    paths = [path for path in merged.paths if "\n" not in path]
    found = merger.objects.read([f"{merged.tree}:{path}" for path in paths])
    marked = {
        path for path, one in zip(paths, found, strict=True) if one and _MARKER.search(one[2])
    }
    undecided, entries = [], []
    for path in merged.paths:
        sides = {one.stage: one for one in merged.conflicts if one.path == path}
        if path in marked or not sides.keys() & _BESIDE.keys():
            continue
        name = _PUT_BESIDE.sub("", path)
        beside = {stage: f"{name}{end}" if stage in sides else "" for stage, end in _BESIDE.items()}
        undecided.append(Undecided(name, *beside.values()))
        entries.append(("0", "0" * len(merged.tree), path))
        entries += [(sides[n].mode, sides[n].oid, at) for n, at in beside.items() if at]
    tree = merger.with_files(merged.tree, entries) if entries else merged.tree
    return ConflictState(tip, replace(merged, tree=tree), tuple(undecided))


def enter(desk: Desk, state: ConflictState) -> None:
    """Put the files and the index of a desk into that state; their content must have been kept."""
    tree, stages = state.merged.tree, state.merged.conflicts
    desk.run("read-tree", "--reset", "-u", tree)
    paths = dict.fromkeys(stage.path for stage in stages)
    lines = [f"0 {'0' * len(tree)}\t{path}\0" for path in paths]
    lines += [f"{one.mode} {one.oid} {one.stage}\t{one.path}\0" for one in stages]
    desk.run("update-index", "-z", "--index-info", stdin=os.fsencode("".join(lines)))


def other_side(
    view: View, base: str, tip: str, paths: Sequence[str] = (), *, limit: int = 64 * 1024
) -> str:
    """Return the diff between two commits, of these paths or all, cut after a number of bytes."""
    said = b""
    with suppress(GitFailed):  # a part that is missing has no diff
        said = view.first(
            limit + 1,
            *("--literal-pathspecs", "diff-tree", "-p", "-M", "--no-ext-diff", "--no-textconv"),
            *("--no-color", base, tip, "--", *paths),
        )
    if len(said) <= limit:
        return said.decode("utf-8", "replace")
    whole = said[:limit].rpartition(b"\n")[0]
    return whole.decode("utf-8", "replace") + "\n\n(cut)"
