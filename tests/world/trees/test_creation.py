"""Trees are created concurrently, never twice, reused without a trace, out of the user's way."""

import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from corral.core.errors import BadInput, NotFound, Refused
from corral.world.repository import find
from corral.world.trees import Tree, Trees
from tests.world.trees.tree_repo import commit_file, everything, git, opened, working_files

_MAKER = """
import sys
from corral.world.repository import find
from corral.world.trees import Trees
sys.stdin.readline()
tree = Trees(find(sys.argv[1])).make(sys.argv[2], f"convoy/x/{sys.argv[2]}", "main")
print(tree.path)
"""


def test_32_processes_make_32_trees_from_cold(repo: Path) -> None:
    makers = [
        subprocess.Popen(
            [sys.executable, "-c", _MAKER, str(repo), f"s{number}"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(32)
    ]
    for maker in makers:  # all have started before the first may begin
        assert maker.stdin
        maker.stdin.write("go\n")
        maker.stdin.flush()
    said = [maker.communicate() for maker in makers]
    assert [maker.returncode for maker in makers] == [0] * 32, said
    paths = [out.strip() for out, _ in said]
    assert len(set(paths)) == 32
    wanted = working_files(repo)
    for number, path in enumerate(paths):
        assert working_files(path) == wanted
        assert git(path, "branch", "--show-current") == f"convoy/x/s{number}"
        assert not git(path, "status", "--porcelain")
    assert len(opened(repo).list()) == 32


def test_a_concurrent_reader_of_all_refs_finds_only_commits(repo: Path, trees: Trees) -> None:
    with ThreadPoolExecutor(1) as pool:
        made = pool.submit(
            lambda: [trees.make(f"s{n}", f"convoy/x/{n}", "main") for n in range(40)]
        )
        while not made.done():  # as `git gc` does before it packs
            git(repo, "rev-list", "--all", "--reflog", "--indexed-objects", "--objects", "-n1")
        assert len(made.result()) == 40


def test_32_threads_make_and_release_at_once(trees: Trees) -> None:
    def cycle(number: int) -> Tree:
        tree = trees.make(f"s{number}", f"convoy/x/{number}", "main")
        trees.release(tree)
        return trees.make(f"t{number}", f"convoy/y/{number}", "main")

    with ThreadPoolExecutor(16) as threads:
        made = list(threads.map(cycle, range(32)))
    assert len({tree.path for tree in made}) == 32
    assert sorted(tree.name for tree in trees.list()) == sorted(tree.name for tree in made)


def test_trees_are_beside_the_checkout(repo: Path, trees: Trees) -> None:
    tree = trees.make("s1", "convoy/x/1", "main")
    assert Path(tree.path).parent == repo.parent / ".project-corral"
    for wrong in (repo / "trees", repo, repo.parent):
        with pytest.raises(BadInput):
            Trees(find(str(repo)), place=str(wrong))
    elsewhere = Trees(find(str(repo)), place=str(repo.parent / "else"))
    assert elsewhere.make("s2", "convoy/x/2", "main").path.startswith(str(repo.parent / "else"))


def test_a_pooled_tree_has_nothing_of_the_former_session(repo: Path, trees: Trees) -> None:
    first = trees.make("s1", "convoy/x/1", "main")
    place = Path(first.path)
    commit_file(place, "part0/mine.txt", "mine")
    (place / "part1" / "file1.txt").write_text("changed")
    (place / "part2" / "file2.txt").unlink()
    (place / "run.sh").chmod(0o644)
    (place / "build").mkdir()
    (place / "build" / "secret").write_text("ignored")
    (place / "x.log").write_text("ignored")
    (place / "new").mkdir()
    (place / "new" / "deep").write_text("untracked")
    git(place, "update-index", "--skip-worktree", "part0/file3.txt")
    (place / "part0" / "file3.txt").write_text("hidden by a flag")
    git(place, "config", "--worktree", "user.name", "Mallory", fine=(0, 128))
    git(place, "update-ref", "refs/worktree/mine", "HEAD")
    assert trees.release(first)
    second = trees.make("s2", "convoy/x/2", "main")
    assert second.path == first.path
    assert working_files(place) == working_files(repo)
    assert not git(place, "status", "--porcelain", "--ignored")
    assert git(place, "branch", "--show-current") == "convoy/x/2"
    assert git(place, "reflog") == ""
    assert git(place, "for-each-ref", "refs/worktree") == ""
    assert git(place, "ls-files", "-v").count("\nS ") == 0


def test_a_changed_file_cannot_be_passed_on_by_a_forged_index(trees: Trees) -> None:
    """Git believes the index about files whose times and size fit."""
    first = trees.make("s1", "convoy/x/1", "main")
    victim = Path(first.path) / "run.sh"
    blob = git(first.path, "rev-parse", "HEAD:run.sh")
    victim.write_text("#!/bin/SH\n")
    os.utime(victim, (1_000_000_000, 1_000_000_000))
    git(first.path, "add", "run.sh")
    path = Path(first.git_dir) / "index"
    evil = bytes.fromhex(git(first.path, "rev-parse", ":run.sh"))
    forged = path.read_bytes()[:-20].replace(evil, bytes.fromhex(blob))
    path.write_bytes(forged + hashlib.sha1(forged).digest())
    assert not git(first.path, "status", "--porcelain")  # it works
    trees.release(first)
    second = trees.make("s2", "convoy/x/2", "main")
    assert (Path(second.path) / "run.sh").read_text() == "#!/bin/sh\n"


def test_ignored_paths_can_be_kept_in_the_pool(repo: Path) -> None:
    trees = opened(repo, keep_ignored=("build",))
    tree = trees.make("s1", "convoy/x/1", "main")
    (Path(tree.path) / "build").mkdir()
    (Path(tree.path) / "build" / "cache").write_text("warm")
    (Path(tree.path) / "x.log").write_text("gone")
    trees.release(tree)
    again = Path(trees.make("s2", "convoy/x/2", "main").path)
    assert (again / "build" / "cache").read_text() == "warm"
    assert not (again / "x.log").exists()


def test_the_pool_has_a_limit(repo: Path) -> None:
    trees = opened(repo, pool=1)
    made = [trees.make(f"s{n}", f"convoy/x/{n}", "main") for n in range(3)]
    for tree in made:
        trees.release(tree)
    assert [Path(tree.path).exists() for tree in made] == [True, False, False]
    assert trees.drain() == 1
    trees.sweep()
    assert os.listdir(trees.place) == []
    assert git(repo, "worktree", "list").count("\n") == 0


def test_a_branch_is_continued_or_started_afresh(repo: Path, trees: Trees) -> None:
    tree = trees.make("s1", "convoy/x/1", "main")
    done = commit_file(tree.path, "done.txt", "done")
    trees.release(tree)
    main = git(repo, "rev-parse", "main")
    again = trees.make("s2", "convoy/x/1", "main")
    assert (git(again.path, "rev-parse", "HEAD"), again.base) == (done, main)
    assert (Path(again.path) / "done.txt").exists()
    trees.release(again)
    fresh = trees.make("s3", "convoy/x/1", "main", fresh=True)
    assert git(fresh.path, "rev-parse", "HEAD") == main
    assert not (Path(fresh.path) / "done.txt").exists()
    [kept] = trees.keep.list_kept()
    assert (kept.record.head, kept.session) == (done, "s3")


def test_what_is_taken_is_refused_and_left_alone(repo: Path, trees: Trees) -> None:
    trees.make("s1", "convoy/x/1", "main")
    git(repo, "checkout", "--quiet", "-b", "convoy/x/mine")
    before = everything(repo, leaving_out=(b".git",))
    for name, branch in (("s1", "convoy/x/2"), ("s2", "convoy/x/1"), ("s2", "convoy/x/mine")):
        with pytest.raises(Refused):
            trees.make(name, branch, "main", fresh=True)
    with pytest.raises(NotFound):
        trees.make("s2", "convoy/x/2", "nothing")
    for name in ("", "a/b", "..", "-x", "a\nb", "x.lock"):
        with pytest.raises(BadInput):
            trees.make(name, "convoy/x/2", "main")
    assert len(trees.list()) == 1
    assert everything(repo, leaving_out=(b".git",)) == before


def test_a_maker_that_died_leaves_nothing_in_the_way(repo: Path, trees: Trees) -> None:
    tree = trees.make("s1", "convoy/x/1", "main")
    record = repo / ".git" / "corral" / "trees" / "tree-1" / "slot.json"
    slot = json.loads(record.read_text())
    record.write_text(json.dumps(slot | {"state": "making"}))  # as the maker would leave it
    (repo.parent / ".project-corral" / "tree-2").mkdir()
    assert trees.list() == []
    again = opened(repo).make("s1", "convoy/x/1", "main")
    assert again.path == tree.path
    assert working_files(again.path) == working_files(repo)
    assert trees.list() == [again]


def test_adopting_puts_right_what_git_needs(repo: Path, trees: Trees) -> None:
    tree = trees.make("s1", "convoy/x/1", "main")
    (Path(tree.path) / ".git").unlink()
    subprocess.run(["rm", "-rf", tree.git_dir], check=True)
    (Path(tree.path) / "new").write_text("new")
    adopted = opened(repo).adopt("s1")
    assert adopted == tree
    assert git(tree.path, "branch", "--show-current") == "convoy/x/1"
    with pytest.raises(NotFound):
        trees.adopt("s2")
    assert trees.facts(tree).exists
    kept = trees.remove(tree)
    assert kept
    assert "new" in trees.keep.show(kept).untracked


def test_declared_files_are_copied(repo: Path, trees: Trees) -> None:
    (repo / ".env").write_text("KEY=1")
    (repo / "notes").mkdir()
    (repo / "notes" / "a").write_text("a")
    outside = repo.parent / "secret"
    outside.write_text("secret")
    (repo / "leak").symlink_to(outside)
    tree = trees.make("s1", "convoy/x/1", "main")
    assert trees.prepare(tree, [".env", "notes"]) == ("notes",)
    assert (Path(tree.path) / ".env").read_text() == "KEY=1"
    assert (Path(tree.path) / "notes" / "a").read_text() == "a"
    with pytest.raises(NotFound, match=r"absent, other/absent"):
        trees.prepare(tree, [".env", "absent", "other/absent"])
    for wrong in ("../secret", "/etc/passwd", ".git/config", "leak"):
        with pytest.raises((BadInput, Refused)):
            trees.prepare(tree, [wrong])
    victim = repo.parent / "victim"
    victim.mkdir()
    (Path(tree.path) / "notes" / "a").unlink()
    (Path(tree.path) / "notes").rmdir()
    (Path(tree.path) / "notes").symlink_to(victim)
    with pytest.raises(Refused):
        trees.prepare(tree, ["notes/a"])
    with pytest.raises(Refused):
        trees.prepare(tree, ["notes"])
    assert list(victim.iterdir()) == []


def test_a_tree_can_come_back_to_where_it_was(trees: Trees) -> None:
    """Engines find a conversation only in the folder where it was held."""
    first, second = (trees.make(f"s{n}", f"convoy/x/{n}", "main") for n in (1, 2))
    trees.release(first)
    trees.release(second)
    back = trees.make("s3", "convoy/x/2", "main", at=second.path)
    assert back.path == second.path
    other = trees.make("s4", "convoy/x/4", "main", at=second.path, leave=lambda: {first.path})
    assert other.path not in (first.path, second.path), "taken, and to be left for somebody"
    trees.remove(back)
    again = trees.make("s5", "convoy/x/2", "main", at=second.path, leave=lambda: {second.path})
    assert again.path == second.path
    assert trees.make("s6", "convoy/x/6", "main", at="/elsewhere/tree-9").path == first.path
