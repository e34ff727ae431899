"""A real server of a real repository, and a client that knows only HTTP."""

import http.client
import json
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from corral.core.access import session_key
from corral.core.ids import TaskId
from corral.core.session import rules as session_rules
from corral.core.session.slots import Limits
from corral.store.port import Request
from corral.store.sqlite import SqliteStore
from corral.world import keys
from tests.e2e.corral_command import Board
from tests.patience import PATIENCE_S, until


def wait_for(happened: Callable[[], Any], what: str) -> Any:
    return until(happened, what)


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def data(self) -> Any:
        assert self.status == 200, self
        assert self.json["ok"] is True, self
        return self.json["data"]

    @property
    def error(self) -> dict[str, str]:
        assert self.status >= 400, self
        said = self.json
        assert said["ok"] is False, self
        assert set(said) == {"ok", "error"}, self
        assert set(said["error"]) == {"code", "message", "hint"}, self
        return dict(said["error"])


class Served:
    """A running `corral serve`, or what is left of one."""

    def __init__(self, board: Board, process: "subprocess.Popen[bytes]", url: str) -> None:
        self.board = board
        self.process = process
        self.url = url
        self.port = int(url.rpartition(":")[2])
        self.token = keys.read(f"{board.folder}/token")

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        token: str | None = "",
        headers: dict[str, str] | None = None,
    ) -> Answer:
        """Ask once. `token` None: show none; empty: the people's."""
        told = {"Host": f"127.0.0.1:{self.port}"}
        if token is not None:
            told["Authorization"] = f"Bearer {token or self.token}"
        content = None
        if method == "POST":
            told["Content-Type"] = "application/json"
            content = body if isinstance(body, bytes) else json.dumps(body or {}).encode()
        told |= headers or {}
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        try:
            line.request(method, path, content, told)
            answer = line.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, found, answer.read())
        finally:
            line.close()

    def get(self, path: str, **more: Any) -> Answer:
        return self.call("GET", path, **more)

    def post(self, path: str, body: Any = None, **more: Any) -> Answer:
        return self.call("POST", path, body, **more)

    def raw(self) -> socket.socket:
        line = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return line

    def head(self, method: str, path: str, *lines: str) -> bytes:
        """Return the head of a request with the people's token, for `raw`."""
        told = [
            f"{method} {path} HTTP/1.1",
            f"Host: 127.0.0.1:{self.port}",
            f"Authorization: Bearer {self.token}",
            *lines,
        ]
        return "\r\n".join([*told, "", ""]).encode()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE_S)

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE_S)


@contextmanager
def serve(board: Board, *words: str) -> Iterator[Served]:
    """Run a server; whatever it writes to standard error fails the test."""
    process = board.started(
        "serve", "--json", *words, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        first = process.stdout.readline()
        if not first:
            raise AssertionError(process.stderr.read().decode())
        yield Served(board, process, json.loads(first)["data"]["url"])
    finally:
        process.terminate()
        try:
            said = process.communicate(timeout=PATIENCE_S)[1].decode()
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    assert "Traceback" not in said, said


def start_session(board: Board, task: str, ttl_s: int = 600) -> tuple[str, str]:
    """Give a task to a session, as the witness does; return its id and its key."""
    store = SqliteStore(board.folder)
    try:
        store.transaction(
            Request(
                "witness",
                lambda state, now: session_rules.start(
                    state,
                    TaskId(task),
                    profile="default",
                    pool="",
                    base="0" * 40,
                    limits=Limits(100),
                    ttl_s=ttl_s,
                    wall_s=600,
                    now=now,
                ),
                lambda state, stored: None,
            )
        )
        state = store.state()
        session = state.sessions[state.tasks[TaskId(task)].session]
        return session.id, session_key(keys.secret(str(board.folder)), state.log, session)
    finally:
        store.close()


class Events:
    """A client of the event stream that reads what comes, line by line."""

    def __init__(self, served: Served, path: str, *lines: str) -> None:
        self.line = served.raw()
        self.line.sendall(served.head("GET", path, *lines))
        self._file = self.line.makefile("rb")
        assert self._file.readline().split()[1] == b"200"
        while self._file.readline().strip():
            pass

    def first(self) -> bytes:
        """Return what is sent first after the greeting, as it is."""
        return next(chunk for chunk in self._chunks() if b"data: " in chunk)

    def drain(self) -> None:
        """Read whatever comes, until the connection is shut down."""
        with suppress(ValueError, ConnectionError):  # in the middle of a chunk, or reset
            for _ in self._chunks():
                pass

    def _chunks(self) -> Iterator[bytes]:
        while (size := self._file.readline()) and int(size, 16):
            yield self._file.read(int(size, 16) + 2)[:-2]

    def __iter__(self) -> Iterator[tuple[int, str, Any]]:
        """Yield number, type and data of each event."""
        number, kind = 0, ""
        for chunk in self._chunks():  # frames never straddle our chunks' lines
            for text in chunk.decode().split("\n"):
                name, _, value = text.partition(": ")
                if name == "id":
                    number = int(value)
                elif name == "event":
                    kind = value
                elif name == "data":
                    yield number, kind, json.loads(value)

    def close(self) -> None:
        self._file.close()
        self.line.close()
