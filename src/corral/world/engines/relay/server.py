"""Forwards an engine's requests to its model, and reports what it sees of them.

    python -m corral.world.engines.relay.server UPSTREAM PROGRAM ...

It starts the engine, with a loopback address for `PLACE` in its arguments and variables. Everything
is forwarded unchanged, keys included, and nothing is stored. Its facts say whose turn it is, what
was used, and what went wrong: many engines do not. `relay.reader` reads them.
"""

import os
import select
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import msgspec

from corral.core.engine.facts import Fact, Finished, Limited, Trouble, Turn
from corral.core.redaction import redacted
from corral.world.engines.relay.limits import wait_of
from corral.world.engines.relay.reader import MARK, PLACE
from corral.world.engines.relay.usage import ResponseReader
from corral.world.engines.runners.emit import shortened, write
from corral.world.engines.troubles import reset_of, retry_of, trouble_of

_HOP = {"connection", "keep-alive", "proxy-authorization", "te", "trailer", "transfer-encoding"}
_HOP |= {"upgrade", "expect"}
_ASKED = _HOP | {"host", "accept-encoding"}  # request headers that are meant for us, or that we set
_PROXIES = {"http_proxy", "https_proxy", "all_proxy"}
_CONNECT_S = 60
_LOOK_S = 1.0  # between checks that the engine still waits
_SURE_S = 1.0  # a response has begun once it lasts this long; some break off at once
_AGAIN_S = 5.0  # between two signs of life of one response
_SILENT_S = 5.0  # a client that hangs up after this much silence does so because of it
_LINE_S = 5.0  # how long facts wait for the engine to finish its line
_SETTLE_S = 2.0  # how long requests may outlive the engine
_SIGNAL_S = 0.5
_RARELY_S = 3600.0  # poll interval of a server that ends with the engine
_LONGEST_ERROR = 64 << 10
_AT_ONCE = 64 << 10
_QUOTED = 400
_CANNOT = 127


class Printer:
    """Standard output, shared by the engine and the relay: facts go between the engine's lines."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._between = True  # at the beginning of a line
        self._waiting: list[bytes] = []

    def tell(self, fact: Fact) -> None:
        with self._lock:
            self._waiting.append(MARK + msgspec.json.encode(fact) + b"\n")
            if self._between:
                self._release()

    def take(self, data: bytes) -> None:
        """Print the engine's output."""
        if not data:
            return
        with self._lock:
            end = data.find(b"\n") + 1 if self._waiting else 0
            write(data[:end])
            if end:
                self._release()
            write(data[end:])
            self._between = data.endswith(b"\n")

    def interrupt(self) -> None:
        """Print the waiting facts in the middle of a line: the engine may never finish it."""
        with self._lock:
            if self._waiting:
                write(b"" if self._between else b"\n")
                self._release()
                self._between = True

    def _release(self) -> None:
        for line in self._waiting:
            write(line)
        self._waiting.clear()


class Relay(ThreadingHTTPServer):
    request_queue_size = 64

    def __init__(self, upstream: str, printer: Printer) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.upstream = urlsplit(upstream)
        self.tell = printer.tell
        self._in_flight = 0
        self._refusal: Limited | None = None  # of one request, while others are in flight
        self._changed = threading.Condition()

    def begun(self) -> None:
        with self._changed:
            self._in_flight += 1
            self.tell(Turn(model=True))

    def heard(self) -> None:
        """Report that the model is responding."""
        with self._changed:
            self._refusal = None
            self.tell(Turn(model=True, heard=True))

    def ended(self, refusal: Limited | None, *, heard: bool) -> None:
        """Give the turn back to the engine once it has no request in flight.

        Only then does a refusal count: an engine that gets responses is not limited.
        """
        with self._changed:
            self._in_flight -= 1
            self._refusal = refusal or (None if heard else self._refusal)
            if self._in_flight:
                if heard:
                    self.tell(Turn(model=True, heard=True))
                return
            if self._refusal:
                self.tell(self._refusal)
                self._refusal = None
            self.tell(Turn(model=False, heard=heard))
            self._changed.notify_all()

    def settle(self) -> None:
        """Wait briefly for requests to end."""
        with self._changed:
            self._changed.wait_for(lambda: not self._in_flight, _SETTLE_S)

    def connection(self) -> HTTPConnection:
        host, port = self.upstream.hostname or "", self.upstream.port
        if self.upstream.scheme == "https":
            return HTTPSConnection(host, port, timeout=_CONNECT_S, context=self._trusted)
        return HTTPConnection(host, port, timeout=_CONNECT_S)

    @cached_property
    def _trusted(self) -> ssl.SSLContext:
        context = ssl.create_default_context()
        if extra := os.environ.get("NODE_EXTRA_CA_CERTS"):  # as most engines do
            context.load_verify_locations(extra)
        return context

    def handle_error(self, request: Any, client_address: Any) -> None:
        error = sys.exception()
        if not isinstance(error, ConnectionError):  # engines may hang up
            # Only its type: its message may contain a header.
            print(f"relay: {type(error).__name__}", file=sys.stderr, flush=True)


class _Handler(BaseHTTPRequestHandler):
    server: Relay
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else small events of a stream are delayed

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: paths and headers are private."""

    def do_GET(self) -> None:
        self._over, self._ending = threading.Event(), threading.Lock()
        self._heard_at = time.monotonic()
        # Other requests, such as listing models, are not turns.
        self._counts = self.command == "POST"
        if self._counts:
            self.server.begun()
        connection = self.server.connection()
        threading.Thread(target=self._until_left, args=(connection,), daemon=True).start()
        try:
            self._answer(self._ask(connection))
        except _Lost as lost:
            self._end_turn(Limited(Trouble.NETWORK, text=str(lost)))
            self.close_connection = True
            # Drop the engine's connection, as the server dropped ours; it may have gone first.
            with suppress(OSError):
                self.connection.shutdown(socket.SHUT_RDWR)
        except _Left:
            self.close_connection = True
        finally:
            self._end_turn()
            connection.close()

    do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_GET

    def _ask(self, connection: HTTPConnection) -> HTTPResponse:
        chunked = "chunked" in (self.headers.get("transfer-encoding") or "").lower()
        length = int(self.headers.get("content-length") or 0)
        with _upstream():
            connection.connect()
            if self._over.is_set():
                raise _Left  # the engine did not wait
            # From here on the watchdog judges silence: it knows how long is too long.
            connection.sock.settimeout(None)
            connection.putrequest(self.command, self.path, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() not in _ASKED:
                    connection.putheader(name, value)
            connection.putheader("Accept-Encoding", "identity")  # so that we can read it
            if chunked:
                connection.putheader("Transfer-Encoding", "chunked")
            body = self._chunks() if chunked else self._whole(length)
            try:
                connection.endheaders(body if chunked or length else None, encode_chunked=chunked)
            except BrokenPipeError:
                # The server may have responded early, because the request is too large.
                self.close_connection = True
            return connection.getresponse()

    def _until_left(self, connection: HTTPConnection) -> None:
        """Abandon the request when the engine does; otherwise the wait would never end."""
        while not self._over.is_set():
            if self._waits():
                continue
            # Some retry after silence without saying so.
            silent = time.monotonic() - self._heard_at
            text = f"gave up after {silent:.0f} s of silence"
            self._end_turn(Limited(Trouble.NETWORK, text=text) if silent >= _SILENT_S else None)
            with suppress(OSError, AttributeError):  # there may be no connection, or not yet
                connection.sock.shutdown(socket.SHUT_RDWR)

    def _waits(self) -> bool:
        """Check for a second whether the engine is still there."""
        try:
            if not select.select([self.connection], [], [], _LOOK_S)[0]:
                return True
            if not self.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT):
                return False
        except BlockingIOError:
            return True
        except (OSError, ValueError):  # reset by the engine, or closed after a response
            return False
        self._over.wait(_LOOK_S)  # it has sent its next request already
        return True

    def _end_turn(self, refusal: Limited | None = None, *, heard: bool = False) -> None:
        with self._ending:
            if self._counts and not self._over.is_set():
                self.server.ended(refusal, heard=heard)
            self._over.set()

    def _whole(self, length: int) -> Iterator[bytes]:
        while length:
            data = self._take(min(length, _AT_ONCE))
            length -= len(data)
            yield data

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self.rfile.readline().split(b";")[0] or b"0", 16):
            yield self._take(size)
            self.rfile.readline()
        self.rfile.readline()

    def _take(self, size: int) -> bytes:
        try:
            data = self.rfile.read(size)
        except ConnectionError as error:
            raise _Left from error
        if len(data) < size:
            raise _Left
        return data

    def _answer(self, answer: HTTPResponse) -> None:
        refused = answer.status >= 400
        begin = b""
        if refused:
            # Report before forwarding, so that the engine's reaction comes after it.
            with _upstream():
                begin = answer.read(_LONGEST_ERROR)
            self._end_turn(_refusal(answer, begin.decode("utf-8", "replace")))
        length = answer.getheader("content-length")
        bare = self.command == "HEAD" or answer.status in (204, 304)
        self._head(answer, chunked=length is None and not bare)
        if bare:
            self._end_turn(heard=True)
            return
        self._send(begin, whole=length is not None)
        response = ResponseReader(events="event-stream" in (answer.getheader("content-type") or ""))
        try:
            self._flow(answer, response, whole=length is not None)
        finally:
            # Also for a response that was cut off, or that the engine abandoned.
            if self._counts and not refused and (spent := response.spent()):
                self.server.tell(spent)
        if length is not None and answer.length:
            raise _Lost("cut off: the answer is too short")
        failure = _failure(response.error)
        self._end_turn(failure, heard=failure is None)
        if length is None:
            self.wfile.write(b"0\r\n\r\n")

    def _flow(self, answer: HTTPResponse, response: ResponseReader, *, whole: bool) -> None:
        """Forward the rest of a response as it arrives."""
        due = time.monotonic() + _SURE_S
        while data := _read(answer):
            response.feed(data)
            self._heard_at = time.monotonic()
            if self._counts and not self._over.is_set() and self._heard_at > due:
                due = self._heard_at + _AGAIN_S
                self.server.heard()
            self._send(data, whole=whole)

    def _send(self, data: bytes, *, whole: bool) -> None:
        if data:
            self.wfile.write(data if whole else b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()

    def _head(self, answer: HTTPResponse, *, chunked: bool) -> None:
        self.send_response_only(answer.status, answer.reason)
        for name, value in answer.getheaders():
            if name.lower() not in _HOP:
                self.send_header(name, value)
        if chunked:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()


class _Lost(Exception):
    """The server cannot be reached, or has gone away."""


class _Left(Exception):
    """The engine has abandoned its request."""


@contextmanager
def _upstream() -> Iterator[None]:
    """Distinguish the server's errors from the engine's."""
    try:
        yield
    except (HTTPException, OSError) as error:
        what = getattr(error, "strerror", None) or type(error).__name__
        raise _Lost(f"cut off: {what}") from error


def _read(answer: HTTPResponse) -> bytes:
    with _upstream():
        return answer.read1(_AT_ONCE)


def _refusal(answer: HTTPResponse, said: str) -> Limited:
    headers = {name.lower(): value for name, value in answer.getheaders()}
    wait = wait_of(answer.status, headers, said)
    text = _quoted(f"HTTP {answer.status} {answer.reason}: {said}")
    return Limited(trouble_of(answer.status, said), wait.retry_s, wait.reset_at, text)


def _failure(said: str) -> Limited | None:
    """Return the error in the middle of a response; None if it is not recognized."""
    trouble = trouble_of(None, said)
    if not said or trouble is Trouble.OTHER:
        return None
    return Limited(trouble, retry_of(said), reset_of(said), _quoted(f"broken off: {said}"))


def _quoted(text: str) -> str:
    """Shorten the server's words for a fact, and redact them: they may repeat the key."""
    return shortened(redacted(" ".join(text.split())), _QUOTED)


def main(upstream: str, *program: str) -> int:
    printer = Printer()
    relay = Relay(upstream, printer)
    # An engine that uses a proxy could not reach us, so it talks to its model directly.
    proxied = any(name.lower() in _PROXIES for name in os.environ)
    address = upstream if proxied else f"http://127.0.0.1:{relay.server_port}"
    threading.Thread(target=relay.serve_forever, args=(_RARELY_S,), daemon=True).start()
    asked: list[int] = []  # signals, perhaps from before the engine started
    running: list[subprocess.Popen[bytes]] = []

    def pass_on(number: int, _: object) -> None:
        asked.append(number)
        for engine in running:
            _signal_later(engine, number)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, pass_on)
    try:
        engine = subprocess.Popen(
            [word.replace(PLACE, address) for word in program],
            env={name: value.replace(PLACE, address) for name, value in os.environ.items()},
            stdout=subprocess.PIPE,
        )
    except OSError as error:
        printer.tell(Finished(Trouble.OTHER, f"{program[0]}: {error.strerror}"))
        return _CANNOT
    running.append(engine)
    for given in asked:
        _signal_later(engine, given)
    _print_until_end(engine, printer)
    relay.settle()
    printer.interrupt()
    code = engine.wait()
    return code if code >= 0 else 128 - code


def _signal_later(engine: subprocess.Popen[bytes], number: int) -> None:
    """Forward a signal, later, in case the shim did not send it to the engine as well."""
    timer = threading.Timer(_SIGNAL_S, engine.send_signal, [number])
    timer.daemon = True
    timer.start()


def _print_until_end(engine: subprocess.Popen[bytes], printer: Printer) -> None:
    """Print the engine's output until the engine ends, even if a child holds the pipe open."""
    assert engine.stdout is not None
    source, end = engine.stdout.fileno(), os.pidfd_open(engine.pid)
    waited = [source, end]
    last = float("inf")
    while time.monotonic() < last:
        ready = select.select(waited, [], [], _LINE_S)[0]
        if end in ready:
            last = min(last, time.monotonic() + _SETTLE_S)
        if source in ready:
            data = os.read(source, _AT_ONCE)
            printer.take(data)
            waited = waited if data else [end]
        elif end in ready:
            break
        else:
            printer.interrupt()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
