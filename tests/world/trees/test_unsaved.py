"""What is not committed is seen as git sees it, bounded, and without a trace in the tree."""

import os
from pathlib import Path

from corral.world.git.paths import changed_paths
from corral.world.git.view import View
from corral.world.trees import Trees
from corral.world.trees.unsaved import snapshot, unsaved
from tests.world.trees.tree_repo import commit_file, everything, git


def test_a_snapshot_has_what_a_commit_of_everything_would_have(repo: Path, trees: Trees) -> None:
    tree = trees.make("AF-1.1", "convoy/x/AF-1", "main")
    here = Path(tree.path)
    commit = commit_file(here, "new.txt", "committed\n")
    (here / "part0" / "file0.txt").write_text("changed\n")
    (here / "part1" / "file1.txt").write_text("staged\n")
    git(here, "add", "part1")
    (here / "part2" / "file2.txt").unlink()
    (here / "deep" / "er").mkdir(parents=True)
    (here / "deep" / "er" / "odd\nname").write_text("untracked\n")
    (here / "run.sh").unlink()
    (here / "run.sh").symlink_to("elsewhere")
    (here / "ignored.log").write_text("no\n")
    (here / "progress.md").write_text("for the witness\n")
    view = View(str(repo / ".git"))
    before = everything(here), everything(tree.git_dir)
    found = unsaved(view, tree, commit, {"progress.md"})
    assert len(found.paths) == 5
    assert found.gone == {"part2/file2.txt"}
    assert found.added == {"deep/er/odd\nname"}
    trees.fetch(tree, commit)
    made = snapshot(view, tree, commit, found)
    assert (everything(here), everything(tree.git_dir)) == before
    assert unsaved(view, tree, commit, {"progress.md"}) == found
    (here / "progress.md").unlink()
    git(here, "add", "--all")
    git(here, "commit", "--quiet", "-m", "everything")
    assert git(here, "rev-parse", "HEAD^{tree}") == made
    trees.fetch(tree, git(here, "rev-parse", "HEAD"))
    in_all = found.on_top_of(changed_paths(view, [(tree.base, commit)])[0])
    truth = changed_paths(view, [(tree.base, git(here, "rev-parse", "HEAD"))])[0]
    assert (in_all.all, in_all.added, in_all.deleted) == (truth.all, truth.added, truth.deleted)


def test_what_is_large_or_no_file_is_left_out(repo: Path, trees: Trees) -> None:
    tree = trees.make("AF-1.1", "convoy/x/AF-1", "main")
    here = Path(tree.path)
    (here / "big.bin").write_bytes(bytes(2_000_000))
    os.mkfifo(here / "pipe")
    (here / "nested").mkdir()
    git(here / "nested", "init", "--quiet")
    for number in range(700):
        (here / f"many{number}").touch()
    view = View(str(repo / ".git"))
    found = unsaved(view, tree, tree.base)
    assert len(found.paths) == 500
    assert {"big.bin", "pipe", "nested/"}.isdisjoint(found.paths)
    listed = git(here, "ls-tree", "-r", "--name-only", snapshot(view, tree, tree.base, found))
    assert len(listed.splitlines()) == 500 + len(git(here, "ls-files").splitlines())


def test_an_index_that_is_nonsense_says_nothing(repo: Path, trees: Trees) -> None:
    tree = trees.make("AF-1.1", "convoy/x/AF-1", "main")
    Path(tree.git_dir, "index").write_bytes(b"DIRC nonsense")
    assert unsaved(View(str(repo / ".git")), tree, tree.base).paths == ()
