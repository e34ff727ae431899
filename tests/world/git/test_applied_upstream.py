"""A rebase replays what `git rebase` replays, where upstream has some of the commits already."""

import random
from pathlib import Path

from corral.world.git.candidates import Candidate, CandidateChange, Candidates, Strategy
from corral.world.git.invariants import assert_landing
from corral.world.git.merge import Merger
from corral.world.git.view import View
from tests.world.git.agreement import STAMP
from tests.world.git.reference import run
from tests.world.trees.tree_repo import commit_file, git, repository

FILES = ("one.txt", "two.txt")
LINES = 12


def edit(repo: Path, chance: random.Random, number: int) -> None:
    """Change a line of a file to one that was never there."""
    name = chance.choice(FILES)
    lines = (repo / name).read_text().splitlines()
    lines[chance.randrange(LINES)] = f"line {number}"
    (repo / name).write_text("\n".join(lines) + "\n")
    run(repo, "commit", "--quiet", "--all", "--message", f"edit {number}")


def diverge(repo: Path, chance: random.Random) -> tuple[str, str]:
    """Make a target that has picked some commits of a branch; return the target and the branch."""
    run(repo, "checkout", "--quiet", "--force", "--detach", "main")
    for number in range(chance.randint(1, 4)):
        edit(repo, chance, number)
    commits = git(repo, "rev-list", "--reverse", "main..HEAD").split()
    run(repo, "checkout", "--quiet", "--detach", "main")
    for number in range(10, 12 + chance.randint(0, 3)):
        picked = chance.choice([*commits, ""])
        if not picked:
            edit(repo, chance, number)
        elif run(repo, "cherry-pick", picked, fine=(0, 1)).returncode:
            run(repo, "cherry-pick", "--abort")
    return git(repo, "rev-parse", "HEAD"), commits[-1]


def test_random_histories(tmp_path: Path) -> None:
    repo = repository(tmp_path / "project")
    for name in FILES:
        commit_file(repo, name, "".join(f"{name} {line}\n" for line in range(LINES)))
    fork = git(repo, "rev-parse", "main")
    dropped = 0
    for seed in range(16):
        target, commit = diverge(repo, random.Random(seed))
        with Merger(View(str(repo / ".git"))) as merger:
            change = CandidateChange("AF-1", commit, fork)
            ours = Candidates(merger).make(target, [change], Strategy.REBASE, STAMP)
            if isinstance(ours, Candidate):
                assert assert_landing(merger, target, ours, {"AF-1": commit}) == []
        run(repo, "checkout", "--quiet", "--force", "--detach", commit)
        rebased = run(repo, "rebase", "--quiet", target, fine=(0, 1)).returncode == 0
        assert rebased is isinstance(ours, Candidate), seed
        if isinstance(ours, Candidate):
            assert subjects(repo, target, ours.commit) == subjects(repo, target, "HEAD"), seed
            assert ours.tree == git(repo, "rev-parse", "HEAD^{tree}"), seed
            own = git(repo, "rev-list", "--count", f"{fork}..{commit}")
            dropped += int(own) - len(ours.members[0].made)
        else:
            run(repo, "rebase", "--abort")
    assert dropped > 5


def subjects(repo: Path, target: str, tip: str) -> list[str]:
    return git(repo, "log", "--format=%s", f"{target}..{tip}").splitlines()


def test_what_upstream_went_on_from_is_not_applied_again(tmp_path: Path) -> None:
    repo = repository(tmp_path / "project")
    fork = git(repo, "rev-parse", "main")
    git(repo, "checkout", "--quiet", "-b", "work")
    picked = commit_file(repo, "part0/file0.txt", "of the branch\n")
    commit = commit_file(repo, "own", "x\n")
    git(repo, "checkout", "--quiet", "main")
    commit_file(repo, "before", "x\n")
    git(repo, "cherry-pick", picked)
    target = commit_file(repo, "part0/file0.txt", "of the branch, and more\n")
    with Merger(View(str(repo / ".git"))) as merger:
        change = CandidateChange("AF-1", commit, fork)
        made = Candidates(merger).make(target, [change], Strategy.REBASE, STAMP)
    assert isinstance(made, Candidate), made
    assert git(repo, "show", f"{made.commit}:part0/file0.txt") == "of the branch, and more"
    assert subjects(repo, target, made.commit) == ["add own"]
