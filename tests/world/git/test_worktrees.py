"""The repository's list of working trees, while git works on it too."""

import subprocess
from pathlib import Path

from corral.world.git import worktrees
from tests.world.trees.tree_repo import git, repository


def listed(repo: Path) -> Path:
    return repo / ".git" / "worktrees"


def added(repo: Path, path: Path) -> str:
    commit = git(repo, "rev-parse", "HEAD")
    with worktrees.locked(str(repo / ".git")):
        return worktrees.add(str(repo / ".git"), str(path), commit)


def test_a_tree_is_forgotten_while_git_prunes_the_list(tmp_path: Path) -> None:
    repo = repository(tmp_path / "project")
    owns = []
    for number in range(30):
        own = added(repo, tmp_path / f"tree-{number}")
        for part in range(40):  # so that removing it takes a while
            Path(own, "logs", str(part)).mkdir(parents=True)
        owns.append(own)
    pruning = subprocess.Popen(["sh", "-c", "while git worktree prune; do :; done"], cwd=repo)
    try:
        for own in owns:
            worktrees.forget(own)
    finally:
        pruning.kill()
        pruning.wait()
    assert not listed(repo).exists()
    assert git(repo, "worktree", "list").count("\n") <= 1


def test_whatever_a_killed_process_left_is_in_nobodys_way(tmp_path: Path) -> None:
    repo = repository(tmp_path / "project")
    own = added(repo, tmp_path / "tree-1")
    left = repo / ".git" / "corral" / "old-tree-1"
    left.mkdir()
    (left / "HEAD").write_text("half removed")
    worktrees.forget(own)
    assert not left.exists()
    worktrees.forget(own)  # and once more: it is gone already
    assert not listed(repo).exists()
