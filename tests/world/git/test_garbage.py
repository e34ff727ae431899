"""Garbage collection is held off in git's own way."""

from pathlib import Path

from corral.world.git import garbage
from tests.world.trees.tree_repo import git, repository


def test_git_collects_nothing_while_it_is_held_off(tmp_path: Path) -> None:
    repo = repository(tmp_path / "project")
    git_dir = str(repo / ".git")
    lost = git(repo, "commit-tree", "HEAD^{tree}", "-m", "nobody names this")
    with garbage.held_off(git_dir) as held:
        assert held
        git(repo, "gc", "--quiet", "--prune=now", fine=(128,))
        git(repo, "cat-file", "-e", lost)
    git(repo, "gc", "--quiet", "--prune=now")
    git(repo, "cat-file", "-e", lost, fine=(1,))
    assert not list((repo / ".git").glob("gc.pid*"))


def test_a_dead_process_loses_its_lock_file_and_a_live_one_does_not(tmp_path: Path) -> None:
    (tmp_path / "gc.pid").write_text("999999999 somewhere")
    with garbage.held_off(str(tmp_path)) as held:
        assert held
    (tmp_path / "gc.pid.lock").touch()
    with garbage.held_off(str(tmp_path)) as held:
        assert not held
    assert (tmp_path / "gc.pid.lock").exists()
    with garbage.held_off(str(tmp_path / "missing")) as held:
        assert not held
