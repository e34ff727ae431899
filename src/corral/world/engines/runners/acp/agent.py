"""The agent's process, and the connection to it."""

import asyncio
import os
import time
from collections import deque
from contextlib import suppress

from acp.connection import Connection

from corral.core.engine.facts import Finished, Trouble
from corral.world.engines.runners.acp import trouble
from corral.world.engines.runners.acp.client import Client
from corral.world.engines.runners.acp.wire import Wire
from corral.world.engines.runners.emit import remark
from corral.world.engines.runners.orders import AcpOrder
from corral.world.processes import termination

_LAST_LINES = 5
_LINE = 4000


class Agent:
    def __init__(self, process: asyncio.subprocess.Process, client: Client, stop_s: float) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self.process = process
        self._stop_s = stop_s
        self._words: deque[str] = deque(maxlen=_LAST_LINES)
        self.wire = Wire(process.stdout, process.stdin, self._aside)
        self.connection = Connection(client.handle, self.wire)
        self._errors = asyncio.ensure_future(self._read_errors())

    @classmethod
    async def start(cls, order: AcpOrder, client: Client) -> "Agent":
        process = await asyncio.create_subprocess_exec(
            *order.argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        return cls(process, client, order.stop_s)

    @property
    def is_over(self) -> bool:
        return self.process.returncode is not None

    async def crash(self) -> Finished:
        """Say how the process ended, shortly after it closed its output."""
        if self.wire.broken:
            return Finished(Trouble.OTHER, self.wire.broken)
        how = "the agent closed its output"
        with suppress(TimeoutError):
            code = await asyncio.wait_for(self.process.wait(), self._stop_s)
            await asyncio.wait({self._errors}, timeout=1)
            ended = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
            how = f"the agent {ended}"
        return trouble.of_crash(how, " / ".join(self._words))

    async def end(self) -> None:
        """End the agent and everything it started: ask, then kill.

        A detached process that lost its parent is beyond our reach, but not beyond the shim's.
        """
        with suppress(TimeoutError):
            await asyncio.wait_for(self.connection.close(), self._stop_s)
        # Most agents end when their input does; some only after a signal.
        if not await self._is_gone():
            termination.terminate(os.getpid())
            await self._is_gone()
        deadline = time.monotonic() + self._stop_s
        while termination.kill(os.getpid()).signalled and time.monotonic() < deadline:
            await asyncio.sleep(0.02)
        await self._is_gone()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._drain(), self._stop_s)
        self._errors.cancel()

    async def _drain(self) -> None:
        """Read the rest of the output, or the event loop complains about open pipes."""
        source = self.process.stdout
        assert source is not None
        while await source.read(65_536):
            pass
        await self._errors

    async def _is_gone(self) -> bool:
        with suppress(TimeoutError):
            await asyncio.wait_for(self.process.wait(), self._stop_s)
        return self.is_over

    async def _read_errors(self) -> None:
        """Print the agent's standard error as whole lines."""
        source = self.process.stderr
        assert source is not None
        held = b""
        while part := await source.read(65_536):
            *lines, held = (held + part).split(b"\n")
            if len(held) > _LINE:
                lines, held = [*lines, held], b""
            for line in lines:
                self._aside(line.decode("utf-8", "replace"))
        self._aside(held.decode("utf-8", "replace"))

    def _aside(self, line: str) -> None:
        if line.strip():
            self._words.append(line.strip()[:300])
            remark(line)
