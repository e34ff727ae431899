"""Stacks of changes: authors, messages, built once and always the same."""

import subprocess
from pathlib import Path

import pytest

from corral.core.errors import Refused
from corral.world.git.candidates import (
    Candidate,
    CandidateChange,
    Candidates,
    Conflict,
    Stamp,
    Strategy,
)
from corral.world.git.invariants import assert_landing
from corral.world.git.merge import Merged, Merger, Sides
from corral.world.git.messages import Identity, with_trailers
from corral.world.git.view import View
from tests.world.git.agreement import STAMP
from tests.world.trees.tree_repo import commit_file, git, repository


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path / "project")


@pytest.fixture
def view(repo: Path) -> View:
    return View(str(repo / ".git"))


def branch(repo: Path, name: str, start: str, *files: tuple[str, str]) -> CandidateChange:
    """Make a branch with a commit for each file, and return to main."""
    git(repo, "checkout", "--quiet", "-b", name, start)
    fork = git(repo, "rev-parse", "HEAD")
    for path, content in files:
        commit_file(repo, path, content)
    tip = git(repo, "rev-parse", "HEAD")
    git(repo, "checkout", "--quiet", "main")
    return CandidateChange(name, tip, fork, title=f"Do {name}")


def made(view: View, tip: str, changes: list[CandidateChange], strategy: Strategy) -> Candidate:
    with Merger(view) as merger:
        found = Candidates(merger).make(tip, changes, strategy, STAMP)
    assert isinstance(found, Candidate), found
    return found


def show(repo: Path, commit: str, form: str) -> str:
    return git(repo, "log", "-1", f"--format={form}", commit)


def test_a_task_on_top_of_one_that_was_squashed_brings_only_its_own_work(
    repo: Path, view: View
) -> None:
    parent = branch(repo, "AF-1", "main", ("part0/file0.txt", "by the parent\n"))
    child = branch(repo, "AF-2", "AF-1", ("part0/file0.txt", "by the child\n"))
    tip = git(repo, "rev-parse", "main")
    landed = made(view, tip, [parent], Strategy.SQUASH).commit
    for strategy in Strategy:
        alone = made(view, landed, [child], strategy)
        together = made(view, tip, [parent, child], strategy)
        assert git(repo, "show", f"{alone.commit}:part0/file0.txt") == "by the child"
        assert alone.tree == together.tree
        with Merger(view) as merger:
            entries = {change.task: change.commit for change in (parent, child)}
            assert not assert_landing(merger, landed, alone, entries)
            assert not assert_landing(merger, tip, together, entries)
    # Without its fork point, the parent's lines look like a conflict.
    with Merger(view) as merger:
        assert merger.join(Sides(landed, child.commit)).paths == ("part0/file0.txt",)


def test_a_branch_that_took_in_the_target_is_not_asked_about_it_again(
    repo: Path, view: View
) -> None:
    change = branch(repo, "AF-1", "main", ("mine", "1\n"))
    commit_file(repo, "part0/file0.txt", "landed meanwhile\n")
    git(repo, "checkout", "--quiet", "AF-1")
    git(repo, "merge", "--quiet", "--no-edit", "main")
    commit_file(repo, "part0/file0.txt", "and changed again\n")
    tip, last = git(repo, "rev-parse", "main"), git(repo, "rev-parse", "AF-1")
    for strategy in Strategy:
        found = made(view, tip, [CandidateChange("AF-1", last, change.fork)], strategy)
        assert found.tree == git(repo, "rev-parse", f"{last}^{{tree}}")
        # A replay leaves the merge out.
        assert len(found.members[0].made) == (2 if strategy is Strategy.REBASE else 1)


def test_a_squash_of_nothing_but_merges_has_the_trailers(repo: Path, view: View) -> None:
    side = branch(repo, "side", "main", ("side", "x\n"))
    git(repo, "checkout", "--quiet", "-b", "work")
    git(repo, "merge", "--quiet", "--no-ff", "--no-commit", "side")
    commit_file(repo, "more", "x\n")
    work = CandidateChange("AF-2", git(repo, "rev-parse", "HEAD"), side.fork, title="Do AF-2")
    git(repo, "checkout", "--quiet", "main")
    git(repo, "merge", "--quiet", "--ff-only", "side")
    found = made(view, git(repo, "rev-parse", "main"), [work], Strategy.SQUASH)
    assert "Task: AF-2\nRefinery-Run: R1" in show(repo, found.commit, "%(trailers)")


def test_authors_dates_and_trailers(repo: Path, view: View) -> None:
    git(repo, "checkout", "--quiet", "-b", "AF-1")
    fork = git(repo, "rev-parse", "HEAD")
    for number, who in enumerate(("Bo", "Cy", "Bo")):
        (repo / "new").write_text("x\n" * (number + 1))
        git(repo, "add", "new")
        git(
            *(repo, "commit", "--quiet", "--author", f"{who} <{who}@Example.org>"),
            *("--date", f"2024-01-0{number + 1}T10:00:00+0200"),
            *("-m", f"step {number}", "-m", "Fixes: #7\nCo-authored-by: Di <di@example.org>"),
        )
    change = CandidateChange("AF-1", git(repo, "rev-parse", "HEAD"), fork, "A title")
    tip = commit_file(repo, "other", "1\n") and git(repo, "rev-parse", "main")
    squash = made(view, tip, [change], Strategy.SQUASH)
    assert show(repo, squash.commit, "%an <%ae> %aI") == (
        "Bo <Bo@Example.org> 2024-01-03T10:00:00+02:00"
    )
    assert show(repo, squash.commit, "%cn %ct") == "Refinery 1700000000"
    assert show(repo, squash.commit, "%(trailers:only,unfold)").splitlines() == [
        "Fixes: #7",
        "Co-authored-by: Di <di@example.org>",
        "Co-authored-by: Cy <Cy@Example.org>",
        "Task: AF-1",
        "Refinery-Run: R1",
        "Refinery-Tested: tip",
    ]
    assert show(repo, squash.commit, "%s") == "A title"
    assert [show(repo, squash.commit, "%b").count(f"* step {n}") for n in range(3)] == [1, 1, 1]
    rebased = made(view, tip, [change], Strategy.REBASE).members[0].made
    assert [show(repo, one, "%an %ad %s") for one in rebased] == [
        show(repo, f"{change.commit}~{n}", "%an %ad %s") for n in (2, 1, 0)
    ]
    key = "%(trailers:key=Refinery-Tested,valueonly)"
    assert [show(repo, one, key) for one in rebased] == ["batch", "batch", "tip"]
    merged = made(view, tip, [change], Strategy.MERGE)
    assert show(repo, merged.commit, "%an %P") == f"Refinery {tip} {change.commit}"


@pytest.mark.parametrize("unfinished", [False, True])
def test_a_commit_that_corral_made_is_squashed_without_repeating_itself(
    repo: Path, view: View, unfinished: bool
) -> None:
    fork = git(repo, "rev-parse", "HEAD")
    git(repo, "checkout", "--quiet", "-b", "AF-1")
    behalf = ("-m", "On behalf of the session.", "-m", "Task: AF-1\nSession: AF-1.1")
    for subject in (*["Unfinished: A title"][: int(unfinished)], "A title"):
        git(repo, "commit", "--quiet", "--allow-empty", "-m", subject, *behalf)
    (repo / "new").write_text("1\n")
    git(repo, "add", "new")
    git(repo, "commit", "--quiet", "--amend", "--no-edit")
    change = CandidateChange("AF-1", git(repo, "rev-parse", "HEAD"), fork, "A title")
    squash = made(view, fork, [change], Strategy.SQUASH)
    before = "* Unfinished: A title\n\nOn behalf of the session.\n\n" * unfinished
    assert show(repo, squash.commit, "%B").strip() == (
        f"A title\n\n{before}On behalf of the session.\n\n"
        "Task: AF-1\nSession: AF-1.1\nRefinery-Run: R1\nRefinery-Tested: tip"
    )


@pytest.mark.parametrize(
    "message",
    [
        b"one line\n",
        b"subject\n\nbody\n",
        b"subject\n\nbody\n\nFixes: #1\nSigned-off-by: A <a@b>\n",
        b"subject\n\nSee: this\nand not that\n",
        b"subject\n\nsome words\nand more\nSigned-off-by: A <a@b>\n",
        b"Task: looks like one\n",
        b"subject\n\nFixes: #1\n  continued\n",
        b"subject\n\nTask: AF-1\n",
        b"subject\n\nbody\n\nTask: AF-1\nSession: AF-1.1\n",
        b"subject\n\nbody\n\n(cherry picked from commit 1234)\n",
        b"s\n\nURL: http://x\n\nlast words.\n",
    ],
)
def test_trailers_stand_where_git_puts_them(repo: Path, message: bytes) -> None:
    ours = with_trailers(message, [("Task", "AF-1"), ("Refinery-Run", "R1")])
    added = ("--trailer", "Task: AF-1", "--trailer", "Refinery-Run: R1")
    done = subprocess.run(
        ["git", "interpret-trailers", "--if-exists", "addIfDifferent", *added],
        input=message,
        cwd=repo,
        capture_output=True,
        check=True,
    )
    assert ours == done.stdout


def test_another_encoding_becomes_utf8_as_in_a_rebase(repo: Path, view: View) -> None:
    git(repo, "checkout", "--quiet", "-b", "AF-1")
    fork = git(repo, "rev-parse", "HEAD")
    (repo / "new").write_text("1\n")
    git(repo, "add", "new")
    text = repo / ".git" / "message"
    text.write_bytes("Größe\n".encode("latin-1"))
    git(repo, "-c", "i18n.commitEncoding=latin-1", "commit", "--quiet", "-F", str(text))
    change = CandidateChange("AF-1", git(repo, "rev-parse", "HEAD"), fork)
    git(repo, "checkout", "--quiet", "main")
    tip = commit_file(repo, "other", "1\n")
    found = made(view, tip, [change], Strategy.REBASE)
    raw = git(repo, "cat-file", "commit", found.commit)
    assert "Größe" in raw
    assert "encoding" not in raw


def test_empty_commits_stay_and_those_that_become_empty_go(repo: Path, view: View) -> None:
    git(repo, "checkout", "--quiet", "-b", "AF-1")
    fork = git(repo, "rev-parse", "HEAD")
    git(repo, "commit", "--quiet", "--allow-empty", "-m", "nothing")
    commit_file(repo, "same", "1\n")
    same = CandidateChange("AF-1", git(repo, "rev-parse", "HEAD"), fork)
    git(repo, "checkout", "--quiet", "main")
    tip = commit_file(repo, "same", "1\n")
    assert len(made(view, tip, [same], Strategy.REBASE).members[0].made) == 1
    assert made(view, tip, [same], Strategy.SQUASH).commit == tip
    inside = CandidateChange("AF-2", fork, fork)
    assert made(view, tip, [inside], Strategy.MERGE).members[0].made == ()


class Counting(Merger):
    """Counts the merges."""

    count = 0

    def merge_tree(self, tree: str, theirs: str, base: str | None) -> Merged:
        self.count += 1
        return super().merge_tree(tree, theirs, base)

    def join(self, sides: Sides) -> Merged:
        self.count += 1
        return super().join(sides)


def test_made_again_it_is_the_same_and_a_longer_stack_costs_what_is_new(
    repo: Path, view: View
) -> None:
    changes = [
        branch(repo, f"AF-{n}", "main", (f"f{n}", "1\n"), (f"g{n}", "2\n")) for n in (1, 2, 3)
    ]
    tip = commit_file(repo, "other", "1\n")
    for strategy in Strategy:
        first = made(view, tip, changes, strategy)
        assert made(view, tip, changes, strategy) == first
        with Counting(view) as merger:
            candidates = Candidates(merger)
            candidates.make(tip, changes[:2], strategy, STAMP)
            merger.count = 0
            again = Stamp("R2", Identity("Refinery", "refinery@example.org"), 1_700_000_100)
            longer = candidates.make(tip, changes, strategy, again)
            assert isinstance(longer, Candidate)
            assert longer.tree == first.tree
            assert longer.commit != first.commit
            assert merger.count == (2 if strategy is Strategy.REBASE else 1)
            entries = {change.task: change.commit for change in changes}
            assert not assert_landing(merger, tip, longer, entries)


def test_what_was_collected_is_made_again(repo: Path, view: View) -> None:
    changes = [branch(repo, f"AF-{n}", "main", (f"d/f{n}", "1\n"), ("g", "1\n")) for n in (1, 2)]
    tip = commit_file(repo, "d/other", "1\n")
    for strategy in Strategy:
        with Merger(view) as merger:
            candidates = Candidates(merger)
            first = candidates.make(tip, changes, strategy, STAMP)
            git(repo, "gc", "--quiet", "--prune=now")
            assert isinstance(first, Candidate)
            assert view.commits(first.commit) == [None]
            assert candidates.make(tip, changes, strategy, STAMP) == first
        git(repo, "branch", "--quiet", f"made-{strategy}", first.commit)
    git(repo, "fsck", "--connectivity-only")


def test_each_by_itself_is_the_same_as_one_after_the_other(repo: Path, view: View) -> None:
    changes = [branch(repo, f"AF-{n}", "main", (f"f{n % 4}", f"{n}\n")) for n in range(6)]
    changes.append(branch(repo, "AF-9", "AF-1", ("h", "1\n")))
    tip = commit_file(repo, "f2", "in the way\n")
    for strategy in Strategy:
        with Merger(view) as merger:
            each = Candidates(merger).make_each(tip, changes, strategy, STAMP)
        with Merger(view) as merger:
            single = [Candidates(merger).make(tip, [one], strategy, STAMP) for one in changes]
        trees = [one.tree if isinstance(one, Candidate) else one.merged.paths for one in each]
        assert trees == [
            one.tree if isinstance(one, Candidate) else one.merged.paths for one in single
        ]
        assert [type(one) for one in each].count(Conflict) == 1


def test_a_conflict_names_the_change_and_what_is_below(repo: Path, view: View) -> None:
    one = branch(repo, "AF-1", "main", ("part0/file0.txt", "one\n"))
    two = branch(repo, "AF-2", "main", ("ok", "1\n"), ("part0/file0.txt", "two\n"))
    tip = git(repo, "rev-parse", "main")
    for strategy in Strategy:
        with Merger(view) as merger:
            found = Candidates(merger).make(tip, [one, two], strategy, STAMP)
        assert isinstance(found, Conflict)
        assert (found.change, found.below) == (two, (one,))
        assert found.merged.paths == ("part0/file0.txt",)


def test_a_history_of_its_own_is_refused(repo: Path, view: View) -> None:
    tip = git(repo, "rev-parse", "main")
    git(repo, "checkout", "--quiet", "--orphan", "AF-1")
    orphan = commit_file(repo, "new", "1\n")
    for strategy in Strategy:
        with Merger(view) as merger, pytest.raises(Refused, match="no commit in common"):
            Candidates(merger).make(tip, [CandidateChange("AF-1", orphan, tip)], strategy, STAMP)


def test_a_shallow_clone_can_be_merged_in(repo: Path, tmp_path: Path) -> None:
    change = branch(repo, "AF-1", "main", ("new", "1\n"))
    tip = commit_file(repo, "other", "1\n")
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth=2", "--no-single-branch", f"file://{repo}", str(shallow))
    found = made(View(str(shallow / ".git")), tip, [change], Strategy.SQUASH)
    assert git(shallow, "ls-tree", "-r", "--name-only", found.tree, "new", "other") == "new\nother"


def test_only_the_refinery_says_what_was_tested(repo: Path, view: View) -> None:
    tip = git(repo, "rev-parse", "main")
    change = branch(repo, "AF-1", "main", ("one", "1\n"))
    git(repo, "checkout", "--quiet", "AF-1")
    picked = "Picked\n\nWhy.\n\nRefinery-Tested: tip\n\nTask: AF-9\nRefinery-Run: R9\n"
    git(repo, "commit", "--quiet", "--allow-empty", "-m", picked)
    git(repo, "commit", "--quiet", "--allow-empty", "--allow-empty-message", "-m", "")
    change = CandidateChange("AF-1", git(repo, "rev-parse", "HEAD"), change.fork, title="Do AF-1")
    git(repo, "checkout", "--quiet", "main")
    for strategy, lines in ((Strategy.SQUASH, 1), (Strategy.REBASE, 3)):
        found = made(view, tip, [change], strategy)
        said = git(repo, "log", "--format=%B", f"{tip}..{found.commit}")
        assert said.count("Refinery-Tested: tip") == 1, said  # the last one's own
        assert (said.count("Refinery-Run:"), "R9" in said) == (lines, False), said
        if strategy is Strategy.REBASE:
            assert show(repo, found.commit, "%s") == "(no message)"


def test_what_git_puts_beside_a_folder_is_told_by_its_own_name(repo: Path, view: View) -> None:
    file = branch(repo, "AF-1", "main", ("x", "a file\n"))
    folder = branch(repo, "AF-2", "main", ("x/y", "in a folder\n"))
    with Merger(view) as merger:
        merged = merger.join(Sides(file.commit, folder.commit))
    assert (merged.clean, merged.named) == (False, ("x",)), merged.paths
