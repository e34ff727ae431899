"""Whatever a session does to its tree and repository, none of it runs and nothing is lost."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from corral.core.errors import Refused
from corral.world.trees import Tree, Trees
from tests.world.trees.tree_repo import commit_file, everything, git, opened, working_files

PROGRAMS = (
    "core.fsmonitor",
    "core.sshCommand",
    "core.editor",
    "core.pager",
    "core.alternateRefsCommand",
    "core.gitProxy",
    "diff.external",
    "diff.evil.command",
    "diff.evil.textconv",
    "merge.evil.driver",
    "filter.evil.clean",
    "filter.evil.smudge",
    "filter.evil.process",
    "gpg.program",
    "remote.evil.uploadpack",
    "uploadpack.packObjectsHook",
)


def booby_trap(git_dir: Path, marker: Path) -> None:
    """Make every program that a configuration can name leave a marker."""
    for hook in ("post-checkout", "reference-transaction", "post-index-change", "pre-auto-gc"):
        (git_dir / "hooks").mkdir(exist_ok=True)
        path = git_dir / "hooks" / hook
        path.write_text(f"#!/bin/sh\ntouch '{marker}'\n")
        path.chmod(0o755)
    config = str(git_dir / "config")
    for key in PROGRAMS:
        git(git_dir, "config", "--file", config, key, f"touch '{marker}';")
    git(git_dir, "config", "--file", config, "core.hooksPath", str(git_dir / "hooks"))
    git(git_dir, "config", "--file", config, "remote.evil.url", str(git_dir))
    git(git_dir, "config", "--file", config, "remote.evil.promisor", "true")
    git(git_dir, "config", "--file", config, "extensions.partialClone", "evil")
    git(git_dir, "config", "--file", config, "protocol.ext.allow", "always")
    git(git_dir, "config", "--file", config, "url.ext::sh.insteadOf", "/")


def use_it(trees: Trees, tree: Tree) -> None:
    """Do everything with a tree that the harness ever does."""
    trees.facts(tree)
    trees.adopt(tree.name)
    trees.facts(tree)
    trees.prepare(tree, [".env"])
    trees.collect(tree)
    kept = trees.release(tree)
    assert kept
    trees.keep.show(kept)
    again = trees.make("again", "convoy/x/again", "main")
    trees.keep.restore(kept, str(Path(trees.place).parent / "back"))
    trees.make("clone", "convoy/x/clone", "main", kind="clone")
    trees.remove(again)
    trees.sweep()


def shared_configuration(tree: Tree, repo: Path, marker: Path) -> None:
    booby_trap(repo / ".git", marker)


def replaced_file(tree: Tree, repo: Path, marker: Path) -> None:
    other = repo.parent / "other"
    other.mkdir()
    git(other, "init", "--quiet")
    booby_trap(other / ".git", marker)
    (Path(tree.path) / ".git").write_text(f"gitdir: {other / '.git'}\n")


def replaced_folder(tree: Tree, repo: Path, marker: Path) -> None:
    (Path(tree.path) / ".git").unlink()
    git(tree.path, "init", "--quiet")
    booby_trap(Path(tree.path) / ".git", marker)


@pytest.mark.parametrize("trap", [shared_configuration, replaced_file, replaced_folder])
@pytest.mark.parametrize("restarted", [False, True])
def test_no_program_of_a_session_runs(
    repo: Path, trees: Trees, trap: Callable[[Tree, Path, Path], None], restarted: bool
) -> None:
    marker = repo.parent / "marker"
    (repo / ".env").write_text("KEY=1")
    tree = trees.make("s1", "convoy/x/1", "main")
    place = Path(tree.path)
    commit_file(place, ".gitattributes", "* filter=evil diff=evil merge=evil\n")
    (place / "part1" / "file1.txt").write_text("changed")
    (place / "untracked").write_text("new")
    trap(tree, repo, marker)
    assert not marker.exists()
    use_it(opened(repo) if restarted else trees, tree)
    assert not marker.exists()


def test_the_traps_work(repo: Path) -> None:
    """Without our precautions, looking at the tree runs the session's program."""
    marker = repo.parent / "marker"
    booby_trap(repo / ".git", marker)
    git(repo, "status", fine=(0, 1, 128))
    assert marker.exists()


def test_a_nested_repository_is_never_asked(repo: Path, trees: Trees) -> None:
    """Git runs git inside of a submodule, with the submodule's configuration."""
    marker = repo.parent / "marker"
    tree = trees.make("s1", "convoy/x/1", "main")
    inner = Path(tree.path) / "inner"
    inner.mkdir()
    git(inner, "init", "--quiet")
    commit_file(inner, "a", "a")
    git(tree.path, "add", "inner", fine=(0,))
    git(tree.path, "commit", "--quiet", "-m", "a submodule")
    (inner / "a").write_text("changed")
    booby_trap(inner / ".git", marker)
    git(inner, "config", "--unset", "extensions.partialClone")
    git(inner, "status", fine=(0, 1, 128))
    assert marker.exists()
    marker.unlink()
    trees.facts(tree)
    kept = trees.release(tree)
    assert kept
    assert "inner/a" in trees.keep.show(kept).untracked
    assert not marker.exists()


def test_a_deleted_tree_is_seen_and_its_commits_and_index_kept(repo: Path, trees: Trees) -> None:
    tree = trees.make("s1", "convoy/x/1", "main")
    done = commit_file(tree.path, "done.txt", "done")
    (Path(tree.path) / "staged").write_text("staged")
    git(tree.path, "add", "staged")
    shutil.rmtree(tree.path)
    facts = trees.facts(tree)
    assert (facts.exists, facts.dirty, facts.branch_commit) == (False, (), done)
    assert (facts.commits, facts.changed) == (1, ("done.txt",))
    kept = trees.release(tree)
    assert kept
    assert trees.keep.show(kept).staged == ("staged",)
    assert trees.list() == []
    assert git(repo, "worktree", "list").count("\n") == 0


def test_a_tree_replaced_by_a_link_is_not_followed(repo: Path, trees: Trees) -> None:
    tree = trees.make("s1", "convoy/x/1", "main")
    parked = trees.make("s2", "convoy/x/2", "main")
    trees.release(parked)
    (repo / "precious").write_text("untracked, of the user")
    before = everything(repo, leaving_out=(b".git",))
    for path in (tree.path, parked.path):
        shutil.rmtree(path)
        os.symlink(repo, path)
    assert not trees.facts(tree).exists
    with pytest.raises(Refused):
        trees.make("s3", "convoy/x/3", "main")
    trees.release(tree)
    trees.make("s3", "convoy/x/3", "main")
    trees.sweep()
    assert everything(repo, leaving_out=(b".git",)) == before


def test_heads_of_all_sorts_are_told_apart(trees: Trees) -> None:
    tree = trees.make("s1", "convoy/x/1", "main")
    git(tree.path, "checkout", "--quiet", "-b", "elsewhere")
    away = commit_file(tree.path, "away.txt", "away")
    facts = trees.facts(tree)
    assert (facts.head_branch, facts.head_commit) == ("elsewhere", away)
    assert (facts.branch_commit, facts.commits, facts.changed) == (tree.base, 0, ())
    git(tree.path, "checkout", "--quiet", "--detach")
    assert (trees.facts(tree).head_branch, trees.facts(tree).head_commit) == ("", away)
    git(tree.path, "checkout", "--quiet", "--orphan", "unborn")
    facts = trees.facts(tree)
    assert (facts.head_branch, facts.head_commit) == ("unborn", None)
    assert "away.txt" in facts.dirty
    for head in ("nonsense\n", "ref: refs/heads/../../x\n", "0" * 40 + "\n"):
        (Path(tree.git_dir) / "HEAD").write_text(head)
        assert trees.facts(tree).head_commit is None
    (Path(tree.git_dir) / "HEAD").unlink()
    os.mkfifo(Path(tree.git_dir) / "HEAD")  # would block any reader
    assert trees.facts(tree).head_commit is None
    (Path(tree.git_dir) / "index").write_bytes(b"nonsense")
    assert trees.facts(tree).dirty


def test_rewritten_branches_and_collected_garbage_lose_nothing(repo: Path, trees: Trees) -> None:
    tree = trees.make("s1", "convoy/x/1", "main", kind="worktree")
    other = trees.make("s2", "convoy/x/2", "main", kind="worktree")
    done = commit_file(tree.path, "done.txt", "done")
    git(tree.path, "commit", "--quiet", "--amend", "-m", "amended")
    (Path(other.path) / "staged").write_text("staged by the other")
    git(other.path, "add", "staged")
    loose = commit_file(other.path, "loose.txt", "loose")
    git(other.path, "update-ref", "refs/heads/convoy/x/1", "main")
    git(other.path, "update-ref", "refs/heads/convoy/x/2", "main")
    git(tree.path, "gc", "--quiet", "--prune=now")
    assert trees.facts(tree).commits == 0
    first, second = trees.remove(tree), trees.remove(other)
    assert first
    assert second
    git(repo, "reflog", "expire", "--expire=now", "--all")
    git(repo, "gc", "--quiet", "--prune=now")
    assert done in trees.keep.show(first).commits
    assert loose in trees.keep.show(second).commits
    git(repo, "fsck", "--strict")


def test_a_repository_of_its_own_is_kept_too(repo: Path, trees: Trees) -> None:
    tree = trees.make("s1", "convoy/x/1", "main")
    (Path(tree.path) / ".git").unlink()
    git(tree.path, "init", "--quiet")
    git(tree.path, "add", "--all")
    git(tree.path, "commit", "--quiet", "-m", "on my own")
    own = commit_file(tree.path, "own.txt", "own")
    kept = trees.release(tree)
    assert kept
    assert own in trees.keep.show(kept).commits
    assert git(repo, "show", f"{own}:own.txt") == "own"
    again = trees.make("s2", "convoy/x/2", "main")
    assert working_files(again.path) == working_files(repo)
