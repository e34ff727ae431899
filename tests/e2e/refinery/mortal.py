"""A refinery that is killed right after each thing it writes, to the log, to git or to the machine.

Run as a program: `python -m tests.e2e.refinery.mortal REPOSITORY`. It ends by SIGKILL after its
first write, or in peace if there was nothing to write.
"""

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from corral.roles.log import Log
from corral.world import processes
from corral.world.git.refs import Git
from corral.world.git.view import View


def _die(what: str) -> None:
    os.write(2, f"{what}\n".encode())
    os.kill(os.getpid(), signal.SIGKILL)


def _deadly(owner: Any, name: str, what: str) -> None:
    """Have a function kill us when it has done its work."""
    original: Callable[..., Any] = getattr(owner, name)

    def replaced(*args: Any, **kwargs: Any) -> Any:
        done = original(*args, **kwargs)
        if done is not False:
            _die(what)
        return done

    setattr(owner, name, replaced)


def make_mortal() -> None:
    record, run = Log.record, View.run

    def recorded(self: Log, decide: Any) -> None:
        before = self.store.state().seq
        record(self, decide)
        state = self.store.state()
        if state.seq != before:
            _die(f"log {state.seq}")

    def ran(self: View, *args: str, **kwargs: Any) -> bytes:
        done = run(self, *args, **kwargs)
        if args[0] == "update-ref":
            _die(f"git {' '.join(args)[:80]}")
        return done

    Log.record = recorded  # type: ignore[method-assign]
    View.run = ran  # type: ignore[method-assign]
    _deadly(Git, "land", "git land")
    _deadly(processes, "start", "check started")
    _deadly(processes, "ask_stop", "check stopped")


if __name__ == "__main__":
    from corral.interfaces.cli.main import run as corral

    make_mortal()
    sys.exit(corral(["--repo", sys.argv[1], "refinery", "run", "--once"]))
