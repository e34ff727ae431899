"""Start a runner as the shim would, and read what it prints."""

import os
import signal
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from corral.core.engine.facts import AnyFact, Fact, Finished, Said
from corral.world.engines.runners import inbox
from corral.world.engines.runners.inbox import InboxMessage
from corral.world.engines.runners.orders import AcpOrder, Order, runner_argv
from tests import patience
from tests.patience import PATIENCE_S

AGENT = str(Path(__file__).with_name("scripted_agent.py"))
_decode = msgspec.json.Decoder(AnyFact).decode
_numbers: defaultdict[str, Iterator[int]] = defaultdict(lambda: count(1))  # by room


def until(condition: Callable[[], Any], limit_s: float = PATIENCE_S) -> Any:
    """Wait for something that a runner does."""
    return patience.until(condition, "what the calling line names", limit_s)


class Running:
    """A runner that runs; its lines are read as they come."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self.lines: list[str] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.decode())

    @property
    def facts(self) -> list[Fact]:
        return [_decode(line) for line in self.lines if not line.startswith("# ")]

    def saw(self, kind: type[Fact]) -> Callable[[], list[Any]]:
        return lambda: [fact for fact in self.facts if isinstance(fact, kind)]

    def text(self) -> str:
        return "".join(fact.text for fact in self.facts if isinstance(fact, Said))

    def end(self) -> int:
        """Wait for its end, and return the exit code."""
        code = self.process.wait(PATIENCE_S)
        self._reader.join(PATIENCE_S)
        return code

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.end()

    @property
    def finished(self) -> Finished:
        """The last fact; it is always this one, and there is only one."""
        found = self.saw(Finished)()
        assert len(found) == 1, self.lines
        assert self.facts[-1] is not None
        assert isinstance(self.facts[-1], Finished), self.lines
        last: Finished = found[0]
        return last


@contextmanager
def running(order: Order, first: str, tree: Path, **env: str) -> Iterator[Running]:
    tree.mkdir(exist_ok=True)
    argv, variables = runner_argv(order)
    given = {"PATH": os.environ["PATH"], "HOME": str(tree), **env, **variables}
    process = subprocess.Popen(
        argv,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        cwd=tree,
        env=given,
    )
    assert process.stdin is not None
    process.stdin.write(first.encode())
    process.stdin.close()
    runner = Running(process)
    try:
        yield runner
    finally:
        if process.poll() is None:
            process.kill()
        runner.end()
        assert process.stdout is not None
        process.stdout.close()


def scripted(room: Path, script: str = "", **more: Any) -> AcpOrder:
    """Return an order for the scripted agent."""
    more = {"start_s": 30, "stop_s": 3} | more
    return AcpOrder(room=str(room), argv=(sys.executable, AGENT, script), **more)


def send(room: str | Path, text: str, answers: str = "") -> str:
    """Put the next message of the log into an inbox, as the witness does; return its name.

    The numbers are counted here: files may move while they are counted, and a message with the
    name of an earlier one is not put.
    """
    name = f"m-{next(_numbers[str(room)])}"
    inbox.put(str(room), InboxMessage(name, text, answers))
    return name
