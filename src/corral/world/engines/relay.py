"""Passes an engine's requests on to its model, and tells what is seen of them.

    python -m corral.world.engines.relay UPSTREAM VARIABLE PROGRAM ...

Some engines say nothing before they end: not that their model is silent, nor that it refuses them.
Such an engine is started by this program and finds its model at an address on loopback (in
VARIABLE). All passes through as it is, both ways, keys included; nothing of it is kept. What is
told, as facts, is whose turn it is, and what went wrong: by the status of HTTP, not by words of the
engine. How long an answer may take is not decided here, but by whoever reads the facts.
"""

import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import SplitResult, urlsplit

from corral.core.facts import Fact, Limited, Trouble, Turn
from corral.world.engines.telling import remark, shortened, tell
from corral.world.engines.troubles import retry_of, trouble_of

_HOP = frozenset(
    {"connection", "keep-alive", "proxy-authorization", "te", "trailer", "transfer-encoding"}
    | {"upgrade", "host", "content-length", "accept-encoding", "expect"}
)
_CONNECT_S = 60
_LOOK_S = 1.0  # between two looks whether the engine still waits
_AGAIN_S = 5  # between two signs of life of one answer
_LONGEST_ERROR = 64 << 10
_AT_ONCE = 64 << 10


def argv_of(upstream: str, variable: str, program: list[str]) -> list[str]:
    """Return the command that runs a program behind a relay."""
    # Isolated: neither the session's tree nor its variables can put a module in our way.
    python = [sys.executable, "-I", "-X", "utf8", "-m", "corral.world.engines.relay"]
    return [*python, upstream, variable, *program]


class Relay(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, upstream: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.upstream: SplitResult = urlsplit(upstream)
        self._under_way = 0
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}{self.upstream.path}"

    def begun(self) -> None:
        with self._lock:
            self._under_way += 1
            tell(Turn(model=True))

    def ended(self) -> None:
        """Give the turn back to the engine, once it waits for nothing any more."""
        with self._lock:
            self._under_way -= 1
            if not self._under_way:
                tell(Turn(model=False))

    def connection(self) -> HTTPConnection:
        kind = HTTPSConnection if self.upstream.scheme == "https" else HTTPConnection
        return kind(self.upstream.hostname or "", self.upstream.port, timeout=_CONNECT_S)

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exception()
        if not isinstance(error, ConnectionError):  # engines may hang up on us
            remark(f"relay: {type(error).__name__}: {error}")


class _Handler(BaseHTTPRequestHandler):
    server: Relay
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._pass_on()

    do_HEAD = do_POST = do_PUT = do_DELETE = do_OPTIONS = do_GET

    def log_message(self, format: str, *args: Any) -> None:
        """Stay quiet: paths and headers are nobody's business."""

    def _pass_on(self) -> None:
        body = b"".join(self._body())
        self._over, self._ending = threading.Event(), threading.Lock()
        # All else (which models there are) is no turn of the model.
        self._counts = self.command == "POST"
        if self._counts:
            self.server.begun()
        connection = self.server.connection()
        threading.Thread(target=self._until_left, args=(connection,), daemon=True).start()
        try:
            self._answer(self._ask(connection, body))
        except _Lost as lost:
            self._leave(str(lost))
        finally:
            self._end_turn()
            connection.close()

    def _ask(self, connection: HTTPConnection, body: bytes) -> HTTPResponse:
        headers = {n: v for n, v in self.headers.items() if n.lower() not in _HOP}
        headers["Accept-Encoding"] = "identity"  # errors are to be read here, too
        with _upstream():
            connection.connect()
            # From here on a silence is for the harness to judge: it knows how long is too long.
            connection.sock.settimeout(None)
            connection.request(self.command, self.path, body or None, headers)
            return connection.getresponse()

    def _until_left(self, connection: HTTPConnection) -> None:
        """Give a request up when the engine does: nobody else would end the wait for its answer."""
        while not self._over.wait(_LOOK_S):
            readable = select.select([self.connection], [], [], 0)[0]
            if readable and not self.connection.recv(1, socket.MSG_PEEK):
                self._end_turn()
                with suppress(OSError, AttributeError):  # there may be no connection yet, or none
                    connection.sock.shutdown(socket.SHUT_RDWR)

    def _end_turn(self) -> None:
        with self._ending:
            if self._counts and not self._over.is_set():
                self.server.ended()
            self._over.set()

    def _tell(self, fact: Fact) -> None:
        if self._counts and not self._over.is_set():
            tell(fact)

    def _body(self) -> Iterator[bytes]:
        if "chunked" not in (self.headers.get("transfer-encoding") or "").lower():
            yield self.rfile.read(int(self.headers.get("content-length") or 0))
            return
        while size := int(self.rfile.readline().split(b";")[0], 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _answer(self, answer: HTTPResponse) -> None:
        if answer.status >= 400:
            self._refuse(answer)
            return
        self._tell(Turn(model=True, heard=True))
        length = answer.getheader("content-length")
        bare = self.command == "HEAD" or answer.status in (204, 304)
        self._head(answer, None if length is None else int(length), bare=bare)
        last = time.monotonic()
        while data := b"" if bare else _read(answer):
            if time.monotonic() - last > _AGAIN_S:
                last = time.monotonic()
                self._tell(Turn(model=True, heard=True))
            self._send(data, whole=length is not None)
        if length is not None and answer.length:
            raise _Lost("cut off: the answer is too short")
        # First said, then passed on: what the engine does next comes after it.
        self._end_turn()
        if length is None and not bare:
            self.wfile.write(b"0\r\n\r\n")

    def _refuse(self, answer: HTTPResponse) -> None:
        with _upstream():
            said = answer.read(_LONGEST_ERROR)
        found = _trouble(answer, said.decode("utf-8", "replace"))
        if found.trouble is not Trouble.REQUEST:  # then it asks in another way, or ends
            self._tell(found)
        self._end_turn()
        self._head(answer, len(said))
        self.wfile.write(said)
        self.close_connection = True

    def _send(self, data: bytes, *, whole: bool) -> None:
        self.wfile.write(data if whole else b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _head(self, answer: HTTPResponse, length: int | None, *, bare: bool = False) -> None:
        self.send_response(answer.status, answer.reason)
        for name, value in answer.getheaders():
            if name.lower() not in _HOP:
                self.send_header(name, value)
        if length is not None:
            self.send_header("Content-Length", str(length))
        elif not bare:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _leave(self, how: str) -> None:
        """Leave the engine without an answer, as its model left us."""
        self._tell(Limited(Trouble.NETWORK, text=how))
        self._end_turn()
        self.close_connection = True
        with suppress(OSError):  # it may have gone first
            self.connection.shutdown(socket.SHUT_RDWR)


class _Lost(Exception):
    """The other side is not there, or is not there any more."""


@contextmanager
def _upstream() -> Iterator[None]:
    """Tell errors of the other side from those of the engine."""
    try:
        yield
    except (HTTPException, OSError) as error:
        what = getattr(error, "strerror", None) or type(error).__name__
        raise _Lost(f"cut off: {what}") from error


def _read(answer: HTTPResponse) -> bytes:
    with _upstream():
        return answer.read1(_AT_ONCE)


def _trouble(answer: HTTPResponse, said: str) -> Limited:
    text = f"HTTP {answer.status} {answer.reason}: {' '.join(said.split())}"
    after = answer.getheader("retry-after") or ""
    wait = float(after) if after.replace(".", "", 1).isdigit() else retry_of(said)
    return Limited(trouble_of(answer.status, said), retry_s=wait, text=shortened(text, 400))


def main(upstream: str, variable: str, *program: str) -> int:
    relay = Relay(upstream)
    threading.Thread(target=relay.serve_forever, args=(0.2,), daemon=True).start()
    engine = subprocess.Popen(program, env={**os.environ, variable: relay.url})
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda given, _: engine.send_signal(given))
    code = engine.wait()
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
