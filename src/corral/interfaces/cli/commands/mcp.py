"""`corral mcp`: a bridge for engines that speak MCP over pipes: each line goes to the server.

The bridge interprets nothing: a line is a JSON-RPC message, and the answer is the next line.
"""

import json
import os
import sys
import time
from typing import Any

from corral.interfaces.cli import remote
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.parser import Options

_INTERNAL = -32603
_PARSE = -32700
_BACK_S = 30.0
_BETWEEN_S = 0.2


def bridge(context: Context, options: Options) -> None:
    line_to = _Line(context.repository.folder, context.actor)
    while line := sys.stdin.buffer.readline(4 << 20):
        if not line.strip():
            continue
        answer = line_to.forwarded(line)
        if answer:
            sys.stdout.buffer.write(answer.replace(b"\n", b"") + b"\n")
            sys.stdout.buffer.flush()


class _Line:
    """The connection to the server. If the server ends, wait until it is started again."""

    def __init__(self, folder: str, actor: str) -> None:
        self._folder = folder
        self._actor = actor
        self._met = False

    def forwarded(self, line: bytes) -> bytes:
        try:
            asked: Any = json.loads(line)
        except ValueError:
            return _error(None, _PARSE, "this line is not JSON")
        number = asked.get("id") if isinstance(asked, dict) else None
        found = self._answered(line)
        if isinstance(found, str):
            return _error(number, _INTERNAL, found)
        status, body = found
        if status < 300 or body.startswith(b'{"jsonrpc"'):
            return body
        return _error(number, _INTERNAL, body.decode("utf-8", "replace")[:500])

    def _answered(self, line: bytes) -> tuple[int, bytes] | str:
        """Ask until there is an answer, always with the same key, so it is carried out once."""
        key = os.urandom(12).hex()
        deadline = time.monotonic() + _BACK_S
        while True:
            try:
                found = remote.forward(self._folder, "/mcp", line, self._actor, key)
            except remote.Unanswered:
                self._met, found = True, None
            if found is not None:
                self._met = True
                return found
            if not self._met or time.monotonic() > deadline:
                return "no server is running for this repository: corral up"
            time.sleep(_BETWEEN_S)


def _error(number: Any, code: int, message: str) -> bytes:
    """Return an error for a request; a notification, which has no number, gets no answer."""
    if number is None and code != _PARSE:
        sys.stderr.write(f"corral mcp: {message}{os.linesep}")
        return b""
    error = {"code": code, "message": message}
    return json.dumps({"jsonrpc": "2.0", "id": number, "error": error}).encode()
