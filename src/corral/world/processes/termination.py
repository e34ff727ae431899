"""Ending a whole tree of processes, however it was started and however fast it forks.

Killing one by one loses against a program that forks: its children appear while the list is being
worked through. So everything is frozen first (SIGSTOP cannot be caught), and only then killed.
Each process is frozen the moment it is seen, not after the whole table was read: a chain in which
each process forks the next and exits would be gone by then. A table is read upwards and pids are
given out upwards, so one pass overtakes most of what it chases. The caller repeats this until it
has nobody left to wait for, which for a child subreaper is the proof that no descendant exists.
"""

import signal
from collections.abc import Collection, Iterable
from typing import NamedTuple

from corral.world.processes.table import Process, Sent, below, children_of, each, scan, send

# A fork bomb may stay ahead of the freezing for a while; killing what is known makes room.
_ROUNDS = 50


class EndedProcesses(NamedTuple):
    signalled: set[tuple[int, int]]
    untouchable: int
    """How many are still there that belong to somebody else, so that no signal reaches them."""


def terminate(root: int) -> set[tuple[int, int]]:
    """Ask every descendant to end; a stopped one is woken up, or it could not."""
    found = below(children_of(scan()), root)
    for process in found:
        send(process, signal.SIGTERM)
        send(process, signal.SIGCONT)
    return {process.key for process in found}


def kill(
    root: int | None, spare: Collection[int] = (), also: Iterable[Process] = ()
) -> EndedProcesses:
    """Freeze, then kill some processes and all descendants of the root but those under `spare`."""
    frozen: dict[tuple[int, int], Process] = {}
    untouchable: set[tuple[int, int]] = set()
    # Only who cannot end meanwhile: the children of a pid that was given away are not ours.
    parents = set() if root is None else {root}

    def freeze(process: Process) -> None:
        sent = send(process, signal.SIGSTOP)
        if sent is not Sent.GONE:
            frozen[process.key] = process
            parents.add(process.pid)
        if sent is Sent.FORBIDDEN:
            untouchable.add(process.key)

    for process in also:
        freeze(process)
    for _ in range(_ROUNDS):
        before = len(frozen)
        for process in each():
            ours = process.parent in parents and process.pid not in spare
            if ours and process.running and process.key not in frozen:
                freeze(process)
        if len(frozen) == before:
            break
    for process in frozen.values():
        send(process, signal.SIGKILL)
    return EndedProcesses(set(frozen), len(untouchable))
