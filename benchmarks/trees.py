"""Working trees of 5,000 files: from the pool, against a fresh `git worktree add`; 32 at once.

Each round commits to the base first, so that a pooled tree has some files to write. Both kinds are
measured in the same run: what a session gets by default, and the worktree that shares everything.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

from benchmarks.report import Figure, Target, compared, interleaved
from corral.world.checks import Pool
from corral.world.git.tree import Kind
from corral.world.repository import find
from corral.world.trees import Tree, Trees

_CHANGED = 20
_KINDS: tuple[Kind, ...] = ("clone", "worktree")
_PEER = "git worktree add"
_ROUNDS_OF_MANY = 3


def run(folder: Path, *, quick: bool) -> list[Figure]:
    files, rounds, many = (300, 2, 8) if quick else (5000, 9, 32)
    repo = _repository(folder / "plain", files)
    repos = {kind: folder / kind for kind in _KINDS}
    for copy in repos.values():
        shutil.copytree(repo, copy)
    doors = {kind: Trees(find(str(repos[kind])), pool=1) for kind in _KINDS}
    for kind, trees in doors.items():
        trees.release(trees.make("first", "convoy/bench/first", "main", kind=kind))
    _change(repo, 0)
    checks = Pool(find(str(repo)))
    checks.checkout(1, "main")
    numbers = count()
    found = interleaved(
        {
            **{kind: _pooled(doors[kind], kind, repos[kind], numbers) for kind in _KINDS},
            "removed": lambda: _removed(doors["clone"], next(numbers)),
            "checked out": lambda: _checked_out(checks, next(numbers)),
            _PEER: lambda: _plain(repo, folder, [next(numbers)]),
        },
        rounds,
    )
    for trees in doors.values():
        trees.drain()
    what = f"a tree of {files:,} files"
    goal = None if quick else Target("ratio", "<=", 0.35)
    half = None if quick else Target("ratio", "<=", 0.5)
    checked = f"{what} for a check, which another commit was in"
    return [
        compared(found, "clone", _PEER, what=f"{what}, from the pool", unit="ms", target=goal),
        compared(found, "worktree", _PEER, what="the same as a worktree", unit="ms"),
        compared(found, "removed", _PEER, what=f"{what}, pinned and removed", unit="ms"),
        compared(found, "checked out", _PEER, what=checked, unit="ms", target=half),
        *_together(repos, repo, many, numbers, goal),
    ]


def _pooled(trees: Trees, kind: Kind, repo: Path, numbers: "count[int]") -> Callable[[], float]:
    def measure() -> float:
        number = next(numbers)
        _change(repo, number)
        start = time.monotonic()
        tree = trees.make(f"p{number}", f"convoy/bench/p{number}", "main", kind=kind)
        took = time.monotonic() - start
        _work(tree)
        trees.release(tree)
        return took * 1000

    return measure


def _change(repo: Path, number: int) -> None:
    for part in range(_CHANGED):
        (repo / f"part{part}" / "0.txt").write_text(f"changed in round {number}\n" * 20)
    _git(repo, "commit", "--quiet", "--all", "-m", f"round {number}")


def _work(tree: Tree) -> None:
    Path(tree.path, "part0", "1.txt").write_text("the session's work\n")
    _git(Path(tree.path), "commit", "--quiet", "--all", "-m", "work")
    Path(tree.path, "untracked").write_text("more of it\n")


def _removed(trees: Trees, number: int) -> float:
    parked = trees.make(f"q{number}", f"convoy/bench/q{number}", "main")
    tree = trees.make(f"r{number}", f"convoy/bench/r{number}", "main")
    Path(tree.path, "untracked").write_text("work\n")
    start = time.monotonic()
    trees.remove(tree)
    took = time.monotonic() - start
    trees.release(parked)
    trees.sweep()
    return took * 1000


def _checked_out(checks: Pool, number: int) -> float:
    start = time.monotonic()
    checks.checkout(1, ("main~1", "main")[number % 2])
    return (time.monotonic() - start) * 1000


def _plain(repo: Path, folder: Path, numbers: list[int]) -> float:
    """Make fresh worktrees at once; return the average time for each."""
    paths = [folder / f"plain{number}" for number in numbers]
    start = time.monotonic()
    with ThreadPoolExecutor(len(paths)) as threads:
        list(threads.map(lambda path: _add(repo, path), paths))
    took = time.monotonic() - start
    for path in paths:
        shutil.rmtree(path)
    _git(repo, "worktree", "prune")
    return took * 1000 / len(paths)


def _add(repo: Path, path: Path) -> None:
    while True:
        try:
            _git(repo, "worktree", "add", "--quiet", "-b", path.name, str(path), "main")
            return
        except subprocess.CalledProcessError:  # git's own race for a lock
            shutil.rmtree(path, ignore_errors=True)
            _git(repo, "worktree", "prune")
            subprocess.run(["git", "branch", "-q", "-D", path.name], cwd=repo, check=False)


def _together(
    repos: dict[Kind, Path], plain: Path, many: int, numbers: "count[int]", goal: Target | None
) -> list[Figure]:
    """Make many at once, each kind from its pool; measure their disk space while they are used."""
    disk: dict[str, list[float]] = {kind: [] for kind in _KINDS}

    def measured(kind: Kind) -> Callable[[], float]:
        repo = repos[kind]
        trees = Trees(find(str(repo)), pool=many)
        place = Path(trees.place)
        before = _used(repo / ".git")

        def make(number: int) -> Tree:
            return trees.make(f"t{number}", f"convoy/many/t{number}", "main", kind=kind)

        def measure() -> float:
            names = [next(numbers) for _ in range(many)]
            _change(repo, names[0])
            start = time.monotonic()
            with ThreadPoolExecutor(many) as threads:
                made = list(threads.map(make, names))
            took = time.monotonic() - start
            for tree in made:
                _work(tree)
            disk[kind].append((_used(repo / ".git") - before + _used(place)) / many / 1024)
            for tree in made:
                trees.release(tree)
            return took * 1000 / many

        return measure

    sides: dict[str, Callable[[], float]] = {kind: measured(kind) for kind in _KINDS}
    sides[_PEER] = lambda: _plain(plain, plain.parent, [next(numbers) for _ in range(many)])
    found = interleaved(sides, _ROUNDS_OF_MANY)
    return [
        compared(found, "clone", _PEER, what=f"{many} at once, each", unit="ms", target=goal),
        compared(found, "worktree", _PEER, what="the same as worktrees", unit="ms"),
        compared(disk, "clone", "worktree", what="disk for each of them, in use", unit="KB"),
    ]


def _used(folder: Path) -> int:
    """Return the bytes that a folder takes on disk."""
    return sum(
        os.lstat(os.path.join(inside, name)).st_blocks * 512
        for inside, _, names in os.walk(folder)
        for name in names
    )


def _repository(folder: Path, files: int) -> Path:
    folder.mkdir()
    _git(folder, "init", "--quiet", "--initial-branch=main")
    for number in range(files):
        path = folder / f"part{number % 50}" / f"{number // 50}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"line of file {number}\n" * 60)
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", "-m", "first")
    return folder


def _git(folder: Path, *args: str) -> None:
    person = ("-c", "user.name=Bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0")
    subprocess.run(["git", *person, *args], cwd=folder, check=True, capture_output=True)
