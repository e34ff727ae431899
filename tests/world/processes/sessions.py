"""Real sessions for tests: a run folder of their own, ended whatever the test does."""

import os
import select
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from corral.world import processes
from corral.world.processes import records, table
from corral.world.processes.model import RUN_VARIABLE, SESSION_VARIABLE, Exit, Launch, Started
from corral.world.watch import Watch
from tests.patience import PATIENCE_S

T = TypeVar("T")


class Sessions:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.run = str(root / "run")
        self.marker = str(root)
        self._names: list[str] = []

    def folder(self, name: str) -> str:
        return str(self.root / name)

    def launch(self, name: str, *argv: str, **changes: object) -> Launch:
        fields = {
            "session": name,
            "argv": list(argv),
            "cwd": str(self.root),
            "env": {
                "PATH": os.environ["PATH"],
                RUN_VARIABLE: self.marker,
                SESSION_VARIABLE: name,
            },
            "folder": self.folder(name),
            "grace_s": 0.3,
        }
        return Launch(**(fields | changes))  # type: ignore[arg-type]  # a bag of changes

    def start(self, name: str, *argv: str, **changes: object) -> Started:
        self._names.append(name)
        return processes.start(self.run, self.launch(name, *argv, **changes))

    def python(self, name: str, code: str, **changes: object) -> Started:
        return self.start(name, sys.executable, "-I", "-S", "-c", code, **changes)

    def shell(self, name: str, script: str, **changes: object) -> Started:
        return self.start(name, "sh", "-c", script, **changes)

    def ended(self, name: str, limit_s: float = PATIENCE_S) -> Exit:
        return await_in(self.folder(name), lambda: processes.outcome(self.folder(name)), limit_s)

    def record(self, name: str) -> records.Record:
        record = records.read(self.folder(name), records.PROCESS)
        assert record is not None
        return record

    def keeper(self) -> table.Process:
        """Return the keeper of the session that was started last."""
        found = table.look(self.record(self._names[-1])["keeper_pid"])
        assert found is not None
        return found

    def alive(self) -> set[int]:
        """Return every process that a session of this test started, by what the system says."""
        return {stray.pid for stray in processes.strays(self.marker, live=())}

    def close(self) -> None:
        keepers = {}
        for name in self._names:
            record = records.read(self.folder(name), records.PROCESS)
            if record is None or not record["pid"]:
                continue
            keepers[record["keeper_pid"]] = record["keeper_start"]
            processes.ask_stop(self.folder(name))
            self.ended(name)
        while left := processes.strays(self.marker, live=()):
            processes.end(left)
        for pid, start in keepers.items():
            found = table.look(pid)
            if found is not None and found.start == start and found.running:
                kill(found.pid, signal.SIGKILL)


def await_in(folder: str, look: Callable[[], T | None], limit_s: float = PATIENCE_S) -> T:
    """Wait until something in a folder is as wanted; woken by changes there."""
    deadline = time.monotonic() + limit_s
    with Watch(folder) as watch:
        while (found := look()) is None:
            left = deadline - time.monotonic()
            assert left > 0, f"not within {limit_s} s: {os.listdir(folder)}"
            # Not everything that ends leaves a trace in the folder.
            watch.wait(min(left, 0.1))
    return found


def written(path: str, limit_s: float = PATIENCE_S) -> str:
    """Wait for a file that holds a whole line, and return that."""

    def look() -> str | None:
        if not os.path.exists(path):
            return None
        text = Path(path).read_text()
        return text.strip() if text.endswith("\n") else None

    return await_in(os.path.dirname(path), look, limit_s)


def kill(pid: int, number: int) -> None:
    """Signal one process; if it is to die, wait until it has."""
    fd = os.pidfd_open(pid)
    signal.pidfd_send_signal(fd, number)
    if number == signal.SIGKILL:
        await_end(fd)
    os.close(fd)


def await_end(fd: int, limit_s: float = PATIENCE_S) -> None:
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    assert poll.poll(limit_s * 1000), "it did not end"


def pss(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024
