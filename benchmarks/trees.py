"""Working trees of 5,000 files: from the pool, against a fresh `git worktree add`; 32 at once.

Each round commits to the base first, so that a pooled tree has some files to write.
"""

import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

from benchmarks.report import Figure, Target, compared, interleaved
from corral.world.checks import Pool
from corral.world.repository import find
from corral.world.trees import Trees

_CHANGED = 20


def run(folder: Path, *, quick: bool) -> list[Figure]:
    files, rounds, many = (300, 2, 8) if quick else (5000, 9, 32)
    repo = _repository(folder / "project", files)
    trees = Trees(find(str(repo)), pool=1)
    trees.release(trees.make("first", "convoy/bench/first", "main"))
    checks = Pool(find(str(repo)))
    checks.checkout(1, "main")
    numbers = count()
    found = interleaved(
        {
            "pooled": lambda: _pooled(trees, repo, next(numbers)),
            "removed": lambda: _removed(trees, next(numbers)),
            "checked out": lambda: _checked_out(checks, next(numbers)),
            "git worktree add": lambda: _plain(repo, folder / f"plain{next(numbers)}"),
        },
        rounds,
    )
    peer = "git worktree add"
    what = f"a tree of {files:,} files"
    return [
        compared(
            found,
            "pooled",
            peer,
            what=f"{what}, from the pool",
            unit="ms",
            target=None if quick else Target("ratio", "<=", 0.35),
        ),
        compared(found, "removed", peer, what=f"{what}, pinned and removed", unit="ms"),
        compared(
            found,
            "checked out",
            peer,
            what=f"{what} for a check, which another commit was in",
            unit="ms",
            target=None if quick else Target("ratio", "<=", 0.5),
        ),
        _together(trees, many),
    ]


def _pooled(trees: Trees, repo: Path, number: int) -> float:
    for part in range(_CHANGED):
        (repo / f"part{part}" / "0.txt").write_text(f"changed in round {number}\n" * 20)
    _git(repo, "commit", "--quiet", "--all", "-m", f"round {number}")
    start = time.monotonic()
    tree = trees.make(f"p{number}", f"convoy/bench/p{number}", "main")
    took = time.monotonic() - start
    Path(tree.path, "part0", "1.txt").write_text("the session's work\n")
    Path(tree.path, "untracked").write_text("more of it\n")
    trees.release(tree)
    return took * 1000


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


def _plain(repo: Path, path: Path) -> float:
    start = time.monotonic()
    _git(repo, "worktree", "add", "--quiet", "-b", path.name, str(path), "main")
    took = time.monotonic() - start
    shutil.rmtree(path)
    _git(repo, "worktree", "prune")
    return took * 1000


def _together(trees: Trees, many: int) -> Figure:
    """Make many at once; return the average time for each."""
    start = time.monotonic()
    with ThreadPoolExecutor(many) as threads:
        made = list(
            threads.map(lambda n: trees.make(f"t{n}", f"convoy/many/{n}", "main"), range(many))
        )
    took = time.monotonic() - start
    for tree in made:
        trees.remove(tree)
    trees.sweep()
    return Figure(what=f"{many} at once, each", value=took * 1000 / many, unit="ms")


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
