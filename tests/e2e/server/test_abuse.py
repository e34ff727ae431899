"""Attempts to break the server, or to get past its checks, are refused or survived."""

import resource
import select
import socket
import time
from collections.abc import Iterator

import pytest

from tests.e2e.corral_command import Board
from tests.e2e.server.live_server import Served, serve, start_session, wait_for
from tests.patience import PATIENCE_S

IDLE = 1000


@pytest.fixture
def served(board: Board) -> Iterator[Served]:
    board.add("One")
    with serve(board) as server:
        yield server


def said(line: socket.socket) -> bytes:
    """Return all that comes until the other side closes."""
    parts = []
    try:
        while part := line.recv(65_536):
            parts.append(part)
    except ConnectionResetError:
        pass
    line.close()
    return b"".join(parts)


def test_paths_lead_nowhere_else(served: Served) -> None:
    for path in (
        "/../../../etc/passwd",
        "/api/../../etc/passwd",
        "/api/tasks/..%2f..%2f..%2fetc%2fpasswd",
        "/api/sessions/..%2f..%2f..%2f/output",
        "/api/sessions/%2e%2e/output",
        "/api/tasks/%00",
        "/api/tasks/AF-1%0d%0aSet-Cookie:%20x=1",
        "//etc/passwd",
        "/api//status",
        "/API/status",
        "/%ff%fe",
    ):
        answer = served.get(path)
        assert answer.status == 404, (path, answer)
        assert "set-cookie" not in answer.headers
        assert b"root:" not in answer.body


def test_headers_and_the_log_cannot_be_written_into(served: Served) -> None:
    before = served.board.events()
    for name in ("ana\x1b[2J", "x" * 101, "a\u202eb"):
        told = {"Corral-Actor": name.encode().decode("latin-1")}
        answer = served.post("/api/task/add", {"title": "T"}, headers=told)
        assert answer.status == 400, (name, answer)
    for field in ("title", "brief"):
        body = {"title": "T", field: 'a\r\n{"seq":99}'}
        assert served.post("/api/task/add", body).status == 400
    assert served.board.events() == before
    with served.raw() as line:
        line.sendall(served.head("GET", "/api/status", "X-A: a\rb"))
        assert line.recv(65_536).startswith(b"HTTP/1.1 400 ")


def test_what_is_not_http_is_told_so(served: Served) -> None:
    for nonsense in (b"\x16\x03\x01\x02\x00", b"GET\r\n\r\n", b"\x00" * 99, b"PRI * X\r\n"):
        line = served.raw()
        line.sendall(nonsense)
        line.shutdown(socket.SHUT_WR)
        answer = said(line)
        assert answer == b"" or answer.startswith(b"HTTP/1.1 4"), (nonsense, answer)
    two = (f"Host: 127.0.0.1:{served.port}", "Connection: close")
    line = served.raw()
    line.sendall(served.head("GET", "/api/status", *two))
    assert said(line).startswith(b"HTTP/1.1 421 ")  # two Hosts: neither is believed


def test_a_request_inside_a_request_is_not_carried_out(served: Served) -> None:
    """Two lengths, or a length and chunks: a proxy could see another request."""
    inner = served.head("POST", "/api/task/add", "Content-Length: 0")
    lines = (
        ("Content-Length: 4", "Transfer-Encoding: chunked"),
        ("Content-Length: 0", f"Content-Length: {len(inner)}"),
    )
    for pair in lines:
        line = served.raw()
        head = served.head("POST", "/api/task/comment", "Content-Type: application/json", *pair)
        line.sendall(head + b"0\r\n\r\n" + inner)
        line.shutdown(socket.SHUT_WR)
        assert b"HTTP/1.1 200" not in said(line), pair
    assert len(served.board.data("task", "list")) == 1


def test_large_things_are_refused_early(served: Served) -> None:
    kind = "Content-Type: application/json"
    line = served.raw()
    line.sendall(served.head("POST", "/api/task/add", kind, "Content-Length: 99999999999"))
    assert said(line).startswith(b"HTTP/1.1 413 ")

    line = served.raw()
    line.sendall(served.head("POST", "/api/task/add", kind, "Transfer-Encoding: chunked"))
    try:
        for _ in range(64):
            line.sendall(b"10000\r\n" + b"x" * 65_536 + b"\r\n")
    except OSError:
        line.close()  # it did not wait for the end of it
    else:
        assert said(line).startswith(b"HTTP/1.1 413 ")

    line = served.raw()
    try:
        line.sendall(served.head("GET", "/api/status")[:-2] + b"X-A: " + b"a" * (1 << 20))
        assert said(line).startswith(b"HTTP/1.1 431 ")
    except OSError:
        line.close()
    assert served.get("/api/tasks/" + "A" * 40_000).status == 404
    assert served.get("/api/whoami").status == 200


def test_a_thousand_idle_connections_fit_into_the_usual_limit_of_open_files(board: Board) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 1024), hard))
    try:
        with serve(board) as served:
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
            idle = [served.raw() for _ in range(1100)]
            for _ in range(5):
                assert served.get("/api/whoami").status == 200
            for line in idle:
                line.close()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_slow_or_silent_client_blocks_no_other(served: Served) -> None:
    """A thousand idle connections, a head that comes byte by byte, a body that never comes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4096)), hard))
    idle = [served.raw() for _ in range(IDLE)]
    head = served.raw()
    head.sendall(b"GET /api/status HTTP/1.1\r\n")
    body = served.raw()
    kind = "Content-Type: application/json"
    body.sendall(served.head("POST", "/api/task/add", kind, "Content-Length: 20") + b'{"title"')

    def answered_meanwhile() -> bool:
        """Say whether another client is answered while the server waits for a slow one."""
        with served.raw() as slow:
            slow.sendall(b"GET /api/status HTTP/1.1\r\n")
            assert served.get("/api/whoami").status == 200
            poll = select.poll()  # select takes no descriptor beyond 1023
            poll.register(slow, select.POLLIN)
            return not poll.poll(0)

    wait_for(answered_meanwhile, "an answer beside a slow client")
    assert said(body).startswith(b"HTTP/1.1 408 ")
    deadline = time.monotonic() + PATIENCE_S
    head.setblocking(False)
    answer = b""
    while b"\r\n\r\n" not in answer:  # it goes on dribbling, and is cut off all the same
        assert time.monotonic() < deadline, "a head that never ends was waited for"
        try:
            answer += head.recv(4096)
            head.send(b"X")
        except BlockingIOError:
            time.sleep(0.1)
        except OSError:
            break
    head.close()
    for line in idle:
        line.settimeout(PATIENCE_S)
        assert said(line)[:13] in (b"", b"HTTP/1.1 408 ")
    assert served.get("/api/whoami").status == 200


def test_a_request_in_flight_neither_blocks_shutdown_nor_logs_an_error(
    board: Board,
) -> None:
    with serve(board) as served:
        kind = "Content-Type: application/json"
        line = served.raw()
        line.sendall(served.head("POST", "/api/task/add", kind, "Content-Length: 20") + b"{")
        assert served.get("/api/whoami").status == 200
        served.stop()
    line.close()  # `serve` has seen to it that there is no traceback


def test_a_session_that_asks_too_often_is_slowed_down(served: Served) -> None:
    _, key = start_session(served.board, "AF-1")
    wait_for(lambda: served.get("/api/whoami", token=key).status == 200, "the session is known")
    served.token, people = key, served.token
    head = served.head("GET", "/api/whoami")
    last = served.head("GET", "/api/whoami", "Connection: close")
    served.token = people
    line = served.raw()
    line.sendall(head * 2000 + last)  # all at once: no slow machine keeps us below the limit
    answers = said(line)
    assert answers.count(b"HTTP/1.1 200 ") >= 200
    assert b"HTTP/1.1 429 " in answers
    assert served.get("/api/whoami").status == 200


def test_agents_are_held_to_the_same_bounds(served: Served) -> None:
    kind = "Content-Type: application/json"
    slow = served.raw()
    slow.sendall(served.head("POST", "/mcp", kind, "Content-Length: 20") + b"{")
    large = served.raw()
    large.sendall(served.head("POST", "/mcp", kind, "Content-Length: 2000000"))
    assert said(large).startswith(b"HTTP/1.1 413 ")
    assert served.call("POST", "/mcp", b"x=1", headers={"Content-Type": "text/plain"}).status == 415
    assert said(slow).startswith(b"HTTP/1.1 408 ")
