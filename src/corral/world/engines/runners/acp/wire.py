"""Messages to and from an agent's standard streams: bounded, in order, and never trusted.

This replaces the SDK's transport, behind its interface. The SDK's loop ends at the first JSON
message that is neither a request nor a response, has no limit on the size of a message, and starts
a task per update as fast as it can read.
"""

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

LONGEST = 32 << 20  # bytes of one message, which may contain whole files


class Wire:
    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        aside: Callable[[str], None],
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._aside = aside
        self.heard = time.monotonic()
        self.broken = ""

    async def send(self, message: dict[str, Any]) -> None:
        self._writer.write(json.dumps(message, separators=(",", ":")).encode() + b"\n")
        await self._writer.drain()

    async def receive(self) -> dict[str, Any] | None:
        """Return the next valid message; None at the end."""
        while True:
            # Let the handler of the previous message run first, so that nothing piles up.
            await asyncio.sleep(0)
            line = await self._line()
            if not line:
                return None
            if (message := _message(line)) is not None:
                self.heard = time.monotonic()
                return message
            if line.strip():
                self._aside(line[:2000].decode("utf-8", "replace"))

    async def _line(self) -> bytes:
        """Return the next whole line; empty at the end, or if it is too long."""
        parts: list[bytes] = []
        room = LONGEST
        while room > 0:
            try:
                return b"".join([*parts, await self._reader.readuntil(b"\n")])
            except asyncio.LimitOverrunError as error:
                # The buffer is small, so that a fast agent has to wait for us.
                parts.append(await self._reader.readexactly(error.consumed))
                room -= error.consumed
            except (asyncio.IncompleteReadError, ConnectionError):
                return b""
        self.broken = f"the agent sent a message of more than {LONGEST >> 20} MB"
        return b""

    async def close(self) -> None:
        self._writer.close()


def _message(line: bytes) -> dict[str, Any] | None:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or not isinstance(message.get("id"), int | str | None):
        return None
    if "method" in message:
        return message if isinstance(message["method"], str) else None
    if message.get("error") is not None:
        message["error"] = _error(message["error"])
    return message


def _error(error: Any) -> dict[str, Any]:
    if not isinstance(error, dict):
        return {"code": -32603, "message": str(error)}
    code, words = error.get("code"), error.get("message")
    return {
        "code": code if isinstance(code, int) else -32603,
        "message": words if isinstance(words, str) else "an error without a message",
        "data": error.get("data"),
    }
