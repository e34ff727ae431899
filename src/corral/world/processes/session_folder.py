"""The state of current and past sessions, from their folders alone. Nothing is cached here."""

import os
import signal
import time

import msgspec

from corral.world.processes import records, table
from corral.world.processes.model import EndReason, Exit
from corral.world.processes.output import ERRORS, NEWEST

_TAIL_BYTES = 1 << 18
_FORCE_AFTER_S = 10.0  # after its grace period, for a shim that does not respond


def alive(folder: str) -> bool:
    """Say whether the session in this folder is running or being ended under its shim."""
    return _shim(folder) is not None


def ran(folder: str) -> bool:
    """Say whether a program was started in this folder rather than withdrawn."""
    return bool((records.read(folder, records.PROCESS) or {}).get("pid"))


def ask_stop(folder: str) -> bool:
    """Stop the session, with escalation, without waiting; False if it is not running."""
    return _signal(folder, signal.SIGTERM)


def force_stop(folder: str) -> bool:
    """Kill a shim that does not respond; its keeper ends the rest and records it as lost."""
    return _signal(folder, signal.SIGKILL)


def insist(folder: str, since: float, grace_s: float) -> None:
    """Enforce a stop that was asked for `since` (monotonic), even if the shim is frozen."""
    late = time.monotonic() - since > grace_s + _FORCE_AFTER_S
    (force_stop if late else ask_stop)(folder)


def read_exit(folder: str) -> Exit | None:
    """Return how the session ended, if that was recorded."""
    record = records.read(folder, records.EXIT)
    return msgspec.convert(record, Exit) if record is not None else None


def outcome(folder: str) -> Exit | None:
    """Return how the session ended: `lost` if nothing will ever record it, None while it runs."""
    if (end := read_exit(folder)) is not None:
        return end
    if alive(folder):
        return None
    # It may have been recorded between the two checks.
    if (end := read_exit(folder)) is not None:
        return end
    record = records.read(folder, records.PROCESS)
    if record is None:
        return Exit(EndReason.LOST, 0, detail="it was never started")
    keeper = _running(record, "keeper_pid", "keeper_start")
    if keeper is not None and keeper.state not in "Tt":
        return None  # it ends what is left, and then records the loss
    return Exit(EndReason.LOST, 0, detail="its shim and its keeper are gone")


def last_lines(folder: str, lines: int) -> list[str]:
    """Return the last lines of a program's errors if they are kept apart, else of its output."""
    return tail(folder, lines, ERRORS) or tail(folder, lines)


def tail(folder: str, lines: int, name: str = NEWEST) -> list[str]:
    """Return the last lines of the output; reads a bounded part, across rotation."""
    parts: list[bytes] = []
    seen: set[int] = set()
    room = _TAIL_BYTES
    # Newest first: after a rotation in between, the older one is then the same file.
    for path in (f"{folder}/{name}", f"{folder}/{name}.1"):
        part, inode = _end_of(path, room)
        if inode not in seen:
            parts.insert(0, part)
            room -= len(part)
        seen.add(inode)
    found = b"".join(parts).decode("utf-8", "replace").split("\n")
    if not found[-1]:
        found.pop()
    return found[-lines:] if lines > 0 else []


def _signal(folder: str, number: int) -> bool:
    shim = _shim(folder)
    if shim is None or table.send(shim, number) is not table.Sent.DELIVERED:
        return False
    # It may have been frozen.
    table.send(shim, signal.SIGCONT)
    return True


def _shim(folder: str) -> table.Process | None:
    # A shim that has recorded the end only has to exit.
    if os.path.exists(f"{folder}/{records.EXIT}"):
        return None
    record = records.read(folder, records.PROCESS)
    return _running(record, "pid", "start") if record else None


def _running(record: records.Record, pid: str, start: str) -> table.Process | None:
    if record.get("boot") != table.boot_id():
        return None
    found = table.look(record[pid])
    return found if found and found.start == record[start] and found.running else None


def _end_of(path: str, room: int) -> tuple[bytes, int]:
    try:
        with open(path, "rb", buffering=0) as file:
            status = os.fstat(file.fileno())
            file.seek(max(0, status.st_size - room))
            return file.read(room), status.st_ino
    except FileNotFoundError:
        return b"", -1
