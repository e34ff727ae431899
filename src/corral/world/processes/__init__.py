"""Processes: the only place that starts, watches and ends the program of a session.

`docs/architecture.md` explains keeper and shim. Nothing here depends on the witness: a session is
its folder with `process.json`, `output`, `output.1`, `output.head` and `exit.json`. Read `shim.py`
next, then `keeper.py` and `client.py`. The names below are loaded on first use, because the keeper
is imported through this package, without the client and its dependencies.
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
        insist,
        last_lines,
        outcome,
        ran,
        read_exit,
        tail,
    )

__all__ = ["RUN_VARIABLE", "SESSION_VARIABLE", "CouldNotStart", "EndReason", "Exit", "Launch"]
__all__ += ["Started", "Stray", "Usage", "end", "start", "strays", "usage", "withdraw"]
__all__ += ["alive", "ask_stop", "force_stop", "insist", "last_lines", "outcome", "ran"]
__all__ += ["read_exit", "tail"]


def __getattr__(name: str) -> object:
    from importlib import import_module

    for home in ("model", "session_folder", "inventory", "client") if name in __all__ else ():
        module = import_module(f"{__name__}.{home}")
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
