"""Attributes count as in a checkout of our side; programs that the repository names do not run."""

import subprocess
from pathlib import Path

import pytest

from corral.world.git.candidates import Candidate, Strategy
from corral.world.git.generated import matching
from corral.world.git.merge import Merged, Merger, Sides
from corral.world.git.view import View
from tests.world.git.test_candidates import branch, made
from tests.world.trees.tree_repo import commit_file, git, repository


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository(tmp_path / "project")


def merged(repo: Path, ours: str, theirs: str, *union: str) -> Merged:
    with Merger(View(str(repo / ".git")), union=union) as merger:
        return merger.join(Sides(git(repo, "rev-parse", ours), git(repo, "rev-parse", theirs)))


def test_a_driver_of_the_repository_does_not_run(repo: Path, tmp_path: Path) -> None:
    commit_file(repo, ".gitattributes", "*.txt merge=evil\nlist merge=evil\n")
    commit_file(repo, "list", "a\n")
    branch(repo, "AF-1", "main", ("part0/file0.txt", "theirs\n"), ("list", "a\ntheirs\n"))
    commit_file(repo, "part0/file0.txt", "ours\n")
    git(repo, "config", "merge.evil.driver", f"touch {tmp_path}/ran; cp %B %A")
    assert merged(repo, "main", "AF-1").paths == ("part0/file0.txt",)
    assert not (tmp_path / "ran").exists()
    git(repo, "merge", "AF-1")  # as the user, it would have
    assert (tmp_path / "ran").exists()


def test_what_no_commit_says_does_not_count(repo: Path) -> None:
    branch(repo, "AF-1", "main", ("part0/file0.txt", "theirs\n"))
    commit_file(repo, "part0/file0.txt", "ours\n")
    for place in (".git/info/attributes", ".gitattributes", ".git/.gitattributes"):
        (repo / place).parent.mkdir(exist_ok=True)
        (repo / place).write_text("*.txt merge=union\n")
    assert not merged(repo, "main", "AF-1").clean


def test_the_attributes_are_those_of_our_side(repo: Path) -> None:
    branch(repo, "AF-1", "main", ("part0/file0.txt", "theirs\n"))
    commit_file(repo, "part0/file0.txt", "ours\n")
    git(repo, "branch", "before")
    commit_file(repo, "part0/.gitattributes", "*.txt merge=union\n")
    found = merged(repo, "main", "AF-1")
    assert found.clean
    assert git(repo, "show", f"{found.tree}:part0/file0.txt") == "ours\ntheirs"
    assert not merged(repo, "before", "AF-1").clean
    assert not merged(repo, "AF-1", "main").clean


def test_attributes_that_a_change_lands_count_for_the_next_one(repo: Path) -> None:
    rule = branch(repo, "AF-1", "main", (".gitattributes", "part0/* merge=union\n"))
    one = branch(repo, "AF-2", "main", ("part0/file0.txt", "one\n"))
    two = branch(repo, "AF-3", "main", ("part0/file0.txt", "two\n"))
    tip = git(repo, "rev-parse", "main")
    for strategy in Strategy:
        found = made(View(str(repo / ".git")), tip, [rule, one, two], strategy)
        assert isinstance(found, Candidate)
        assert git(repo, "show", f"{found.tree}:part0/file0.txt") == "one\ntwo"


def test_declared_paths_keep_both_sides(repo: Path) -> None:
    commit_file(repo, "docs/CHANGES.md", "top\n")
    commit_file(repo, ".gitattributes", "kept/* -merge\n")
    commit_file(repo, "kept/CHANGES.md", "top\n")
    branch(
        *(repo, "AF-1", "main"),
        *(("docs/CHANGES.md", "top\ntheirs\n"), ("kept/CHANGES.md", "top\ntheirs\n")),
    )
    commit_file(repo, "docs/CHANGES.md", "top\nours\n")
    commit_file(repo, "kept/CHANGES.md", "top\nours\n")
    assert merged(repo, "main", "AF-1").paths == ("docs/CHANGES.md", "kept/CHANGES.md")
    found = merged(repo, "main", "AF-1", "CHANGES.md")
    assert git(repo, "show", f"{found.tree}:docs/CHANGES.md") == "top\nours\ntheirs"
    assert found.paths == ("kept/CHANGES.md",)  # the repository's own word counts more


def test_patterns_mean_what_they_mean_in_gitattributes(repo: Path) -> None:
    view = View(str(repo / ".git"))
    paths = ("a.lock", "deep/b.lock", "docs/x/y", "docs", "with space", "other")
    found = matching(view, ("*.lock", "docs/**", "with space"), paths)
    assert found == ("a.lock", "deep/b.lock", "docs/x/y", "with space")
    assert matching(view, (), paths) == ()


def test_a_tree_made_by_hand_cannot_write_elsewhere(repo: Path) -> None:
    """A session can make a tree with a folder named `..`, or a link where attributes are read."""
    blob = git(repo, "hash-object", "-w", "part0/file0.txt")

    def tree(lines: str) -> str:
        done = subprocess.run(
            ["git", "hash-object", "-t", "tree", "-w", "--literally", "--stdin"],
            input=b"".join(
                f"{mode} {name}".encode() + b"\0" + bytes.fromhex(oid)
                for mode, name, oid in (line.split() for line in lines.splitlines())
            ),
            cwd=repo,
            capture_output=True,
            check=True,
        )
        return done.stdout.decode().strip()

    inner = tree(f"100644 .gitattributes {blob}")
    bad = tree(f"40000 .. {inner}\n120000 .gitattributes {blob}\n40000 .git {inner}")
    parent = git(repo, "rev-parse", "main")
    commit = git(repo, "commit-tree", bad, "-p", parent, "-m", "bad")
    with Merger(View(str(repo / ".git"))) as merger:
        merger.join(Sides(commit, parent))
    home = repo / ".git" / "corral" / "attributes"
    assert [path for path in home.rglob("*") if path.is_file() or path.is_symlink()] == []
    assert not (home / ".gitattributes").exists()
