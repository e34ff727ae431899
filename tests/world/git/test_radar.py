"""The radar: the same conflicts as merging all pairs, from a few merges."""

from itertools import combinations
from pathlib import Path

from corral.world.git.merge import Merger, Sides
from corral.world.git.paths import changed_paths
from corral.world.git.radar import near, sweep
from corral.world.git.ranges import Branch
from corral.world.git.view import View
from tests.world.git.histories import write_one_base
from tests.world.git.reference import run


def test_nothing_that_conflicts_is_left_out(tmp_path: Path) -> None:
    """All pairs of 48 branches with nasty changes from one base."""
    repo = tmp_path / "repo"
    base, tips = write_one_base(repo, 7, 48)
    branches = [Branch(tip, base) for tip in tips]
    with Merger(View(str(repo / ".git"))) as merger:
        pairs = list(combinations(range(len(tips)), 2))
        all_merged = merger.join_many([Sides(tips[a], tips[b]) for a, b in pairs])
        truth = {pair for pair, merged in zip(pairs, all_merged, strict=True) if not merged.clean}
        clashes = sweep(merger, branches)
        number = {live: n for n, live in enumerate(branches)}
        assert {(number[one.one], number[one.other]) for one in clashes} == truth
        changes = changed_paths(merger.view, [(base, tip) for tip in tips])
        asked = near(merger, branches, changes)
        assert len(truth) < len(asked) < len(pairs)
        assert len(truth) > 100
        assert all(one.merged.paths for one in clashes)
        one = merger.join_many([Sides(tips[0], tip, (base,)) for tip in tips[1:]])
        assert [merged.clean for merged in one] == [
            (0, n) not in truth for n in range(1, len(tips))
        ]


def test_changed_paths_are_those_of_git_diff(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    base, tips = write_one_base(repo, 8, 20)
    found = changed_paths(View(str(repo / ".git")), [(base, tip) for tip in tips] + [(base, base)])
    for tip, changed in zip([*tips, base], found, strict=True):
        for letter, paths in (("A", changed.added), ("D", changed.deleted), ("", changed.all)):
            options = [f"--diff-filter={letter}"] if letter else []
            said = run(repo, "diff", "--no-renames", "--name-only", "-z", *options, base, tip)
            assert paths == set(said.stdout.decode().split("\0")) - {""}
