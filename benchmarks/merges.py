"""Merges in the object store: candidates, one by one and all at once, and the conflict radar.

5,000 files; 200 branches of three commits, each in three files of its own, except for a few pairs
that share one. The floor is plain `git merge-tree` on the same commits, in the same run.
"""

import resource
import subprocess
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

from benchmarks.report import Figure, Target, compared, interleaved
from corral.world.git.candidates import Candidate, CandidateChange, Candidates, Stamp, Strategy
from corral.world.git.merge import Merger, Sides
from corral.world.git.messages import Identity
from corral.world.git.radar import sweep
from corral.world.git.ranges import Branch
from corral.world.git.view import View

_WHO = Identity("Refinery", "refinery@localhost")
_PAIRS = 16  # of branches that change the same file


def run(folder: Path, *, quick: bool) -> list[Figure]:
    files, branches, rounds = (500, 20, 1) if quick else (5000, 200, 5)
    repo, tips, changes = _repository(folder / "project", files, branches, 2 * (rounds + 1))
    view = View(str(repo / ".git"))
    numbers = count()
    fresh = iter(tips)  # a new one each time, so that no merged tree exists yet
    tip = next(fresh)
    found = interleaved(
        {
            "one by one": lambda: _rate(lambda: _one_by_one(view, tip, changes, next(numbers))),
            "rebase": lambda: _rate(lambda: _rebase(view, tip, changes, next(numbers))),
            "together": lambda: _rate(lambda: _together(view, tip, changes, next(numbers))),
            "git merge-tree": lambda: _rate(lambda: _plain(repo, tip, changes)),
            "git merge-tree --stdin": lambda: _rate(lambda: _plain_together(repo, tip, changes)),
            "first": lambda: _rate(lambda: _together(view, next(fresh), changes, 0)),
            "git merge-tree --stdin, first": lambda: _rate(
                lambda: _plain_together(repo, next(fresh), changes)
            ),
            "a stack": lambda: _rate(lambda: _stack(view, tip, changes, next(numbers))),
        },
        rounds,
    )
    unit = "candidates/s CPU"
    each, all_at_once = "git merge-tree", "git merge-tree --stdin"
    targets: tuple[Target | None, Target | None] = (None, None)
    if not quick:
        targets = (Target("value", ">=", 100), Target("value", ">=", 1000))
    what = f"of {files:,} files"
    return [
        compared(
            *(found, "one by one", each),
            what=f"squash {what}, one by one",
            unit=unit,
            target=targets[0],
        ),
        compared(found, "rebase", each, what=f"rebase of 3 commits {what}", unit=unit),
        compared(found, "a stack", each, what=f"a stack {what}, for each change", unit=unit),
        compared(
            *(found, "together", all_at_once),
            what=f"squash {what}, together",
            unit=unit,
            target=targets[1],
        ),
        compared(
            *(found, "first", "git merge-tree --stdin, first"),
            what=f"squash {what}, together, trees new",
            unit=unit,
        ),
        *_radar(view, repo, changes, quick=quick),
    ]


def _one_by_one(view: View, tip: str, changes: list[CandidateChange], number: int) -> int:
    part = changes[:40]
    with Merger(view) as merger:
        candidates = Candidates(merger)
        for change in part:
            candidates.make(tip, [change], Strategy.SQUASH, _stamp(number))
    return len(part)


def _rebase(view: View, tip: str, changes: list[CandidateChange], number: int) -> int:
    part = changes[:20]
    with Merger(view) as merger:
        candidates = Candidates(merger)
        for change in part:
            candidates.make(tip, [change], Strategy.REBASE, _stamp(number))
    return len(part)


def _stack(view: View, tip: str, changes: list[CandidateChange], number: int) -> int:
    part = changes[::2][:40]  # one of each pair
    with Merger(view) as merger:
        made = Candidates(merger).make(tip, part, Strategy.SQUASH, _stamp(number))
    if not isinstance(made, Candidate):
        raise AssertionError("these branches must not conflict")
    return len(part)


def _together(view: View, tip: str, changes: list[CandidateChange], number: int) -> int:
    with Merger(view) as merger:
        Candidates(merger).make_each(tip, changes, Strategy.SQUASH, _stamp(number))
    return len(changes)


def _plain(repo: Path, tip: str, changes: list[CandidateChange]) -> int:
    part = changes[:40]
    for change in part:
        _git(repo, "merge-tree", "--write-tree", tip, change.commit)
    return len(part)


def _plain_together(repo: Path, tip: str, changes: list[CandidateChange]) -> int:
    lines = "".join(f"{tip} {change.commit}\n" for change in changes)
    _git(repo, "merge-tree", "--write-tree", "--stdin", stdin=lines.encode())
    return len(changes)


def _radar(view: View, repo: Path, changes: list[CandidateChange], *, quick: bool) -> list[Figure]:
    """All pairs of branches that share a path, against merging all pairs in one process."""
    branches = [Branch(one.commit, one.fork) for one in changes]
    some = [
        Sides(one.commit, other.commit) for one in changes[:20] for other in changes if one != other
    ]
    lines = "".join(f"{one.ours} {one.theirs}\n" for one in some)

    def all_pairs() -> float:
        start = time.monotonic()
        _git(repo, "merge-tree", "--write-tree", "--stdin", stdin=lines.encode())
        share = len(changes) * (len(changes) - 1) / 2 / len(some)
        return (time.monotonic() - start) * share * 1000

    def radar() -> float:
        start = time.monotonic()
        with Merger(view) as merger:
            clashes = sweep(merger, branches)
        took = (time.monotonic() - start) * 1000
        if len(clashes) != min(_PAIRS, len(changes) // 2):
            raise AssertionError(f"{len(clashes)} clashes")
        return took

    found = interleaved({"radar": radar, "all pairs, extrapolated": all_pairs}, 3)
    return [
        compared(
            *(found, "radar", "all pairs, extrapolated"),
            what=f"radar over {len(changes)} branches",
            unit="ms",
            target=None if quick else Target("value", "<", 1000),
        )
    ]


def _rate(work: Callable[[], int]) -> float:
    """Return the rate per second of processor time, including git's."""
    start = _cpu()
    times = work()
    return times / (_cpu() - start)


def _cpu() -> float:
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)


def _stamp(number: int) -> Stamp:
    """Return a new stamp for each round, so that every commit must be written."""
    return Stamp(f"R{number}", _WHO, 1_700_000_000 + number)


def _repository(
    folder: Path, files: int, branches: int, tips: int
) -> tuple[Path, list[str], list[CandidateChange]]:
    """Write a first commit, branches from it, and newer tips that change another file."""
    folder.mkdir()
    _git(folder, "init", "--quiet", "--initial-branch=main")
    stream = [b"commit refs/heads/main\nmark :1\n", _head("first")]
    for number in range(files):
        stream.append(_file(_path(number), f"line of file {number}\n" * 60))
    mark = 1
    ends = []
    shared = files - 1
    for branch in range(branches):
        for step in range(3):
            mark += 1
            start = 1 if step == 0 else mark - 1
            stream.append(f"commit refs/heads/b{branch}\nmark :{mark}\n".encode())
            stream.append(_head(f"step {step} of {branch}") + f"from :{start}\n".encode())
            own = (branch * 3 + step) % (files - _PAIRS - 1)
            if step == 0 and branch < 2 * _PAIRS:
                own = shared - branch // 2
            stream.append(_file(_path(own), f"changed by {branch}\n" * 60))
        ends.append(mark)
    landed = range(mark + 1, mark + 2 + tips)
    for number in landed:
        stream.append(f"commit refs/heads/t{number}\nmark :{number}\n".encode() + _head("more"))
        stream.append(b"from :1\n" + _file("landed.txt", f"landed {number}\n"))
    marks = folder / ".git" / "marks"
    _git(folder, "fast-import", "--quiet", f"--export-marks={marks}", stdin=b"".join(stream))
    pairs = (line.split() for line in marks.read_text().splitlines())
    oids = {int(name[1:]): oid for name, oid in pairs}
    changes = [
        CandidateChange(f"B-{n}", oids[one], oids[1], f"Branch {n}") for n, one in enumerate(ends)
    ]
    return folder, [oids[number] for number in landed], changes


def _path(number: int) -> str:
    return f"part{number % 50}/{number // 50}.txt"


def _head(message: str) -> bytes:
    committer = "committer Bench <bench@localhost> 1600000000 +0000"
    return f"{committer}\ndata {len(message)}\n{message}\n".encode()


def _file(path: str, content: str) -> bytes:
    return f"M 100644 inline {path}\ndata {len(content)}\n{content}\n".encode()


def _git(folder: Path, *args: str, stdin: bytes = b"") -> None:
    done = subprocess.run(
        ["git", "-c", "gc.auto=0", *args], cwd=folder, input=stdin, capture_output=True, check=False
    )
    if done.returncode > 1:
        raise AssertionError(done.stderr.decode())
