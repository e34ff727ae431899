"""Landing moves one ref and nothing else; a bad candidate is refused beforehand."""

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from corral.core.errors import BadInput
from corral.core.refs import QUEUE_REFS, SPEC_REFS
from corral.roles.refinery.pins import Pins
from corral.world.git.candidates import Candidate, CandidateChange, Candidates, Strategy
from corral.world.git.invariants import assert_landing
from corral.world.git.landing import Overtaken, land, settle
from corral.world.git.merge import Merger
from corral.world.git.messages import Text, commit_object
from corral.world.git.view import View
from tests.world.git.agreement import STAMP
from tests.world.git.test_candidates import branch, made
from tests.world.trees.tree_repo import commit_file, everything, git, repository


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path / "project")


@pytest.fixture
def view(repo: Path) -> View:
    return View(str(repo / ".git"))


def test_the_checkout_stays_byte_for_byte(repo: Path, view: View, tmp_path: Path) -> None:
    change = branch(repo, "AF-1", "main", ("new", "1\n"))
    (repo / "part0" / "file0.txt").write_text("the user's work\n")
    (repo / "staged").write_text("1\n")
    git(repo, "add", "staged")
    linked = tmp_path / "linked"
    git(repo, "worktree", "add", "--quiet", "--force", str(linked), "main")
    old = git(repo, "rev-parse", "main")
    found = made(view, old, [change], Strategy.SQUASH)
    files = everything(repo, leaving_out=(b".git",))
    own = {name: (repo / ".git" / name).read_bytes() for name in ("HEAD", "index")}
    checked_out = land(view, "refs/heads/main", old, found.commit, "refinery R1:\nlanded AF-1")
    assert git(repo, "rev-parse", "main") == found.commit
    assert everything(repo, leaving_out=(b".git",)) == files
    assert own == {name: (repo / ".git" / name).read_bytes() for name in own}
    assert set(checked_out) == {str(repo), str(linked)}
    assert git(repo, "log", "-g", "-1", "--format=%gs", "main") == "refinery R1: landed AF-1"
    assert land(view, "refs/heads/AF-1", change.commit, found.commit, "again") == ()


def test_who_comes_second_is_told(repo: Path, view: View) -> None:
    change = branch(repo, "AF-1", "main", ("new", "1\n"))
    old = git(repo, "rev-parse", "main")
    found = made(view, old, [change], Strategy.MERGE)
    quicker = commit_file(repo, "other", "1\n")
    with pytest.raises(Overtaken, match="nothing has landed") as caught:
        land(view, "refs/heads/main", old, found.commit, "late")
    assert caught.value.found == quicker
    assert git(repo, "rev-parse", "main") == quicker
    with pytest.raises(BadInput):
        land(view, "HEAD", quicker, found.commit, "not a branch")


def test_hooks_of_the_repository_do_not_run(repo: Path, view: View, tmp_path: Path) -> None:
    hook = repo / ".git" / "hooks" / "reference-transaction"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    change = branch(repo, "AF-1", "main", ("new", "1\n"))
    (tmp_path / "ran").unlink()
    old = git(repo, "rev-parse", "main")
    found = made(view, old, [change], Strategy.SQUASH)
    Pins(view, SPEC_REFS).hold({"R1": found.commit})
    land(view, "refs/heads/main", old, found.commit, "landed")
    assert not (tmp_path / "ran").exists()


def test_what_is_pinned_survives_a_collection(repo: Path, view: View) -> None:
    change = branch(repo, "AF-1", "main", ("new", "1\n"))
    old = git(repo, "rev-parse", "main")
    found = made(view, old, [change], Strategy.SQUASH)
    other = made(view, old, [replace(change, task="AF-2")], Strategy.SQUASH)
    Pins(view, SPEC_REFS).hold({"R1": found.commit})
    Pins(view, QUEUE_REFS).hold({"AF-1": change.commit})
    git(repo, "branch", "--quiet", "-D", "AF-1")
    git(repo, "reflog", "expire", "--expire=now", "--all")
    git(repo, "gc", "--quiet", "--prune=now")
    assert view.commits(found.commit, other.commit) == [found.commit, None]
    assert Pins(view, SPEC_REFS).all() == {"R1": found.commit}
    assert Pins(view, QUEUE_REFS).all() == {"AF-1": change.commit}
    Pins(view, SPEC_REFS).let_go(["R1", "R2"])
    assert Pins(view, SPEC_REFS).all() == {}


def test_all_new_objects_are_on_the_disk_first(repo: Path, view: View) -> None:
    change = branch(repo, "AF-1", "main", ("deep/new", "1\n"))
    old = git(repo, "rev-parse", "main")
    found = made(view, old, [change], Strategy.SQUASH)
    assert settle(view, found.commit, old) == 4  # commit, two trees, blob
    git(repo, "repack", "-adq")
    os.sync()
    assert settle(view, old, f"{old}^") == 0


def _broken(view: View, found: Candidate, tree: str) -> Candidate:
    """Return the candidate with another tree in its commit, as a queue with a defect makes it."""
    person = STAMP.committer.line(STAMP.at_s)
    content = commit_object(tree, [found.tip], Text(person, b"broken\n"), person)
    with Merger(view) as merger:
        commit = merger.objects.write_commits([content])[0]
    member = replace(found.members[0], commit=commit, tree=tree, made=(commit,))
    return replace(found, commit=commit, tree=tree, members=(member,))


def test_a_wrong_landing_is_noticed(repo: Path, view: View) -> None:
    change = branch(repo, "AF-1", "main", ("new", "1\n"), ("part0/file0.txt", "mine\n"))
    old = commit_file(repo, "landed", "by another\n")
    good = made(view, old, [change], Strategy.SQUASH)
    entries = {"AF-1": change.commit}
    # The tree of the branch itself: what landed since is undone.
    reverting = _broken(view, good, git(repo, "rev-parse", f"{change.commit}^{{tree}}"))
    # The tree of the target: nothing of the branch arrives.
    losing = _broken(view, good, git(repo, "rev-parse", f"{old}^{{tree}}"))
    with Merger(view) as merger:
        assert assert_landing(merger, old, good, entries) == []
        assert assert_landing(merger, old, reverting, entries) == [
            "AF-1 would change what its branch did not: 'landed'"
        ]
        assert assert_landing(merger, old, losing, entries) == [
            "AF-1 would not land as its branch has it: 'new', 'part0/file0.txt'"
        ]
        (moved,) = assert_landing(merger, old, good, {"AF-1": change.fork})
        assert "what was queued is" in moved
        ahead = commit_file(repo, "more", "1\n")
        (lacks,) = assert_landing(merger, ahead, good, entries)
        assert "lacks 1 commit of the target" in lacks


def test_a_rename_on_the_other_side_is_no_violation(repo: Path, view: View) -> None:
    change = branch(repo, "AF-1", "main", ("part1/file1.txt", "content of 1\nand more\n"))
    git(repo, "mv", "part1/file1.txt", "part1/moved.txt")
    git(repo, "commit", "--quiet", "-m", "move")
    old = git(repo, "rev-parse", "main")
    with Merger(view) as merger:
        for strategy in Strategy:
            found = Candidates(merger).make(
                old, [CandidateChange("AF-1", change.commit, change.fork)], strategy, STAMP
            )
            assert isinstance(found, Candidate)
            assert assert_landing(merger, old, found, {"AF-1": change.commit}) == []
