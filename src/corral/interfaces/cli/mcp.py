"""`corral mcp`: a bridge for engines that speak MCP over pipes: each line goes to the server.

Nothing is understood on the way: a line is a JSON-RPC message, and the answer is the next line.
"""

import json
import os
import sys
from typing import Any

from corral.interfaces.cli import remote
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.parser import Options

_INTERNAL = -32603
_PARSE = -32700


def bridge(context: Context, options: Options) -> None:
    folder = context.repository.folder
    while line := sys.stdin.buffer.readline(4 << 20):
        if not line.strip():
            continue
        answer = _forwarded(folder, line, context.actor)
        if answer:
            sys.stdout.buffer.write(answer.replace(b"\n", b"") + b"\n")
            sys.stdout.buffer.flush()


def _forwarded(folder: str, line: bytes, actor: str) -> bytes:
    try:
        asked: Any = json.loads(line)
    except ValueError:
        return _error(None, _PARSE, "this line is not JSON")
    number = asked.get("id") if isinstance(asked, dict) else None
    try:
        found = remote.forward(folder, "/mcp", line, actor)
    except remote.Unanswered:
        return _error(number, _INTERNAL, "the server ended before it had answered")
    if found is None:
        return _error(number, _INTERNAL, "no server runs for this repository: corral up")
    status, body = found
    if status < 300 or body.startswith(b'{"jsonrpc"'):
        return body
    return _error(number, _INTERNAL, body.decode("utf-8", "replace")[:500])


def _error(number: Any, code: int, message: str) -> bytes:
    """Return an error for a request; a notification, which has no number, gets no answer."""
    if number is None and code != _PARSE:
        sys.stderr.write(f"corral mcp: {message}{os.linesep}")
        return b""
    error = {"code": code, "message": message}
    return json.dumps({"jsonrpc": "2.0", "id": number, "error": error}).encode()
