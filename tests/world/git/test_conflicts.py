"""Conflicts: shown in a session's tree, or replaced by what was generated."""

from pathlib import Path

import pytest

from corral.core.refs import GENERATED_REF
from corral.world.git.candidates import Candidate, CandidateChange, Candidates, Conflict, Strategy
from corral.world.git.conflicts import conflict_state, other_side
from corral.world.git.generated import GeneratedContents
from corral.world.git.merge import Merger, Sides
from corral.world.git.view import View
from corral.world.trees import Trees
from tests.world.git.agreement import STAMP
from tests.world.git.test_candidates import branch
from tests.world.trees.tree_repo import commit_file, git, opened, repository


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path / "project")


@pytest.fixture
def view(repo: Path) -> View:
    return View(str(repo / ".git"))


@pytest.fixture
def trees(repo: Path) -> Trees:
    return opened(repo)


def test_a_session_sees_the_conflict_in_its_tree(repo: Path, view: View, trees: Trees) -> None:
    fork = commit_file(repo, "poem", "one\ntwo\nthree\n")
    tree = trees.make("AF-1.1", "convoy/AF/AF-1", "main")
    commit_file(tree.path, "poem", "one\nTWO\nthree\n")
    commit_file(tree.path, "clean", "new\n")
    git(tree.path, "rm", "-q", "part0/file0.txt")
    git(tree.path, "commit", "--quiet", "-m", "delete")
    commit = trees.collect(tree)
    Path(tree.path, "untracked").write_text("not lost\n")
    commit_file(repo, "poem", "one\nzwei\nthree\n")
    tip = commit_file(repo, "part0/file0.txt", "changed\n")
    with Merger(view) as merger:
        state = conflict_state(merger, tip, commit, fork, name="AF-1")
    kept = trees.show_conflict(tree, state)
    assert kept is not None
    assert "untracked" in git(repo, "ls-tree", "--name-only", kept.commit)
    assert Path(tree.path, "poem").read_text() == (
        "one\n<<<<<<< HEAD\nzwei\n||||||| "
        f"{git(repo, 'rev-parse', '--short', fork)}\ntwo\n=======\nTWO\n>>>>>>> worktree/AF-1\n"
        "three\n"
    )
    assert git(tree.path, "rev-parse", "HEAD", "convoy/AF/AF-1").split() == [tip, tip]
    assert set(git(tree.path, "status", "--porcelain").splitlines()) == {
        "UU poem",
        "UD part0/file0.txt",
        "A  part0/file0.txt~landed",
        "A  clean",
        "?? untracked",
    }
    # As an agent resolves it: one commit on top of the tip, without a word about merges.
    Path(tree.path, "poem").write_text("one\nzwei TWO\nthree\n")
    git(tree.path, "add", "poem")
    git(tree.path, "rm", "-q", "-f", "part0/file0.txt", "part0/file0.txt~landed")
    git(tree.path, "commit", "--quiet", "-m", "resolved")
    assert git(tree.path, "rev-parse", "HEAD^") == tip
    resolved = trees.collect(trees.adopt(tree.name))
    with Merger(view) as merger:
        again = Candidates(merger).make(
            tip, [CandidateChange("AF-1", resolved, tip)], Strategy.SQUASH, STAMP
        )
    assert isinstance(again, Candidate)
    assert again.tree == git(tree.path, "rev-parse", "HEAD^{tree}")


def test_the_landed_side_is_shown_within_bounds(repo: Path, view: View) -> None:
    old = git(repo, "rev-parse", "main")
    commit_file(repo, "part0/file0.txt", "landed\n" * 2000)
    new = commit_file(repo, "[odd] name", "x\n")
    whole = other_side(view, old, new, limit=1_000_000)
    assert whole == git(repo, "diff", old, new) + "\n"
    part, cut, rest = other_side(view, old, new, ["part0/file0.txt"], limit=1000).partition("\n(")
    assert (cut, rest) == ("\n(", "cut)")
    assert len(part) <= 1000
    assert whole.find(part) >= 0
    assert other_side(view, old, new, ["[odd] name"]).count("diff --git") == 1


def test_what_was_generated_is_used_in_the_same_merge_only(repo: Path, view: View) -> None:
    first = branch(repo, "AF-1", "main", ("part0/file0.txt", "theirs\n"))
    tip = commit_file(repo, "part0/file0.txt", "ours\n")
    git(repo, "checkout", "--quiet", "-b", "resolved")
    made = commit_file(repo, "part0/file0.txt", "both\n")
    git(repo, "checkout", "--quiet", "main")
    with Merger(view) as merger:
        known = GeneratedContents(merger)
        plain = merger.join(Sides(tip, first.commit, (first.fork,)))
        assert known.apply(plain) == plain
        candidates = Candidates(merger, resolve=known.apply)
        assert isinstance(candidates.make(tip, [first], Strategy.MERGE, STAMP), Conflict)
        assert known.remember(plain, made) == ("part0/file0.txt",)
    git(repo, "gc", "--quiet", "--prune=now")
    # The same contents of this file, with something else around it.
    second = branch(repo, "AF-2", first.commit, ("unrelated", "1\n"))
    other = CandidateChange("AF-2", second.commit, first.fork)
    for strategy in (Strategy.MERGE, Strategy.SQUASH):
        with Merger(view) as merger:
            candidates = Candidates(merger, resolve=GeneratedContents(merger).apply)
            found = candidates.make(tip, [first], strategy, STAMP)
            assert isinstance(found, Candidate)
            assert git(repo, "show", f"{found.tree}:part0/file0.txt") == "both"
            assert isinstance(candidates.make(tip, [other], strategy, STAMP), Conflict)


def test_only_the_newest_generated_files_are_kept(repo: Path, view: View) -> None:
    names = [f"file-{number}" for number in range(150)]
    git(repo, "checkout", "--quiet", "-b", "theirs")
    for name in names:
        (repo / name).write_text("theirs\n")
    git(repo, "add", "--all")
    theirs = commit_file(repo, "one", "theirs\n")
    git(repo, "checkout", "--quiet", "main")
    for name in names:
        (repo / name).write_text("ours\n")
    git(repo, "add", "--all")
    for number in range(3):
        tip = commit_file(repo, "other", f"{number}\n")
        with Merger(view) as merger:
            known, plain = GeneratedContents(merger), merger.join(Sides(tip, theirs))
            assert len(known.remember(plain, tip)) == len(names)
            assert known.apply(plain).clean
    assert len(git(repo, "ls-tree", "-r", GENERATED_REF).splitlines()) <= 300


def test_only_what_is_whole_is_kept(repo: Path, view: View) -> None:
    first = branch(repo, "AF-1", "main", ("a", "theirs\n"), ("b", "theirs, b\n"))
    git(repo, "checkout", "--quiet", "main")
    commit_file(repo, "a", "ours\n")
    tip = commit_file(repo, "b", "ours\n")
    half = commit_file(repo, "a", "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> x\n")
    with Merger(view) as merger:
        plain = merger.join(Sides(tip, first.commit))
        assert GeneratedContents(merger).remember(plain, half) == ("b",)
        found = GeneratedContents(merger).apply(plain)
        assert not found.clean
        assert found.paths == ("a",)
    assert len(git(repo, "ls-tree", "-r", GENERATED_REF).splitlines()) == 1


def test_a_deleted_file_was_not_generated(repo: Path, view: View) -> None:
    change = branch(repo, "AF-1", "main", ("part0/file0.txt", "theirs\n"))
    git(repo, "rm", "-q", "part0/file0.txt")
    git(repo, "commit", "--quiet", "-m", "delete")
    tip = git(repo, "rev-parse", "HEAD")
    with Merger(view) as merger:
        plain = merger.join(Sides(tip, change.commit))
        assert not plain.clean
        assert GeneratedContents(merger).remember(plain, change.commit) == ()
