"""Leave nothing behind: no process of the demo's sessions, no keeper."""

import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from glob import glob
from os.path import join
from pathlib import Path

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
    while keepers and time.monotonic() < deadline:
        time.sleep(_LOOK_S)
        keepers = [one for one in keepers if table.is_running(one.pid, one.start, boot)]
    left = [f"{one.command} ({one.pid})" for one in processes.strays(git_dir, ())]
    return [*left, *(f"the keeper ({one.pid})" for one in keepers)]


def _keepers(git_dir: str) -> Iterator[table.Process]:
    """Yield the keepers of sessions and checks that still run."""
    places = (("*", "*", ""), ("*", "*", "*", ""))
    folders = [folder for place in places for folder in glob(join(git_dir, "corral", *place))]
    named = {(records.read(folder, records.PROCESS) or {}).get("keeper_pid") for folder in folders}
    for pid in named - {None}:
        found = table.look(int(str(pid)))
        with suppress(OSError):
            if found is not None and Path(f"/proc/{pid}/comm").read_bytes().strip() == _KEEPER:
                yield found
