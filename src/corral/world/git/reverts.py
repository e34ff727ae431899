"""Which commits were reverted: `git revert` names the commit that it undoes in its message."""

import re
from collections.abc import Container

from corral.world.git.objects import Objects

_SAYS = "This reverts commit "
_NAMED = re.compile(rb"^This reverts commit ([0-9a-f]{64}|[0-9a-f]{40})\b", re.MULTILINE)


def reverted(objects: Objects, old: str, new: str) -> dict[str, str]:
    """Return what the commits between two commits of a history revert, each with its revert.

    A revert that one of them reverts does not count.
    """
    asked = ("rev-list", "--topo-order", "--fixed-strings", f"--grep={_SAYS}", new, f"^{old}")
    found: dict[str, str] = {}
    for commit in objects.commits(objects.view.run(*asked).decode().split()):
        if commit.oid not in found:
            for name in _NAMED.findall(commit.message):
                found.setdefault(name.decode(), commit.oid)
    return found


def merged_by(objects: Objects, commit: str, tip: str, merges: Container[str]) -> str | None:
    """Return which of these merges has brought a commit into the history of a tip."""
    asked = ("rev-list", "--ancestry-path", "--topo-order", "--reverse", tip, f"^{commit}")
    line = objects.view.run(*asked).decode().split()
    merge = next((oid for oid in line if oid in merges), None)
    if merge is None or objects.view.contains(objects.commit(merge).parents[0], commit):
        return None  # it was there before
    return merge


def start_of_reverted(objects: Objects, commit: str, fork: str, tip: str) -> str | None:
    """Return where reverted work began that a commit is a part of, or continues; None if none was.

    Its fork point is in the history of the tip, so git takes the work before it for landed.
    """
    view = objects.view
    asked = [oid for oid in reverted(objects, fork, tip) if view.surely_contains(tip, oid)]
    for whole in objects.commits(asked):
        before, *others = whole.parents or ("",)
        if before and whole.oid == commit:
            return before
        if others and fork in view.new_commits(before, others):
            return view.fork(before, fork)
    return None
