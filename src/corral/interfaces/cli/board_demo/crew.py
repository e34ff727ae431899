"""The claimers' processes: started together, struck one by one, ended without exception."""

import ctypes
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import get_context
from random import Random
from typing import Self

from corral.core.ids import TaskId
from corral.interfaces.cli.board_demo.claimer import Claimer
from corral.store.sqlite import SqliteStore

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PR_SET_PDEATHSIG = 1

# Not a new Python for each: thirty of them would take longer to start than the work takes.
_processes = get_context("fork")


class Crew:
    """Nothing of the log may be open in this process while the crew is made: forks would share it.

    Every hard task has a gate, a pipe that keeps its first claimer busy until `wake` closes it, or
    until this process is gone.
    """

    def __init__(self, folder: str, size: int, hard: Sequence[TaskId]) -> None:
        self._pipes = {task: os.pipe() for task in hard}
        self._members = {
            name: _processes.Process(target=self._live, args=(folder, name), name=name, daemon=True)
            for name in (f"claimer-{number:02}" for number in range(1, size + 1))
        }
        self.killed: list[str] = []

    def __enter__(self) -> Self:
        with undisturbed():  # a child is never started without being known
            for process in self._members.values():
                process.start()
        return self

    def __exit__(self, *exc: object) -> None:
        with undisturbed():
            for process in self._members.values():
                if process.pid is not None:
                    process.kill()  # a stopped process, too, ends by this one
                    process.join()
            for reading, writing in self._pipes.values():
                os.close(reading)
                os.close(writing)

    def alive(self) -> int:
        return sum(process.is_alive() for process in self._members.values())

    def kill(self, name: str) -> None:
        os.kill(self._pid(name), signal.SIGKILL)
        self.killed.append(name)

    def stop(self, name: str) -> None:
        os.kill(self._pid(name), signal.SIGSTOP)

    def wake(self, name: str, task: TaskId) -> None:
        """Continue a stopped claimer, whose work on the hard task is then over."""
        os.kill(self._pid(name), signal.SIGCONT)
        os.write(self._pipes[task][1], b".")

    def faults(self) -> Iterator[str]:
        """Yield what is wrong after the end: a process that is still there, an odd exit code."""
        for name, process in self._members.items():
            expected = -signal.SIGKILL if name in self.killed else 0
            if process.exitcode != expected:
                yield f"{name} ended with {process.exitcode}, not with {expected}"
            if _exists(self._pid(name)):
                yield f"{name} is still there"

    def _pid(self, name: str) -> int:
        pid = self._members[name].pid
        assert pid is not None, "the crew was not started"
        return pid

    def _live(self, folder: str, name: str) -> None:
        """Be a claimer: this is where its process begins."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the demo, which ends us
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        _die_with_the_demo()
        for _, writing in self._pipes.values():
            os.close(writing)
        gates = {task: reading for task, (reading, _) in self._pipes.items()}
        Claimer(SqliteStore(folder), name, gates, Random(name)).run()


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let what would end this process wait until the block is over."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _die_with_the_demo() -> None:
    """Have the system kill us, even while stopped, if the demo itself is killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
