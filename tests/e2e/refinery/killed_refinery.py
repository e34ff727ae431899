"""A refinery that is killed right after each write to the log, to git or to the machine.

Run as `python -m tests.e2e.refinery.killed_refinery REPOSITORY LIVES`. Each life is its own
process, forked from one that has only done imports. It dies by SIGKILL after its first write, or
exits normally if there was nothing to write. The write that killed it is printed.
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
        if done is not False:  # there was nothing to do
            _die(what)
        return done

    setattr(owner, name, replaced)


def make_mortal() -> None:
    record, run = Log.record, View.run

    def recorded(self: Log, decide: Any, key: str = "") -> None:
        before = self.store.state().seq
        record(self, decide, key)
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


def live(repository: str) -> int:
    """Live once; return the exit code, or the negative signal."""
    from corral.interfaces.cli.main import run as corral

    child = os.fork()
    if child == 0:
        make_mortal()
        os._exit(corral(["--repo", repository, "refinery", "run", "--once"]))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    import corral.roles.refinery.loop  # noqa: F401  # once, not in every life

    for _ in range(int(sys.argv[2])):
        code = live(sys.argv[1])
        if code != -signal.SIGKILL:
            sys.exit(code)
    sys.exit("it never came to an end")
