"""A model's server for tests: on loopback only, and scripted by the prompt.

    with serving() as standin:
        base = standin.url("first")          # give this to a program as its base URL
        standin.scenario("first").fail(Fault("429", times=2))
        standin.scenario("first").seen()     # what was asked, and the tokens that were reported

The same over HTTP: `POST` and `GET` of `/_ctl/s/NAME`.
"""

import hashlib
import json
import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

import msgspec

from tests.patience import PATIENCE_S, until
from tests.standin import anthropic, gemini, model, openai_chat, openai_responses
from tests.standin.faults import QUOTA, STATUS, WORDS, Fault
from tests.standin.scenario import Record, Scenario, Scenarios, Settings
from tests.standin.talk import Reply, Request

_SECRET = frozenset({"authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie"})
_WRITE = {
    "anthropic": anthropic.write,
    "chat": openai_chat.write,
    "responses": openai_responses.write,
    "gemini": gemini.write,
}
_ERROR = {
    "anthropic": anthropic.error,
    "chat": openai_chat.error,
    "responses": openai_responses.error,
    "gemini": gemini.error,
}


class StandIn(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 256

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.scenarios = Scenarios()
        self.closing = threading.Event()

    def url(self, scenario: str = "default") -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/s/{scenario}"

    def scenario(self, name: str = "default") -> Scenario:
        return self.scenarios.named(name)

    def handle_error(self, request: Any, client_address: Any) -> None:
        import sys

        # Programs that are killed leave half a connection behind; all else is a defect.
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serving(port: int = 0) -> Iterator[StandIn]:
    standin = StandIn(port)
    thread = threading.Thread(target=standin.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield standin
    finally:
        standin.closing.set()
        standin.shutdown()
        standin.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: StandIn
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._take()

    def do_HEAD(self) -> None:
        self._take()

    def do_POST(self) -> None:
        self._take()

    def log_message(self, format: str, *args: Any) -> None:
        """Stay quiet: what was asked is in the records."""

    def _take(self) -> None:
        raw = b"".join(self._pieces())
        path = urlsplit(self.path).path
        control = path.startswith("/_ctl")
        name, rest = _split(path.removeprefix("/_ctl"))
        scenario = self.server.scenario(name)
        if control:
            self._control(scenario, raw)
            return
        with scenario.request(self.command, rest, _redacted(dict(self.headers))) as record:
            body = _json(raw)
            request = _read(rest, body, len(raw)) if body is not None else None
            if request is None:
                self._aside(scenario, record, rest, raw)
            else:
                self._answer(scenario, record, request, body)

    def _pieces(self) -> Iterator[bytes]:
        if self.headers.get("transfer-encoding") != "chunked":
            yield self.rfile.read(int(self.headers.get("content-length") or 0))
            return
        while size := int(self.rfile.readline(), 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _control(self, scenario: Scenario, raw: bytes) -> None:
        if self.command == "POST":
            try:
                scenario.settle(msgspec.json.decode(raw, type=Settings))
            except (msgspec.MsgspecError, ValueError) as error:
                self._send(400, {"error": str(error)})
                return
        bodies = "bodies=1" in self.path
        self._send(200, msgspec.to_builtins(scenario.seen(bodies=bodies)))

    def _aside(self, scenario: Scenario, record: Record, path: str, raw: bytes) -> None:
        """Answer what is no conversation: lists of models, counts of tokens, a knock."""
        record.status = 200
        size = max(1, len(raw) // 4)
        if path.endswith("/models") and not self._knows(scenario.limits.key):
            record.status = 401
            self._send(401, {"error": {"message": WORDS[401]}})
        elif path.endswith("/models"):
            self._send(200, {"object": "list", "data": [], "models": []})
        elif path.endswith("count_tokens"):
            self._send(200, {"input_tokens": size})
        elif path.endswith(":countTokens"):
            self._send(200, {"totalTokens": size})
        elif self.command == "HEAD":
            self._send(200, {})
        else:
            record.status = 404
            self._send(404, {"error": {"message": f"nothing at {path}", "code": "not_found"}})

    def _knows(self, key: str) -> bool:
        shown = (self.headers.get(name, "") for name in _SECRET)
        return not key or any(value.removeprefix("Bearer ") == key for value in shown)

    def _answer(self, scenario: Scenario, record: Record, request: Request, body: Any) -> None:
        fault = scenario.judge(record, request, body)
        record.fault = fault.kind if fault else ""
        if fault and fault.kind in STATUS:
            self._refuse(record, request, fault)
            return
        if fault and fault.kind == "hang_headers":
            self._hang()
            return
        if fault and fault.kind == "garbage":
            record.status = 502
            self._send(502, "<html><h1>502 Bad Gateway</h1></html>", kind="text/html")
            return
        said, delay = model.answer(request, record.number, fault)
        # A closed server answers no one, so the wait may end with it.
        self.server.closing.wait(delay + scenario.limits.delay)
        record.status = 200
        if fault is None or fault.kind not in ("hang", "cut", "stream_error"):
            record.usage = said.usage
        reply = _WRITE[request.protocol](said)
        if request.stream:
            self._stream(request, reply, fault)
        elif fault and fault.kind in ("hang", "cut"):
            self._hang() if fault.kind == "hang" else self._cut()
        else:
            self._send(200, reply.body)

    def _refuse(self, record: Record, request: Request, fault: Fault) -> None:
        record.status = STATUS[fault.kind]
        text = QUOTA if fault.kind == "quota" else WORDS[record.status]
        if fault.reset_at is not None:
            text = f"{text} The limit resets at {fault.reset_at}."
        error = _ERROR[request.protocol](record.status, fault.kind, text)
        after = fault.retry_after
        self._send(record.status, error, {"retry-after": f"{after:g}"} if after is not None else {})

    def _stream(self, request: Request, reply: Reply, fault: Fault | None) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        kind = fault.kind if fault else ""
        events = list(reply.events)
        if kind == "stream_error":
            failed = _ERROR[request.protocol](529, kind, "Overloaded")
            events = [*events[:1], ("error", failed)]
        for number, (name, data) in enumerate(events):
            if kind in ("hang", "cut") and number == 1:
                self._hang() if kind == "hang" else self._cut()
                return
            if fault and kind == "slow":
                self.server.closing.wait(fault.pause)
            text = data if isinstance(data, str) else json.dumps(data)
            self._chunk((f"event: {name}\n" if name else "") + f"data: {text}\n\n")
        self._chunk("")

    def _chunk(self, text: str) -> None:
        coded = text.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(coded), coded))
        self.wfile.flush()

    def _hang(self) -> None:
        """Say nothing more until the other side or the server goes away."""
        self.close_connection = True
        while not self.server.closing.wait(0.1):
            if select.select([self.connection], [], [], 0)[0]:
                with suppress(ConnectionError):
                    if self.connection.recv(1, socket.MSG_PEEK):
                        continue
                return

    def _cut(self) -> None:
        self.close_connection = True
        with suppress(OSError):  # the other side may have gone first
            self.connection.shutdown(socket.SHUT_RDWR)

    def _send(
        self,
        status: int,
        body: Any,
        headers: dict[str, str] | None = None,
        kind: str = "application/json",
    ) -> None:
        coded = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        for name, value in {"content-type": kind, **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(coded)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(coded)


def _split(path: str) -> tuple[str, str]:
    parts = path.split("/", 3)
    if len(parts) > 2 and parts[1] == "s":
        return parts[2], f"/{parts[3] if len(parts) > 3 else ''}"
    return "default", path


def _read(path: str, body: Any, size: int) -> Request | None:
    if path.endswith("/messages"):
        return anthropic.read(body, size)
    if path.endswith("/chat/completions"):
        return openai_chat.read(body, size)
    if path.endswith("/responses"):
        return openai_responses.read(body, size)
    if path.endswith(("enerateContent",)):
        return gemini.read(body, size, path)
    return None


def _json(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return None


def _redacted(headers: dict[str, str]) -> dict[str, str]:
    """Hide credentials; a digest tells two of them apart."""
    return {
        name.lower(): f"sha256:{key_mark(value)}" if name.lower() in _SECRET else value
        for name, value in headers.items()
    }


def key_mark(value: str) -> str:
    """Return the mark by which a key is known in the records."""
    return hashlib.sha256(value.removeprefix("Bearer ").encode()).hexdigest()[:12]


def wait_for(scenario: Scenario, requests: int, limit_s: float = PATIENCE_S) -> list[Record]:
    """Wait for this many requests; return all that came."""

    def enough() -> list[Record] | None:
        found = scenario.seen().requests
        return found if len(found) >= requests else None

    return until(enough, f"requests to the model: {requests}", limit_s)
