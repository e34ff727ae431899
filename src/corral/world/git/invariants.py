"""Invariants of every landing, checked against the trees themselves.

They are cheap enough to check each time: a queue with a wrong base lands trees in which the work of
others is undone while all tests pass.
"""

from collections.abc import Mapping
from os.path import dirname

from corral.core.text import counted
from corral.world.git.candidates import Candidate, CandidateChange, Member, Strategy
from corral.world.git.merge import Merger, Sides
from corral.world.git.paths import Changed, changed_paths

_SHOWN = 5
_RENAMES = ("diff-tree", "-r", "-z", "-M", "--diff-filter=R", "--name-status")


def assert_landing(
    merger: Merger, old: str, candidate: Candidate, entries: Mapping[str, str]
) -> list[str]:
    """List in plain words what is wrong with landing a candidate on a target at `old`.

    `entries` holds the commit of each task as it was queued. An empty list means nothing is wrong.
    """
    wrong = []
    new = candidate.commit
    lacking = merger.view.run("rev-list", "--count", old, f"^{new}").decode().strip()
    if lacking != "0":
        commits = counted(int(lacking), "commit")
        wrong = [f"{new[:12]} lacks {commits} of the target, which is at {old[:12]}"]
    for member in candidate.members:
        task, commit = member.change.task, member.change.commit
        queued = entries.get(task)
        if queued != commit:
            was = queued[:12] if queued else "not there"
            wrong.append(f"{task} would land {commit[:12]}, but what was queued is {was}")
    before = candidate.tip
    below: list[CandidateChange] = []
    for member in candidate.members:
        wrong += _content(merger, before, below, member, candidate.strategy)
        below.append(member.change)
        before = member.commit
    if before != candidate.commit:
        wrong.append(f"{candidate.commit[:12]} is not the last commit of its changes")
    return wrong


def _content(
    merger: Merger, before: str, below: list[CandidateChange], member: Member, strategy: Strategy
) -> list[str]:
    """Compare what a member did to the stack with what its branch did since its base."""
    change = member.change
    sides = Sides(before, change.commit, (change.fork, *(one.commit for one in below)))
    bases = merger.bases(sides)
    pairs = [(before, member.commit)]
    pairs += [pair for base in bases for pair in ((base, change.commit), (base, before))]
    landed, *both = changed_paths(merger.view, pairs)
    branch, target = both[::2], both[1::2]
    meant = frozenset[str]().union(*(one.all for one in branch))
    strange = set(landed.all - meant)
    lost = set()
    # With several bases, or a merge that was replayed, the origin of a path is ambiguous.
    rebased = strategy is Strategy.REBASE
    if len(bases) == 1 and not (rebased and _own(merger, sides, "--merges", "--max-count=1")):
        lost = _lost(landed, branch[0], target[0])
    if strange and rebased:
        strange -= _touched(merger, sides)
    if strange or lost:
        moved = _moved(merger, bases, (before, change.commit), strange | lost)
        strange, lost = strange - moved, lost - moved
    wrong = []
    if strange:
        wrong.append(f"{change.task} would change what its branch did not: {_some(strange)}")
    if lost:
        wrong.append(f"{change.task} would not land as its branch has it: {_some(lost)}")
    return wrong


def _lost(landed: Changed, branch: Changed, target: Changed) -> set[str]:
    """Return paths that only the branch has changed, and that differ from the branch."""
    lost = set()
    for path, entry in branch.entries.items():
        if path in target.entries:
            continue
        after = landed.entries[path].new if path in landed.entries else entry.old
        if after != entry.new:
            lost.add(path)
    return lost


def _moved(
    merger: Merger, bases: tuple[str, ...], sides: tuple[str, str], paths: set[str]
) -> set[str]:
    """Return the paths that a rename of the file or its folder on either side explains."""
    found: set[str] = set()
    for base in bases:
        for side in sides:
            said = merger.view.run(*_RENAMES, base, side)
            words = said.decode("utf-8", "surrogateescape").split("\0")
            ends = {*words[1::3], *words[2::3]}  # each is a score, an old and a new name
            folders = {dirname(path) for path in ends}
            found |= {path for path in paths if path in ends or dirname(path) in folders}
    return found


def _touched(merger: Merger, sides: Sides) -> set[str]:
    """Return the paths that any single commit changes, even if reverted: a replay has them all."""
    lines = _own(merger, sides, "--no-merges", "--parents")
    commits = [line.split() for line in lines]
    pairs = [(parents[0], commit) for commit, *parents in commits if parents]
    return {path for changed in changed_paths(merger.view, pairs) for path in changed.all}


def _own(merger: Merger, sides: Sides, *options: str) -> list[str]:
    without = (f"^{commit}" for commit in (sides.ours, *sides.known))
    return merger.view.run("rev-list", *options, sides.theirs, *without).decode().splitlines()


def _some(paths: set[str]) -> str:
    shown = sorted(paths)[:_SHOWN]
    more = len(paths) - len(shown)
    return ", ".join(repr(path) for path in shown) + (f" and {more} more" if more else "")
