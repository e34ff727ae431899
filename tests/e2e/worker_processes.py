"""Worker processes that start at one moment, and what they acknowledge as it comes."""

import os
import selectors
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.e2e.corral_command import environment
from tests.patience import PATIENCE_S

WORKER = Path(__file__).with_name("worker.py")


class WorkerProcesses:
    """Any number of workers; those that are left at the end are killed, by their process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._env = environment(folder.parent.parent)
        self._gate, self._key = os.pipe()
        self._selector = selectors.DefaultSelector()
        self._unread: dict[int, bytes] = {}
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def add(self, job: str, name: str, *words: str) -> None:
        """Start a worker, which waits at the gate."""
        process = subprocess.Popen(
            [sys.executable, str(WORKER), job, str(self._folder), name, *words],
            stdin=self._gate,
            stdout=subprocess.PIPE,
            env=self._env,
        )
        assert process.stdout is not None
        self.processes[name] = process
        self._unread[process.stdout.fileno()] = b""
        self._selector.register(process.stdout, selectors.EVENT_READ, name)

    def open_gate(self) -> None:
        """Wait until all are ready, then let them go at once."""
        waiting = set(self.processes)
        for name, line in self.lines():
            assert line == "ready"
            waiting.discard(name)
            if not waiting:
                break
        os.close(self._key)
        self._key = -1

    def lines(self) -> Iterator[tuple[str, str]]:
        """Yield each worker's lines, with its name, until all have ended."""
        while self._selector.get_map():
            ready = self._selector.select(PATIENCE_S)
            assert ready, "no worker says anything"
            for key, _ in ready:
                fd = key.fd
                content = os.read(fd, 65_536)
                *whole, self._unread[fd] = (self._unread[fd] + content).split(b"\n")
                if not content:
                    self._selector.unregister(key.fileobj)
                yield from ((key.data, line.decode()) for line in whole)

    def kill(self, name: str) -> None:
        """End a worker as `kill -9` does; what it has acknowledged can still be read."""
        process = self.processes[name]
        process.kill()
        process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()
        self._selector.close()
        os.close(self._gate)
        if self._key >= 0:
            os.close(self._key)
