"""Finds branches that would conflict while they are still being worked on.

Only pairs that could conflict are merged: they share a path, one has a file where the other has a
folder, or one has emptied a folder (git then looks for where it went) to which the other adds a
file. Nothing else can conflict.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from msgspec import Struct

from corral.world.git.merge import Merged, Merger, Sides
from corral.world.git.paths import Changed, changed_paths
from corral.world.git.ranges import Branch


class Clash(Struct, frozen=True):
    """Two branches that conflict, and why."""

    one: Branch
    other: Branch
    merged: Merged


def sweep(merger: Merger, branches: Sequence[Branch]) -> list[Clash]:
    """Find all pairs of branches that conflict.

    If they forked at different commits, the later one includes what landed in between.
    """
    changes = changed_paths(merger.view, [(one.fork, one.commit) for one in branches])
    pairs = [(branches[a], branches[b]) for a, b in near(merger, branches, changes)]
    found = merger.join_many([Sides(one.commit, other.commit) for one, other in pairs])
    return [
        Clash(one, other, merged)
        for (one, other), merged in zip(pairs, found, strict=True)
        if not merged.clean
    ]


def near(
    merger: Merger, branches: Sequence[Branch], changes: Sequence[Changed]
) -> list[tuple[int, int]]:
    """Return the pairs of branches, by number, that could conflict at all."""
    pairs: set[tuple[int, int]] = set()
    users: dict[str, set[int]] = defaultdict(set)
    adders: dict[str, set[int]] = defaultdict(set)  # by folder
    for number, changed in enumerate(changes):
        for path in changed.all:
            users[path].add(number)
        for folder in {folder for path in changed.added for folder in _folders(path)}:
            adders[folder].add(number)
    for together in users.values():
        pairs |= set(combinations(sorted(together), 2))
    for path in users.keys() & adders.keys():
        pairs |= _crossed(users[path], adders[path])
    for folder, leavers in _left(merger, branches, changes, adders).items():
        pairs |= _crossed(leavers, adders[folder])
    return sorted(pairs)


def _left(
    merger: Merger,
    branches: Sequence[Branch],
    changes: Sequence[Changed],
    adders: dict[str, set[int]],
) -> dict[str, set[int]]:
    """Return the folders that some branches have emptied and others add to, with the former."""
    asked = [
        (number, folder)
        for number, changed in enumerate(changes)
        for folder in {folder for path in changed.deleted for folder in _folders(path)}
        if adders.get(folder, set()) - {number}
    ]
    names = [f"{branches[number].commit}:{folder}" for number, folder in asked]
    usable = [n for n, name in enumerate(names) if "\n" not in name]
    gone = {n for n in range(len(names)) if "\n" in names[n]}  # unknown, so assume one
    answers = merger.objects.kinds([names[n] for n in usable])
    gone |= {n for n, kind in zip(usable, answers, strict=True) if kind != "tree"}
    found: dict[str, set[int]] = defaultdict(set)
    for n in gone:
        number, folder = asked[n]
        found[folder].add(number)
    return found


def _crossed(some: Iterable[int], others: Iterable[int]) -> set[tuple[int, int]]:
    return {(min(a, b), max(a, b)) for a in some for b in others if a != b}


def _folders(path: str) -> Iterator[str]:
    at = path.rfind("/")
    while at > 0:
        yield path[:at]
        at = path.rfind("/", 0, at)
