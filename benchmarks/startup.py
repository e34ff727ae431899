"""What a command costs as a whole process, compared with an interpreter that does nothing.

The board has 10,000 tasks and 100,000 events. Each command takes turns with `python -c pass` of the
same interpreter; what counts is the processor time of the process and its children. Commands that
ask a server are charged for themselves, not for the server.
"""

import compileall
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import corral
from benchmarks import boards
from benchmarks.report import Figure, Target, compared, interleaved

_TASKS = 10_000
_PYTHON = (sys.executable, "-c", "pass")
_NOTHING = "python -c pass"
_NEXT = ("task", "claim", "--next", "--as", "bench")
_REST_S = 5.5  # after 5 s without a commit, the next command mirrors a long log

Arguments = Callable[[], Sequence[str]]
Case = tuple[str, Arguments, float]  # what it is called, its words, how many times `pass` at most


def run(folder: Path, *, quick: bool) -> list[Figure]:
    # Where PYTHONDONTWRITEBYTECODE is set, every run would compile the files that have changed.
    compileall.compile_dir(Path(corral.__file__).parent, quiet=2)
    tasks, rounds = (_TASKS // 10, 5) if quick else (_TASKS, 21)
    root = folder / "repository"
    boards.large(root, tasks)
    ready = iter(_ready(root))
    alone: tuple[Case, ...] = (
        ("corral --version", lambda: ["--version"], 2.0),
        ("corral help", lambda: ["help"], 3.0),
        ("corral status", lambda: ["status"], 5.0),
        ("corral status --json", lambda: ["status", "--json"], 6.5),
        ("corral task claim --next", lambda: _NEXT, 5.5),
        ("corral task claim ID", lambda: ["task", "claim", next(ready), "--as", "bench"], 5.5),
    )
    served: tuple[Case, ...] = (
        ("status, with a server", lambda: ["status"], 3.5),
        ("status --json, with a server", lambda: ["status", "--json"], 3.5),
        ("task claim --next, with a server", lambda: _NEXT, 3.5),
    )
    figures = [_figure(root, case, rounds) for case in alone]
    figures.append(_mirrored(root, 1 if quick else 5))
    with _server(root):
        figures += [_figure(root, case, rounds) for case in served]
    return figures


def _figure(root: Path, case: Case, rounds: int) -> Figure:
    name, arguments, bound = case
    measure = partial(_corral_ms, root, arguments)
    found = interleaved({name: measure, _NOTHING: _nothing_ms}, rounds)
    target = Target("ratio", "<=", bound)
    return compared(found, name, _NOTHING, what=name, unit="ms CPU", target=target)


def _mirrored(root: Path, rounds: int) -> Figure:
    """Measure a claim that comes after a pause, and so mirrors the log to git as well."""

    def claim() -> float:
        time.sleep(_REST_S)
        return _corral_ms(root, lambda: _NEXT)

    name = "claim --next that also mirrors"
    found = interleaved({name: claim, _NOTHING: _nothing_ms}, rounds)
    return compared(found, name, _NOTHING, what=name, unit="ms CPU")


@contextmanager
def _server(root: Path) -> Iterator[None]:
    process = subprocess.Popen(
        [sys.executable, "-m", "corral", "serve", "--json", "--repo", str(root)],
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout
        process.stdout.readline()  # it listens
        yield
    finally:
        process.terminate()
        process.wait(30)


def _ready(root: Path) -> list[str]:
    """Return the ids of tasks that can be claimed, those that --next would take last first."""
    from corral.core.board.claims import offers
    from corral.store.sqlite import SqliteStore
    from corral.world.clock import now

    store = SqliteStore(str(root / ".git" / "corral"))
    found = sorted(offers(store.state(), now()), key=lambda task: (task.priority, -task.order))
    store.close()
    return [task.id for task in found]


def _corral_ms(root: Path, arguments: Arguments) -> float:
    words = arguments()
    place = () if words[0] in ("--version", "help") else ("--repo", str(root))
    return _cpu_ms((boards.CORRAL, *words, *place))


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
