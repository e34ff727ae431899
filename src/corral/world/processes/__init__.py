"""Processes: the only place that starts, watches and ends the program of a session.

    witness ── start() ──► keeper ── fork ──► shim ── exec ──► program ─► whatever it starts
                           one per repository one per session

Nothing here depends on the witness. A session is its folder: `process.json` (its processes),
`output`, `output.1`, `output.head`, and `exit.json` (how it ended). So any later witness can take
over.
Read `shim.py` next, then `keeper.py` and `client.py`.

Considered and rejected:
- The witness as the parent: exit codes and pipes die with it.
- A fresh interpreter for each shim: 6 MB and 30 ms of CPU each; a fork of the keeper adds 1 MB.
- Preparing the launch in the shim (1.7 MB each): the program's process does it and then execs.
- Killing the process group, or walking the children: both miss processes that detached (setsid,
  double fork).
- cgroups and pid namespaces: they leave nothing behind either, but need privileges that containers
  and ordinary users often lack, and a namespace hides the agents from the user's own `ps`.
- A stream socket for requests: the keeper would have to wait for slow callers. A datagram that
  carries open files arrives whole or not at all, and the answer bypasses the keeper.
- The launch as a file in the folder: it contains the environment, and so secrets.

The names below are loaded on first use: the keeper is imported through this package, without the
client and its dependencies.
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
