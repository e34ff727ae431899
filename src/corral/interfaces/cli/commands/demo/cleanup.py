"""Leave nothing behind: no process of the demo's sessions, no keeper, no folder."""

import os
import shutil
import signal
import time
from collections.abc import Iterator
from glob import glob
from os.path import join

from corral.world import processes
from corral.world.processes import records, table

_KEEPER = b"corral-keeper"
_END_S = 15.0
_LOOK_S = 0.02


def end_all(repo: str) -> list[str]:
    """Stop the remaining sessions of a repository and its keeper; return what does not stop."""
    git_dir = join(repo, ".git")
    keepers = list(_keepers(git_dir))
    processes.end(processes.strays(git_dir, ()))
    for keeper in keepers:
        table.send(keeper, signal.SIGTERM)
    deadline = time.monotonic() + _END_S
    boot = table.boot_id()
    while any(table.is_running(one.pid, one.start, boot) for one in keepers):
        if time.monotonic() > deadline:
            break
        time.sleep(_LOOK_S)
    left = [f"{one.command} ({one.pid})" for one in processes.strays(git_dir, ())]
    still = [one for one in keepers if table.is_running(one.pid, one.start, boot)]
    return [*left, *(f"the keeper ({one.pid})" for one in still)]


def _keepers(git_dir: str) -> Iterator[table.Process]:
    """Yield the keepers of sessions and checks that still run."""
    folders = glob(join(git_dir, "corral", "*", "*", "")) + glob(
        join(git_dir, "corral", "*", "*", "*", "")
    )
    named = {(records.read(folder, records.PROCESS) or {}).get("keeper_pid") for folder in folders}
    for pid in named - {None}:
        found = table.look(int(str(pid)))
        if found is not None and _name(found.pid) == _KEEPER:
            yield found


def _name(pid: int) -> bytes:
    try:
        with open(f"/proc/{pid}/comm", "rb") as file:
            return file.read().strip()
    except OSError:
        return b""


def remove(folder: str) -> None:
    """Delete a folder, even while the last of its files are being deleted."""
    for _ in range(50):
        shutil.rmtree(folder, ignore_errors=True)
        if not os.path.lexists(folder):
            return
        time.sleep(_LOOK_S)
    shutil.rmtree(folder)
