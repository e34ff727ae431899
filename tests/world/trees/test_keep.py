"""What was kept comes back exactly; what cannot be kept is not removed."""

import os
import resource
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from corral.core.errors import CorralError, Refused
from corral.world.git.tree import Kind
from corral.world.keep import Kept
from corral.world.trees import Tree, Trees
from tests.world.trees.tree_repo import commit_file, everything, git, working_files


def staged_as(folder: str) -> str:
    return git(folder, "ls-files", "--stage", "-z")


def removed_and_restored(trees: Trees, tree: Tree) -> tuple[Kept, str]:
    kept = trees.remove(tree, "test")
    assert kept
    trees.sweep()
    assert not Path(tree.path).exists()
    git(Path(trees.place).parent / "project", "gc", "--quiet", "--prune=now")
    return kept, trees.keep.restore(kept, f"{trees.place}-back")


def test_nothing_to_keep_is_nothing(trees: Trees) -> None:
    tree = trees.make("s1", "convoy/x/1", "main")
    commit_file(tree.path, "done.txt", "the branch has it")
    (Path(tree.path) / "x.log").write_text("ignored")
    assert trees.remove(tree) is None
    assert trees.keep.list_kept() == []


def test_every_sort_of_file_comes_back(trees: Trees) -> None:
    tree = trees.make("s1", "convoy/x/1", "main")
    place = os.fsencode(tree.path)
    names = (
        b" spaces ",
        b"new\nline",
        b"caf\xe9",
        b'"quoted"',
        b"-dash",
        b"a\\b",
        b"t\tab",
        b"git~1",
    )
    for name in names:
        Path(os.fsdecode(os.path.join(place, name))).write_bytes(b"\0\r\n\xff" + name)
    (Path(tree.path) / "dangling").symlink_to("nowhere\nat all")
    (Path(tree.path) / "tool").write_text("#!/bin/sh\n")
    (Path(tree.path) / "tool").chmod(0o755)
    (Path(tree.path) / "run.sh").chmod(0o644)
    (Path(tree.path) / "link").unlink()
    (Path(tree.path) / "link").mkdir()
    (Path(tree.path) / "link" / "now a folder").touch()
    git(tree.path, "add", "--", "caf*", "tool")
    files, index, status = (
        working_files(tree.path),
        staged_as(tree.path),
        git(tree.path, "status", "--porcelain", "-z"),
    )
    kept, back = removed_and_restored(trees, tree)
    assert working_files(back) == files
    assert staged_as(back) == index
    assert git(back, "status", "--porcelain", "-z") == status
    shown = trees.keep.show(kept)
    assert set(shown.staged) == {"caf\udce9", "tool"}
    assert "new\nline" in shown.untracked
    assert "run.sh" in shown.unstaged


def test_conversions_do_not_change_bytes(repo: Path, trees: Trees) -> None:
    tree = trees.make("s1", "convoy/x/1", "main")
    place = Path(tree.path)
    (place / ".gitattributes").write_text(
        "*.crlf text eol=crlf\n*.auto text=auto\n*.id ident\n*.16 working-tree-encoding=UTF-16\n"
        "*.f filter=upper\n"
    )
    for name in ("a.crlf", "b.auto", "c.id", "e.f"):
        (place / name).write_bytes(b"one\r\ntwo\n$Id$\r\n")
    (place / "d.16").write_bytes("text\n".encode("utf-16"))
    git(repo, "config", "filter.upper.clean", "tr a-z A-Z")
    git(place, "add", "--all")
    git(place, "commit", "--quiet", "-m", "converted")
    for name in ("n.crlf", "n.auto", "n.id", "n.f"):
        (place / name).write_bytes(b"lf\ncrlf\r\n$Id: x$\n")
    (place / "n.16").write_bytes(b"not utf-16 at all")
    (place / "a.crlf").write_bytes(b"only\nlf\n")
    files = working_files(place)
    _, back = removed_and_restored(trees, tree)
    assert working_files(back) == files


def test_a_conflict_comes_back_unmerged(repo: Path, trees: Trees) -> None:
    tree = trees.make("s1", "convoy/x/1", "main~1")
    commit_file(tree.path, "part0/file0.txt", "mine\n")
    git(tree.path, "merge", "main", fine=(1,))
    (Path(tree.path) / "untracked").write_text("besides")
    files, index = working_files(tree.path), staged_as(tree.path)
    assert "\tpart0/file0.txt" in git(tree.path, "ls-files", "-u")
    kept, back = removed_and_restored(trees, tree)
    assert (working_files(back), staged_as(back)) == (files, index)
    assert trees.keep.show(kept).unmerged == ("part0/file0.txt",)


def test_a_stopped_rebase_keeps_what_it_had_begun_with(repo: Path, trees: Trees) -> None:
    tree = trees.make("s1", "convoy/x/1", "main~1", kind="worktree")
    commit_file(tree.path, "fine.txt", "fine")
    tip = commit_file(tree.path, "part0/file0.txt", "mine\n")
    git(tree.path, "rebase", "main", fine=(1,))
    git(repo, "update-ref", "-d", "refs/heads/convoy/x/1")
    kept = trees.remove(tree)
    assert kept
    assert tip in trees.keep.show(kept).commits


def test_an_unborn_branch_comes_back(trees: Trees) -> None:
    tree = trees.make("s1", "convoy/x/1", "main")
    git(tree.path, "checkout", "--quiet", "--orphan", "unborn")
    git(tree.path, "rm", "--quiet", "-r", "--cached", "part0")
    files, index = working_files(tree.path), staged_as(tree.path)
    _, back = removed_and_restored(trees, tree)
    assert (working_files(back), staged_as(back)) == (files, index)
    assert git(back, "symbolic-ref", "HEAD") == "refs/heads/unborn"


def test_hidden_changes_are_kept(trees: Trees) -> None:
    tree = trees.make("s1", "convoy/x/1", "main")
    git(tree.path, "update-index", "--assume-unchanged", "part0/file0.txt")
    git(tree.path, "update-index", "--skip-worktree", "part1/file1.txt")
    for name in ("part0/file0.txt", "part1/file1.txt"):
        (Path(tree.path) / name).write_text("hidden")
    git(tree.path, "config", "core.splitIndex", "true")
    git(tree.path, "update-index", "--split-index")
    files = working_files(tree.path)
    _, back = removed_and_restored(trees, tree)
    assert working_files(back) == files


def test_what_only_an_uncommitted_gitignore_hides_is_kept(trees: Trees) -> None:
    tree = trees.make("s1", "convoy/x/1", "main")
    place = Path(tree.path)
    with open(place / ".gitignore", "a") as rules:
        rules.write("drafts/\n*.md\n!*.log\n")
    (place / "part0" / ".gitignore").write_text("*\n")
    shown = {
        "drafts/a.txt": "a",
        "drafts/[b] \n.txt": "b",
        "plan.md": "plan",
        "part0/draft": "d",
        "part0/deep/draft": "e",
    }
    made_again = ("build/out.o", ".env", "cache/.gitignore", "cache/entry")
    for path, content in (*shown.items(), *((path, "*") for path in made_again)):
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_text(content)
    kept, back = removed_and_restored(trees, tree)
    for path, content in shown.items():
        assert (Path(back) / path).read_text() == content
    assert set(shown) < set(trees.keep.show(kept).untracked)
    assert not any((Path(back) / path).exists() for path in made_again)


def committed_inside(tree: Tree) -> None:
    inner = Path(tree.path) / "new" / "inner"
    inner.mkdir(parents=True)
    git(inner, "init", "--quiet")
    commit_file(inner, "a", "a")


def empty_inside(tree: Tree) -> None:
    git(tree.path, "init", "--quiet", "new/inner")


def in_a_tracked_folder(tree: Tree) -> None:
    git(Path(tree.path) / "part0", "init", "--quiet")


@pytest.mark.parametrize("nest", [committed_inside, empty_inside, in_a_tracked_folder])
@pytest.mark.parametrize("dirty", [True, False])
def test_a_nested_repository_is_kept(
    trees: Trees, nest: Callable[[Tree], None], dirty: bool
) -> None:
    tree = trees.make("s1", "convoy/x/1", "main")
    nest(tree)
    (Path(tree.path) / "new").mkdir(exist_ok=True)
    if dirty:
        (Path(tree.path) / "part1" / "file1.txt").write_text("changed")
        (Path(tree.path) / "part0" / "file0.txt").unlink()
        (Path(tree.path) / "new" / "draft").write_text("draft")
    files = {
        path: content
        for path, content in working_files(tree.path).items()
        if b".git" not in path.split(b"/")
    }
    kept = trees.release(tree)
    again = trees.make("s2", "convoy/x/2", "main")
    assert (again.path, git(again.path, "status", "--porcelain")) == (tree.path, "")
    assert not [path for path in Path(again.path).rglob(".git") if path.parent != Path(again.path)]
    if kept is None:
        assert nest is empty_inside
        assert not dirty
        return
    back = trees.keep.restore(kept, f"{trees.place}-back")
    bundle = Path(back) / "new" / "inner" / "corral-commits.bundle"
    if nest is committed_inside:
        clone = f"{trees.place}-clone"
        git(trees.place, "clone", "--quiet", "--mirror", str(bundle), clone)
        assert git(clone, "show", "refs/kept/1:a") == "a"
        bundle.unlink()
    assert working_files(back) == files


@contextmanager
def full_disk(repo: Path) -> Iterator[None]:
    """Let no file grow beyond some size, as a full disk would."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@contextmanager
def refs_blocked(repo: Path) -> Iterator[None]:
    git(repo, "update-ref", "refs/corral/keep/s1", "main")
    yield


@pytest.mark.parametrize("trouble", [full_disk, refs_blocked])
def test_what_cannot_be_pinned_is_not_removed(
    repo: Path, trees: Trees, trouble: Callable[[Path], AbstractContextManager[None]]
) -> None:
    tree = trees.make("s1", "convoy/x/1", "main")
    (Path(tree.path) / "large").write_bytes(os.urandom(300_000))
    before = everything(tree.path)
    for door in (trees.remove, trees.release):
        with trouble(repo), pytest.raises(CorralError):
            door(tree)
    assert everything(tree.path) == before
    assert trees.list() == [tree]
    assert "large" in git(tree.path, "status", "--porcelain")


def test_kept_work_is_listed(repo: Path, trees: Trees) -> None:
    for number in (1, 2):
        tree = trees.make("s1", f"convoy/x/{number}", "main")
        (Path(tree.path) / "work").write_text(f"{number}")
        trees.remove(tree, f"because {number}")
    first, second = trees.keep.list_kept()
    assert [kept.ref[-4:] for kept in (first, second)] == ["s1/1", "s1/2"]
    assert (first.record.reason, first.record.task) == ("because 1", "1")
    assert trees.keep.list_kept("other") == []
    with pytest.raises(Refused):
        trees.keep.restore(first, str(repo))


def test_kept_work_survives_concurrent_garbage_collection(repo: Path, trees: Trees) -> None:
    made = [trees.make(f"s{n}", f"convoy/x/{n}", "main") for n in range(4)]
    over = threading.Event()

    def collect() -> int:
        times = 0
        while not over.wait(0.2):
            git(repo, "gc", "--quiet", "--prune=now", fine=(0, 128))
            times += 1
        return times

    with ThreadPoolExecutor(1) as pool:
        collected = pool.submit(collect)
        kept = []
        try:
            for number in range(8):
                tree = made[number % 4]
                (Path(tree.path) / f"draft{number}.txt").write_text(f"draft {number}\n" * 50)
                pinned = trees.keep.pin(tree, "a test")
                assert pinned is not None
                kept.append((pinned.ref, number))
        finally:
            over.set()
        assert collected.result() > 0
    for ref, number in kept:
        assert git(repo, "show", f"{ref}:draft{number}.txt").startswith(f"draft {number}\n")
    git(repo, "rev-list", "--all", "--objects", "--quiet")


@pytest.mark.parametrize("kind", ["clone", "worktree"])
@pytest.mark.parametrize("broken", ["", "1" * 40 + "\n", "no commit\n"])
def test_a_broken_ref_keeps_no_tree_from_being_released(
    repo: Path, trees: Trees, kind: Kind, broken: str
) -> None:
    tree = trees.make("s1", "convoy/x/1", "main", kind=kind)
    amended = commit_file(tree.path, "done.txt", "done")
    git(tree.path, "commit", "--quiet", "--amend", "-m", "amended")
    (Path(tree.path) / "draft").write_text("draft")
    (repo / ".git" / "refs" / "heads" / "broken").write_text(broken)
    kept = trees.release(tree)
    assert kept
    assert amended in kept.record.others
    assert trees.keep.show(kept).untracked == ("draft",)
    assert not git(trees.make("s2", "convoy/x/2", "main", kind=kind).path, "status", "--porcelain")
