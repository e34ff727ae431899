"""Compares our result of a merge with what git makes of it in a working tree."""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from corral.world.git.candidates import (
    Candidate,
    CandidateChange,
    Candidates,
    Conflict,
    Stamp,
    Strategy,
)
from corral.world.git.invariants import assert_landing
from corral.world.git.merge import Merger
from corral.world.git.messages import Identity
from corral.world.git.view import View
from tests.world.git.histories import History
from tests.world.git.reference import Clone, Outcome

STAMP = Stamp("R1", Identity("Refinery", "refinery@example.org"), 1_700_000_000)

# Where a path is taken, git puts `~` and the name of the side behind it.
_SIDE = re.compile(r"~(HEAD|[0-9a-f]{7,40}( \(.*\))?)(?=_\d+$|$|/)")

Stages = frozenset[tuple[str, str, int, str]]


def compare(
    repo: Path, scratch: Path, histories: Iterable[History], settings: dict[str, str]
) -> tuple[Counter[str], list[str]]:
    """Return how often what was seen, and where we differ from git."""
    clone = Clone(repo, scratch)
    for key, value in settings.items():
        clone.set(key, value)
    seen: Counter[str] = Counter()
    differing = []
    with Merger(View(str(repo / ".git"))) as merger:
        candidates = Candidates(merger)
        for history in histories:
            change = CandidateChange("AF-1", history.branch, history.base)
            for strategy in Strategy:
                theirs = _reference(clone, history, strategy)
                if theirs is None:
                    seen["git refuses"] += 1
                    continue
                ours = candidates.make(history.target, [change], strategy, STAMP)
                seen[type(ours).__name__] += 1
                wrong = _difference(ours, theirs)
                if isinstance(ours, Candidate):
                    entries = {change.task: change.commit}
                    wrong += assert_landing(merger, history.target, ours, entries)
                differing += [f"{strategy} of {history}: {one}" for one in wrong]
    return seen, differing


def _reference(clone: Clone, history: History, strategy: Strategy) -> Outcome | None:
    match strategy:
        case Strategy.MERGE:
            return clone.merge(history.target, history.branch, "--no-ff")
        case Strategy.SQUASH:
            return clone.merge(history.target, history.branch, "--squash")
        case Strategy.REBASE:
            return clone.rebase(history.target, history.base, history.branch)


def _difference(ours: Candidate | Conflict, theirs: Outcome) -> list[str]:
    if isinstance(ours, Candidate):
        if ours.tree != theirs.tree:
            return [f"our tree is {ours.tree}, git's is {theirs.tree or theirs.unmerged}"]
        made = len(ours.members[0].made)
        if theirs.commits is not None and made != theirs.commits:
            return [f"we made {made} commits, git {theirs.commits}"]
        return []
    if theirs.tree:
        return [f"git merges cleanly, to {theirs.tree}; we do not: {ours.merged.messages}"]
    mine = frozenset((one.mode, one.oid, one.stage, one.path) for one in ours.merged.conflicts)
    different = _named(mine) ^ _named(theirs.unmerged)
    return [f"the conflicts differ: {sorted(different)}"] if different else []


def _named(stages: Stages) -> Stages:
    return frozenset(
        (mode, oid, stage, _SIDE.sub("~side", path)) for mode, oid, stage, path in stages
    )
