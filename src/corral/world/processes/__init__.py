"""Processes: the one place that starts a session's program, watches it and ends it.

    witness ── start() ──► keeper ── fork ──► shim ── exec ──► program ─► whatever it starts
                           one a repository   one a session

Nothing here lives in the witness. A session is its folder: `process.json` (who runs), `output`,
`output.1`, `output.head`, and `exit.json` (how it ended), so any later witness can take over.
Read `shim.py` next, then `keeper.py` and `client.py`.

Considered and rejected:
- The witness as the parent: exit codes and pipes die with it.
- A fresh interpreter for each shim: 6 MB and 30 ms of CPU each; a fork of the keeper adds 1 MB.
- Preparing the launch in the shim (1.7 MB each): the program's process does it and then execs.
- Killing the process group, or walking the children: both miss who detached (setsid, double fork).
- cgroups and pid namespaces: leave nothing behind either, but need rights that containers and
  ordinary users often lack, and a namespace hides the agents from the user's own `ps`.
- A stream socket for requests: the keeper would have to wait for slow callers. One datagram with
  open files inside is either there or not, and the answer goes around the keeper.
- The launch as a file in the folder: it holds the environment, and with it secrets.

The names below are loaded when first used: the keeper is imported through this package, without
the client and what that needs.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from corral.world.processes.client import start, withdraw
    from corral.world.processes.inventory import end, strays, usage
    from corral.world.processes.model import (
        RUN_VARIABLE,
        SESSION_VARIABLE,
        CouldNotStart,
        EndReason,
        Exit,
        Launch,
        Started,
        Stray,
        Usage,
    )
    from corral.world.processes.session_folder import (
        alive,
        ask_stop,
        force_stop,
        last_lines,
        outcome,
        ran,
        read_exit,
        tail,
    )

_HOMES = {
    "client": ("start", "withdraw"),
    "inventory": ("end", "strays", "usage"),
    "model": (
        "RUN_VARIABLE",
        "SESSION_VARIABLE",
        "CouldNotStart",
        "Exit",
        "Launch",
        "EndReason",
        "Started",
        "Stray",
        "Usage",
    ),
    "session_folder": (
        "alive",
        "ask_stop",
        "force_stop",
        "last_lines",
        "outcome",
        "ran",
        "read_exit",
        "tail",
    ),
}

__all__ = [
    "RUN_VARIABLE",
    "SESSION_VARIABLE",
    "CouldNotStart",
    "EndReason",
    "Exit",
    "Launch",
    "Started",
    "Stray",
    "Usage",
    "alive",
    "ask_stop",
    "end",
    "force_stop",
    "last_lines",
    "outcome",
    "ran",
    "read_exit",
    "start",
    "strays",
    "tail",
    "usage",
    "withdraw",
]


def __getattr__(name: str) -> object:
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
