"""HTTP on a connection, with the bounds that uvicorn does not set.

The head of a request has a time limit and a size limit, and the number of connections is bounded:
a client that only opens connections, or sends a byte at a time, holds up nobody.
"""

import asyncio
import resource
from typing import Any, ClassVar

import msgspec
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

HEAD_S = 10.0
HEAD_BYTES = 65_536
MOST = 4000
_OTHERS = 200  # open files that are not connections


def room_for_connections() -> int:
    """Raise the limit of open files, and return how many connections it leaves room for."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST + _OTHERS
    if soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return min(MOST, max(1, soft - _OTHERS))


class Protocol(HttpToolsProtocol):
    most: ClassVar[int] = MOST

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._deadline: asyncio.TimerHandle | None = None
        self._head_bytes = 0
        self._in_head = True
        self._begun = False

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > self.most:
            self._refuse(503, "too_many", "too many connections")
            return
        self._deadline = self.loop.call_later(HEAD_S, self._too_slow)

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._begun = False
        super().data_received(data)
        # The chunk in which a request begins may hold others before it: only later chunks count.
        if self._in_head and not self._begun and not self.transport.is_closing():
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES:
                self._refuse(431, "too_large", "the head of the request is too long")

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope["state"]["abort"] = self.transport.abort
        self._in_head, self._begun, self._head_bytes = True, True, 0
        if self._deadline is None:
            self._deadline = self.loop.call_later(HEAD_S, self._too_slow)

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._stop_waiting()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, "bad_input", "the request is not valid HTTP")

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_slow(self) -> None:
        self._deadline = None
        if not self.transport.is_closing():
            self._refuse(408, "too_slow", f"no request came within {HEAD_S:g} s")

    def _refuse(self, status: int, code: str, message: str) -> None:
        error = {"code": code, "message": message, "hint": ""}
        body = msgspec.json.encode({"ok": False, "error": error})
        head = b"content-type: application/json\r\nconnection: close\r\ncontent-length: %d\r\n\r\n"
        self.transport.write(STATUS_LINE[status] + head % len(body) + body)
        self.transport.close()
