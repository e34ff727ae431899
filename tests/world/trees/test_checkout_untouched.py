"""The user's checkout is byte-identical, whatever state it is in and whatever happens to trees."""

from collections.abc import Callable
from pathlib import Path

import pytest

from corral.world.trees import Trees
from tests.world.trees.tree_repo import commit_file, everything, git, opened

# What git itself shares between trees of one repository, and what is ours.
SHARED = tuple(b".git/" + name for name in (b"objects", b"refs", b"logs", b"worktrees", b"corral"))


def dirty(repo: Path) -> None:
    (repo / "part0" / "file0.txt").write_text("changed")
    (repo / "staged").write_text("staged")
    git(repo, "add", "staged")
    (repo / "untracked").write_text("untracked")


def detached(repo: Path) -> None:
    git(repo, "checkout", "--quiet", "--detach", "main~1")


def mid_rebase(repo: Path) -> None:
    git(repo, "checkout", "--quiet", "-b", "mine", "main~1")
    commit_file(repo, "part0/file0.txt", "another change")
    git(repo, "rebase", "main", fine=(1,))
    assert (repo / ".git" / "rebase-merge").exists()


@pytest.mark.parametrize("state", [dirty, detached, mid_rebase])
@pytest.mark.parametrize("kind", ["worktree", "clone"])
def test_the_checkout_is_left_alone(repo: Path, state: Callable[[Path], None], kind: str) -> None:
    state(repo)
    before = everything(repo, leaving_out=SHARED)
    head = git(repo, "rev-parse", "HEAD")
    trees: Trees = opened(repo)
    for number in range(2):
        tree = trees.make(
            f"s{number}", "convoy/x/1", "main", kind="clone" if kind == "clone" else "worktree"
        )
        commit_file(tree.path, f"new{number}", "new")
        (Path(tree.path) / "part0" / "file0.txt").write_text("dirty")
        trees.facts(tree)
        trees.collect(tree)
        kept = trees.release(tree)
        assert kept
        trees.keep.restore(kept, str(repo.parent / f"back{number}"))
    trees.drain()
    trees.sweep()
    assert everything(repo, leaving_out=SHARED) == before
    assert git(repo, "rev-parse", "HEAD") == head
