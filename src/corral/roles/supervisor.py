"""Keep the roles of one repository running: start each as its own process, and restart it.

The roles need nothing else: none remembers anything, and only one of each can run. A role that ends
is restarted after a delay that doubles while it keeps ending early. The roles end with their
supervisor, however that ends (`die_with_parent`, see `interfaces/supervised`).
"""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack

import msgspec
from msgspec import Struct

from corral.core.errors import Failed, NotFound, Refused
from corral.roles import signals
from corral.roles.locks import only_one, taken
from corral.world import keys
from corral.world.processes import table

ROLE = "supervisor"
_RECORD = "up.json"
_FIRST_REST_S, _LONGEST_REST_S = 0.5, 60.0
_HEALTHY_S = 30.0  # a role that ran for this long is restarted after the shortest delay
_GRACE_S = 20.0

Say = Callable[[str], None]


class _Up(Struct, frozen=True):
    pid: int
    start: int
    boot: str
    run: bool = False  # it is that of a run, and ends with it


class _Child:
    def __init__(self, name: str, argv: Sequence[str], *, silent: bool) -> None:
        self.name = name
        self.output = subprocess.DEVNULL if silent else None
        self.argv = list(argv)
        self.process: subprocess.Popen[bytes] | None = None
        self.pidfd = -1
        self.began_at = 0.0
        self.rest_s = 0.0
        self.due_at = 0.0

    def start(self) -> None:
        self.began_at = time.monotonic()
        self.process = subprocess.Popen(self.argv, stdin=subprocess.DEVNULL, stdout=self.output)
        self.pidfd = os.pidfd_open(self.process.pid)

    def ended(self) -> int:
        """Note the end of the process and when to restart it; return its exit code."""
        assert self.process is not None
        code = self.process.wait()
        os.close(self.pidfd)
        self.process, self.pidfd = None, -1
        if time.monotonic() - self.began_at >= _HEALTHY_S:
            self.rest_s = 0.0
        self.rest_s = min(_LONGEST_REST_S, max(_FIRST_REST_S, 2 * self.rest_s))
        self.due_at = time.monotonic() + self.rest_s
        return code


class Supervisor:
    def __init__(
        self, folder: str, roles: Mapping[str, Sequence[str]], say: Say, *, run: bool = False
    ) -> None:
        """`roles` maps names to programs, silent in a `run`; `say` reports to a person."""
        self._folder = folder
        self._run = run
        self._children = [_Child(name, argv, silent=run) for name, argv in roles.items()]
        self._say = say
        self._bell, self._rung = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._stopping = False

    def run(self) -> None:
        """Keep the roles running until asked to stop; refuse if another supervisor runs."""
        lock = ExitStack()
        try:
            lock.enter_context(only_one(self._folder, ROLE))
        except Refused as refusal:
            raise already_up(self._folder) from refusal
        with lock:
            lock.callback(self._end_all)
            with signals.heeded(self.stop):
                self._publish()
                self._loop()

    def stop(self) -> None:
        """Ask all roles, and the supervisor, to end."""
        self._stopping = True
        os.write(self._rung, b"!")

    def pid(self, name: str) -> int | None:
        """Return the process id of a role while it runs."""
        found = (child.process for child in self._children if child.name == name)
        return next((process.pid for process in found if process is not None), None)

    def _publish(self) -> None:
        own = table.look(os.getpid())
        record = _Up(os.getpid(), own.start if own else 0, table.boot_id(), self._run)
        keys.write(f"{self._folder}/{_RECORD}", msgspec.json.encode(record).decode())

    def _loop(self) -> None:
        while not self._stopping:
            now = time.monotonic()
            for child in self._children:
                if child.process is None and child.due_at <= now:
                    child.start()
            self._wait([c.due_at for c in self._children if c.process is None])
            for child in self._children:
                if child.process is not None and child.process.poll() is not None:
                    code = child.ended()
                    if not self._stopping:
                        rest = f"will be restarted in {child.rest_s:g} s"
                        self._say(f"the {child.name} has ended (exit {code}), and {rest}")

    def _wait(self, due: list[float]) -> None:
        poll = select.poll()
        poll.register(self._bell, select.POLLIN)
        for child in self._children:
            if child.pidfd >= 0:
                poll.register(child.pidfd, select.POLLIN)
        timeout = None if not due else max(0.0, min(due) - time.monotonic()) * 1000 + 1
        poll.poll(timeout)

    def _end_all(self) -> None:
        """Ask all roles to end, and kill those that do not; sessions go on without the witness."""
        running = [child.process for child in self._children if child.process is not None]
        for process in running:
            process.terminate()
        deadline = time.monotonic() + _GRACE_S
        for process in running:
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def is_up(folder: str) -> bool:
    return taken(folder, ROLE)


def already_up(folder: str) -> Refused:
    found = _read(folder)
    if found is not None and found.run:
        return Refused(
            "corral run is at work in this repository, with a server; nothing was changed",
            "corral link opens its dashboard; when it is over: corral up",
            code="already_up",
        )
    return Refused(
        "corral up is already running for this repository; nothing was changed",
        "corral down stops it",
        code="already_up",
    )


def stop(folder: str) -> None:
    """Ask the supervisor of a repository to end, and wait until it has."""
    if not is_up(folder):
        raise NotFound("corral up is not running for this repository", "corral up", code="not_up")
    found = _read(folder)
    process = table.look(found.pid) if found else None
    if found is None or process is None or not table.is_running(found.pid, found.start, found.boot):
        raise Refused(
            f"corral up is running, but {folder}/{_RECORD} does not name its process;"
            " nothing was changed",
            "stop it where it was started",
            code="not_down",
        )
    table.send(process, signal.SIGTERM)
    deadline = time.monotonic() + 2 * _GRACE_S
    while table.is_running(found.pid, found.start, found.boot):
        if time.monotonic() > deadline:
            raise Refused(f"the supervisor (process {found.pid}) has not stopped", code="not_down")
        time.sleep(0.05)


def _read(folder: str) -> _Up | None:
    try:
        return msgspec.json.decode(keys.read(f"{folder}/{_RECORD}"), type=_Up)
    except (Failed, msgspec.MsgspecError):
        return None  # it is missing, incomplete, or writable by others


def program(*words: str) -> list[str]:
    """Return the command line that runs a Corral command as a child of this process."""
    return [sys.executable, "-m", "corral.interfaces.supervised", str(os.getpid()), *words]
