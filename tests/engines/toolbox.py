"""A small MCP server for tests, over HTTP and over pipes. Its one tool keeps notes.

As a program (`python toolbox.py FILE`) it speaks over its pipes and appends what it is told to a
file. Nothing but Python's own library is used, because engines start it with any Python.
"""

import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_TOOL = {
    "name": "note",
    "description": "Keeps a note. Answers with the number of notes.",
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    },
}


def answer(asked: dict[str, Any], notes: list[str]) -> dict[str, Any] | None:
    """Return the answer to a message; None if it wants none."""
    if "id" not in asked:
        return None
    match asked.get("method"):
        case "initialize":
            result: dict[str, Any] = {
                "protocolVersion": asked["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "toolbox", "version": "1"},
            }
        case "tools/list":
            result = {"tools": [_TOOL]}
        case "tools/call":
            notes.append(asked["params"]["arguments"]["text"])
            said = {"type": "text", "text": f"note number {len(notes)} is kept"}
            result = {"content": [said], "isError": False}
        case "ping":
            result = {}
        case other:
            error = {"code": -32601, "message": f"no method {other}"}
            return {"jsonrpc": "2.0", "id": asked["id"], "error": error}
    return {"jsonrpc": "2.0", "id": asked["id"], "result": result}


class Toolbox(ThreadingHTTPServer):
    """Each path is a separate box; a request without the token is rejected."""

    daemon_threads = True

    def __init__(self, token: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.token = token
        self.notes: dict[str, list[str]] = {}
        self.refused = 0

    def url(self, box: str) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/{box}"


class _Handler(BaseHTTPRequestHandler):
    server: Toolbox
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("authorization") != f"Bearer {self.server.token}":
            self.server.refused += 1
            self._send(401, b"")
            return
        notes = self.server.notes.setdefault(self.path.strip("/"), [])
        said = answer(json.loads(raw), notes)
        self._send(202 if said is None else 200, b"" if said is None else json.dumps(said).encode())

    def do_GET(self) -> None:
        self._send(405, b"")

    def do_DELETE(self) -> None:
        self._send(200, b"")

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Stay quiet."""


@contextmanager
def toolbox(token: str) -> Iterator[Toolbox]:
    server = Toolbox(token)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def main(path: str) -> None:
    notes: list[str] = []
    for line in sys.stdin:
        before = len(notes)
        said = answer(json.loads(line), notes)
        with open(path, "a") as file:
            file.writelines(f"{note}\n" for note in notes[before:])
        if said is not None:
            print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
