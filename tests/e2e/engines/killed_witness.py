"""A witness that kills itself at a chosen step.

Run as `python -m tests.e2e.engines.killed_witness STEP ARMED`. A step is the moment before or after
something that delivering a message depends on: an event in the log, a file in an inbox, a prompt,
the start of a program. Steps are counted once the file ARMED exists; at number STEP the process
sends itself SIGKILL, which nothing can catch.
"""

import os
import signal
import sys
from collections.abc import Callable
from itertools import count
from typing import Any

from corral.interfaces.cli.context import Context
from corral.roles.log import Log
from corral.roles.witness import launch
from corral.roles.witness.loop import Witness
from corral.world import processes
from corral.world.engines.runners import inbox

KINDS = ("message.", "session.started", "session.reacted", "session.ended")


class Steps:
    def __init__(self, last: int, armed: str) -> None:
        self._left = last
        self._armed = armed

    def count(self, what: str) -> None:
        if not os.path.exists(self._armed):
            return
        self._left -= 1
        if not self._left:
            sys.stderr.write(f"killed {what}\n")
            sys.stderr.flush()
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, place: Any, name: str, counts: Callable[..., bool] = lambda *_: True) -> None:
        """Make two steps of every call of a function."""
        real = getattr(place, name)

        def wrapped(*given: Any, **more: Any) -> Any:
            if not counts(*given):
                return real(*given, **more)
            self.count(f"before {name}")
            answer = real(*given, **more)
            self.count(f"after {name}")
            return answer

        setattr(place, name, wrapped)


def matters(log: Log, decide: Any) -> bool:
    """Say whether a record is about messages, or about a launch."""
    from corral.world.clock import now

    events = decide(log.store.state(), now())
    return any(event.type.startswith(KINDS) for event in events)


def first_time() -> Callable[..., bool]:
    calls = count()
    return lambda *_: next(calls) == 0


def main() -> None:
    steps = Steps(int(sys.argv[1]), sys.argv[2])
    steps.around(Log, "record", matters)
    for name in ("put", "knock"):  # they are repeated, to no effect
        steps.around(inbox, name, first_time())
    steps.around(launch, "write_prompt")
    steps.around(processes, "start")
    context = Context(None, None, as_json=False)
    Witness(context.writable, context.repository, context.config).run(once=True)


if __name__ == "__main__":
    main()
