"""What a command costs as a whole process, beside an interpreter that does nothing.

All on a board of 10,000 tasks and 100,000 events. Each command is measured in turns with
`python -c pass` of the same interpreter, by the processor time of the process and its children.
"""

import compileall
import os
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import corral
from benchmarks import boards
from benchmarks.report import Figure, Target, compared, interleaved

_TASKS = 10_000
_PYTHON = (sys.executable, "-c", "pass")
_NOTHING = "python -c pass"
_NEXT = ("task", "claim", "--next", "--as", "bench")
_REST_S = 1.1  # after this long without a commit, the next command mirrors the log

Arguments = Callable[[], Sequence[str]]


def run(folder: Path, *, quick: bool) -> list[Figure]:
    # Where PYTHONDONTWRITEBYTECODE is set, every run would compile what has changed.
    compileall.compile_dir(Path(corral.__file__).parent, quiet=2)
    tasks, rounds = (_TASKS // 10, 5) if quick else (_TASKS, 21)
    root = folder / "repository"
    boards.large(root, tasks)
    ready = iter(_ready(root))

    cases: tuple[tuple[str, Arguments, float], ...] = (
        ("corral status", lambda: ["status"], 6.0),
        ("corral status --json", lambda: ["status", "--json"], 7.0),
        ("corral task claim --next", lambda: _NEXT, 8.0),
        ("corral task claim ID", lambda: ["task", "claim", next(ready), "--as", "bench"], 8.0),
    )
    figures = []
    for name, arguments, bound in cases:
        measure = partial(_corral_ms, root, arguments)
        found = interleaved({name: measure, _NOTHING: _nothing_ms}, rounds)
        target = Target("ratio", "<=", bound)
        figures.append(compared(found, name, _NOTHING, what=name, unit="ms CPU", target=target))
    figures.append(_mirrored(root, 2 if quick else 5))
    return figures


def _mirrored(root: Path, rounds: int) -> Figure:
    """Measure a claim that comes after a rest, and so mirrors the log to git as well."""

    def claim() -> float:
        time.sleep(_REST_S)
        return _corral_ms(root, lambda: _NEXT)

    name = "claim --next that also mirrors"
    found = interleaved({name: claim, _NOTHING: _nothing_ms}, rounds)
    return compared(found, name, _NOTHING, what=name, unit="ms CPU")


def _ready(root: Path) -> list[str]:
    """Return the ids of tasks that can be claimed, the last ones that --next would take first."""
    from corral.core.board.claims import offers
    from corral.store.sqlite import SqliteStore
    from corral.world.clock import now

    store = SqliteStore(str(root / ".git" / "corral"))
    found = sorted(offers(store.state(), now()), key=lambda task: (task.priority, -task.order))
    store.close()
    return [task.id for task in found]


def _corral_ms(root: Path, arguments: Arguments) -> float:
    return _cpu_ms((boards.CORRAL, *arguments(), "--repo", str(root)))


def _nothing_ms() -> float:
    return _cpu_ms(_PYTHON)


def _cpu_ms(command: Sequence[str]) -> float:
    """Run a command to its end; return the processor time, user and system, that it took."""
    silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    pid = os.posix_spawn(command[0], list(command), os.environ, file_actions=silent)
    _, status, used = os.wait4(pid, 0)
    if os.waitstatus_to_exitcode(status):
        raise RuntimeError(f"{' '.join(command)} failed")
    return (used.ru_utime + used.ru_stime) * 1000
