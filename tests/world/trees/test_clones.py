"""A shared clone is a tree of its own: what it makes is brought over, what it borrows stays."""

from pathlib import Path

import pytest

from corral.core.errors import NotFound
from corral.world.trees import Trees
from tests.world.trees.tree_repo import commit_file, git, working_files


def test_a_clone_borrows_and_is_collected(repo: Path, trees: Trees) -> None:
    tree = trees.make("s1", "convoy/x/1", "main", kind="clone")
    assert working_files(tree.path) == working_files(repo)
    assert not git(tree.path, "status", "--porcelain")
    assert git(tree.path, "count-objects").startswith("0 objects")
    done = commit_file(tree.path, "done.txt", "done")
    facts = trees.facts(tree)
    assert (facts.branch_commit, facts.changed, facts.commits) == (done, ("done.txt",), 1)
    assert git(repo, "cat-file", "-t", done, fine=(128,)) == ""
    assert trees.collect(tree) == done
    assert git(repo, "rev-parse", "convoy/x/1") == done
    git(repo, "fsck", "--strict")
    assert trees.collect(tree) == done


def test_the_base_is_held_while_the_clone_lives(repo: Path, trees: Trees) -> None:
    git(repo, "checkout", "--quiet", "--detach")
    base = commit_file(repo, "base.txt", "only here")
    tree = trees.make("s1", "convoy/x/1", base, kind="clone")
    git(repo, "checkout", "--quiet", "main")
    git(repo, "update-ref", "-d", "refs/heads/convoy/x/1")
    git(repo, "reflog", "expire", "--expire=now", "--all")
    git(repo, "gc", "--quiet", "--prune=now")
    git(tree.path, "fsck", "--strict")
    trees.remove(tree)
    assert "corral/base" not in git(repo, "for-each-ref")


def test_all_that_is_in_a_clone_is_kept(repo: Path, trees: Trees) -> None:
    tree = trees.make("s1", "convoy/x/1", "main", kind="clone")
    place = Path(tree.path)
    done = commit_file(place, "done.txt", "done")
    git(place, "checkout", "--quiet", "-b", "other")
    aside = commit_file(place, "aside.txt", "aside")
    git(place, "checkout", "--quiet", "convoy/x/1")
    commit_file(place, "undone.txt", "undone")
    undone = git(place, "rev-parse", "HEAD")
    git(place, "reset", "--quiet", "--hard", done)
    (place / "staged").write_text("staged")
    git(place, "add", "staged")
    (place / "staged").write_text("and changed")
    files, status = working_files(place), git(place, "status", "--porcelain")
    kept = trees.remove(tree)
    trees.sweep()
    assert not place.exists()
    assert kept
    git(repo, "gc", "--quiet", "--prune=now")
    assert {done, aside, undone} == set(trees.keep.show(kept).commits)
    back = trees.keep.restore(kept, str(repo.parent / "back"), branch="rescued")
    assert working_files(back) == files
    assert git(back, "status", "--porcelain") == status
    assert git(back, "rev-parse", "rescued") == done


def test_a_clone_without_its_branch_has_nothing_to_collect(trees: Trees) -> None:
    tree = trees.make("s1", "convoy/x/1", "main", kind="clone")
    git(tree.path, "checkout", "--quiet", "--orphan", "other")
    git(tree.path, "branch", "-D", "convoy/x/1")
    with pytest.raises(NotFound):
        trees.collect(tree)
    assert trees.facts(tree).branch_commit is None


def test_a_ref_that_is_being_written_is_not_copied(repo: Path, trees: Trees) -> None:
    git(repo, "tag", "v1")
    for name in ("heads/main.lock", "heads/.new-1", "tags/v2.lock"):
        (repo / ".git" / "refs" / name).write_text(git(repo, "rev-parse", "main") + "\n")
    tree = trees.make("s1", "convoy/x/1", "main", kind="clone")
    refs = git(tree.path, "for-each-ref", "--format=%(refname)").split()
    assert refs == ["refs/heads/convoy/x/1", "refs/heads/main", "refs/tags/v1"]
    git(tree.path, "gc", "--quiet", "--prune=now")
