"""Ends a whole tree of processes, however it was started and however fast it forks.

Killing one by one loses against a program that forks, so all processes are frozen first (SIGSTOP
cannot be caught) and only then killed. Each is frozen as soon as it is seen: a chain in which each
process forks the next and exits would be gone after the whole table was read. Pids are assigned and
read in ascending order, so one pass overtakes most. The caller repeats until it has no child left.
"""

import signal
from collections.abc import Collection, Iterable
from typing import NamedTuple

from corral.world.processes.table import Process, Sent, below, children_of, each, scan, send

# A fork bomb may outrun the freezing for a while; killing known processes makes room.
_ROUNDS = 50


class EndedProcesses(NamedTuple):
    signalled: set[tuple[int, int]]
    untouchable: int  # how many are still there that belong to somebody else


def terminate(root: int) -> set[tuple[int, int]]:
    """Ask every descendant to end; stopped ones are continued, so that they can."""
    found = below(children_of(scan()), root)
    for process in found:
        send(process, signal.SIGTERM)
        send(process, signal.SIGCONT)
    return {process.key for process in found}


def kill(
    root: int | None, spare: Collection[int] = (), also: Iterable[Process] = ()
) -> EndedProcesses:
    """Freeze, then kill some processes and all descendants of the root not under `spare`."""
    frozen: dict[tuple[int, int], Process] = {}
    untouchable: set[tuple[int, int]] = set()
    # Only of processes that cannot end meanwhile: a reused pid has other children.
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
