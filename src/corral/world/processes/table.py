"""The process table (Linux /proc), and signals that cannot hit another process.

The keeper and every shim use it, so it imports next to nothing. A process is identified by its pid
and start tick, because a pid alone is reused sooner or later.
"""

import os
import signal
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_DEAD = "ZX"


class Process(NamedTuple):
    pid: int
    parent: int
    state: str
    start: int
    cpu: int  # ticks that it used itself
    cpu_reaped: int  # ticks of its descendants that were waited for

    @property
    def key(self) -> tuple[int, int]:
        return self.pid, self.start

    @property
    def running(self) -> bool:
        return self.state not in _DEAD


def boot_id() -> str:
    """Return the id of this boot, beyond which pids mean nothing."""
    return _read("/proc/sys/kernel/random/boot_id").decode().strip()


def look(pid: int) -> Process | None:
    """Return the entry of a process, if it exists."""
    try:
        line = _read(f"/proc/{pid}/stat")
    except OSError:
        return None
    # The name is in parentheses and may contain parentheses and spaces.
    fields = line[line.rfind(b")") + 2 :].split()
    return Process(
        pid,
        int(fields[1]),
        fields[0].decode(),
        int(fields[19]),
        int(fields[11]) + int(fields[12]),
        int(fields[13]) + int(fields[14]),
    )


def is_running(pid: int, start: int, boot: str) -> bool:
    """Say whether exactly this process is still running."""
    found = look(pid) if pid > 0 and boot == boot_id() else None
    return found is not None and found.start == start and found.running


def each() -> Iterator[Process]:
    """Yield all processes in order of pid, each as it is when read."""
    with os.scandir("/proc") as entries:
        for entry in entries:
            if entry.name.isdigit() and (found := look(int(entry.name))) is not None:
                yield found


def scan() -> dict[int, Process]:
    """Return all processes in one pass; not a snapshot, because they change meanwhile."""
    return {process.pid: process for process in each()}


def children_of(table: dict[int, Process]) -> dict[int, list[Process]]:
    children: dict[int, list[Process]] = {}
    for process in table.values():
        children.setdefault(process.parent, []).append(process)
    return children


def below(children: dict[int, list[Process]], root: int) -> list[Process]:
    """Return the running descendants of a process."""
    found = list(children.get(root, ()))
    for process in found:  # it grows meanwhile
        found += children.get(process.pid, ())
    return [process for process in found if process.running]


class Sent(Enum):
    DELIVERED = 1
    GONE = 2
    FORBIDDEN = 3


def send(process: Process, number: int) -> Sent:
    """Signal exactly this process, never another with a reused pid."""
    try:
        fd = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return Sent.GONE
    try:
        # The pid may have been reused before it was opened, but cannot be afterwards.
        now = look(process.pid)
        if now is None or now.start != process.start:
            return Sent.GONE
        signal.pidfd_send_signal(fd, number)
    except ProcessLookupError:
        return Sent.GONE
    except PermissionError:
        return Sent.FORBIDDEN
    finally:
        os.close(fd)
    return Sent.DELIVERED


def _read(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:
        return file.read(4096)
