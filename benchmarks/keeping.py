"""Keeping the work of a session: with what 10,000 sessions left behind, against the first one.

A session has a commit that its branch left and a file that it did not commit, so that something
has to be kept each time, and its branch's commit is held as the refinery does.
"""

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from benchmarks.report import Figure, Target, compared, interleaved
from corral.world.repository import find
from corral.world.trees import Trees

_FIRST, _LATER = "first", "later"
_PERSON = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")


def run(folder: Path, *, quick: bool) -> list[Figure]:
    sessions, rounds = (200, 2) if quick else (10_000, 5)
    first = folder / _FIRST
    first.mkdir(parents=True)
    _git(first, "init", "--quiet", "--initial-branch=main")
    (first / "file").write_text("x\n")
    _git(first, "add", "--all")
    _git(first, *_PERSON, "commit", "--quiet", "--message", "begin")
    shutil.copytree(first, folder / _LATER)
    _leave(folder / _LATER, sessions)
    doors = {name: Trees(find(str(folder / name))) for name in (_FIRST, _LATER)}
    numbers = count(1)
    found = interleaved(
        {
            **{f"pin {name}": _pinned(doors[name], numbers) for name in doors},
            **{f"hold {name}": _held(doors[name], folder / name, numbers) for name in doors},
        },
        rounds,
    )
    goal = None if quick else Target("ratio", "<=", 1.5)
    after = f"after {sessions:,} sessions"
    kept = compared(
        found, "pin later", "pin first", what=f"work kept {after}", unit="ms", target=goal
    )
    held = compared(
        found, "hold later", "hold first", what=f"a commit held {after}", unit="ms", target=goal
    )
    return [kept, held]


def _git(repo: Path, *words: str, stdin: str = "") -> str:
    done = subprocess.run(
        ["git", *words], cwd=repo, input=stdin, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def _leave(repo: Path, sessions: int) -> None:
    """Write the refs that sessions leave: a branch and a kept commit for each, packed."""
    base = _git(repo, "rev-parse", "main")
    lines = []
    for number in range(sessions):
        for ref in (f"refs/corral/keep/OLD-{number}.1/1", f"refs/heads/convoy/old/OLD-{number}"):
            at = 1_700_000_000 + number
            lines.append(f"commit {ref}\ncommitter Ann <ann@example.org> {at} +0000\n")
            lines.append(
                f"data 4\nwork\nfrom {base}\nM 100644 inline file\ndata 6\n{number:05}\n\n"
            )
    _git(repo, "fast-import", "--quiet", stdin="".join(lines))
    _git(repo, "pack-refs", "--all")


def _pinned(trees: Trees, numbers: Iterator[int]) -> Callable[[], float]:
    def pin() -> float:
        name = f"T-{next(numbers)}.1"
        tree = trees.make(name, f"convoy/bench/{name}", "main")
        for _ in range(2):
            (Path(tree.path) / "file").write_text(f"{name}\n")
            _git(Path(tree.path), *_PERSON, "commit", "--quiet", "--all", "--message", "work")
            _git(Path(tree.path), "reset", "--quiet", "--hard", "HEAD~1")
        (Path(tree.path) / "draft").write_text(name)
        start = time.perf_counter()
        assert trees.keep.pin(tree, "bench")
        taken = time.perf_counter() - start
        trees.remove(tree, "bench")
        return taken * 1000

    return pin


def _held(trees: Trees, repo: Path, numbers: Iterator[int]) -> Callable[[], float]:
    def hold() -> float:
        tree = _git(repo, "rev-parse", "main^{tree}")
        words = ("commit-tree", tree, "-p", "main", "-m", f"work {next(numbers)}")
        commit = _git(repo, *_PERSON, *words)
        start = time.perf_counter()
        assert trees.keep.hold(f"H-{next(numbers)}.1", "convoy/bench/H-1", commit, "bench")
        return (time.perf_counter() - start) * 1000

    return hold
