"""The resource usage of sessions, and processes that no longer belong to a session.

Each query is one pass over the process table for all sessions. Memory is PSS: pages shared by
several processes are counted once (summed RSS can be fifteen times as much).
"""

import os
import select
import time
from collections.abc import Collection, Iterable

from corral.world.processes import records, table, termination
from corral.world.processes.model import RUN_VARIABLE, SESSION_VARIABLE, Stray, Usage


def usage(folders: Iterable[str]) -> dict[str, Usage]:
    """Return the usage of each running session, without its shim."""
    found = table.scan()
    children = table.children_of(found)
    boot = table.boot_id()
    result: dict[str, Usage] = {}
    for folder in folders:
        record = records.read(folder, records.PROCESS) or {}
        shim = found.get(record.get("pid", 0))
        if shim is None or shim.start != record.get("start") or record.get("boot") != boot:
            continue
        tree = table.below(children, shim.pid)
        # A reaped process is in the account of the shim or of a process that still runs.
        ticks = shim.cpu_reaped + sum(process.cpu + process.cpu_reaped for process in tree)
        pss = sum(_pss(process.pid) for process in tree)
        result[folder] = Usage(pss, ticks / table.TICKS_PER_S, len(tree))
    return result


def strays(marker: str, live: Collection[str]) -> list[Stray]:
    """Return processes of this repository's sessions that do not belong to a live one."""
    wanted = f"{RUN_VARIABLE}={marker}".encode("utf-8", "surrogateescape")
    prefix = f"{SESSION_VARIABLE}=".encode()
    result = []
    for process in table.scan().values():
        if not process.running or process.pid == os.getpid():
            continue
        variables = _read(process.pid, "environ").split(b"\0")
        if wanted not in variables:
            continue
        sessions = [v.removeprefix(prefix) for v in variables if v.startswith(prefix)]
        session = os.fsdecode(sessions[0]) if sessions else ""
        if session not in live:
            command = os.fsdecode(_read(process.pid, "cmdline").replace(b"\0", b" ").strip())
            result.append(Stray(process.pid, process.start, session, command))
    return result


def end(strays: Iterable[Stray], *, limit_s: float = 5.0) -> int:
    """End these processes and their descendants; return how many remain."""
    targets = []
    for stray in strays:
        found = table.look(stray.pid)
        if found is not None and found.start == stray.start:
            targets.append(found)
    termination.kill(None, also=targets)
    deadline = time.monotonic() + limit_s
    return sum(not _gone(process, deadline) for process in targets)


def _gone(process: table.Process, deadline: float) -> bool:
    try:
        fd = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return True
    try:
        now = table.look(process.pid)
        if now is None or now.key != process.key:
            return True
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        return bool(poll.poll(max(0.0, deadline - time.monotonic()) * 1000))
    finally:
        os.close(fd)


def _pss(pid: int) -> int:
    for line in _read(pid, "smaps_rollup").splitlines():
        if line.startswith(b"Pss:"):
            return int(line.split()[1]) * 1024
    # Another user's process, or one that is ending.
    return 0


def _read(pid: int, name: str) -> bytes:
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:
        return b""
