"""The event stream delivers every event once and in order, whatever its client does."""

import random
import signal
import socket
import threading
from collections.abc import Iterator

import pytest

from tests.e2e.corral_command import Board
from tests.e2e.server.live_server import Events, Served, serve, start_session, wait_for


@pytest.fixture
def served(board: Board) -> Iterator[Served]:
    with serve(board) as server:
        yield server


def test_a_stream_replays_and_goes_on_with_what_comes_from_anybody(served: Served) -> None:
    served.post("/api/task/add", {"title": "Through the server"})
    stream = Events(served, "/api/events?after=0")
    found = iter(stream)
    seen = [next(found) for _ in range(3)]
    served.board.corral("task", "add", "By the command line")
    seen.append(next(found))
    assert [data for _, _, data in seen] == served.board.events()
    assert [number for number, _, _ in seen] == [1, 2, 3, 4]
    assert [kind for _, kind, _ in seen] == [data["type"] for _, _, data in seen]
    stream.close()


def test_a_stream_cannot_go_on_after_what_never_happened(served: Served) -> None:
    """A client with the position of another log would silently miss all events up to it."""
    newest = served.get("/api/status").data["seq"]
    for path, said in (
        (f"/api/events?after={newest + 1}", {}),
        ("/api/events", {"Last-Event-ID": str(newest + 1)}),
    ):
        answer = served.get(path, headers=said)
        assert (answer.status, answer.error["code"]) == (400, "bad_input"), path
    served.board.corral("task", "add", "Not seen by the server before")
    stream = Events(served, "/api/events", f"Last-Event-ID: {newest + 1} ")
    served.post("/api/task/add", {"title": "Next"})
    assert next(iter(stream))[0] == newest + 2
    stream.close()


def test_filters_let_through_what_was_asked_for(served: Served) -> None:
    for title in ("One", "Two"):
        served.post("/api/task/add", {"title": title})
    served.post("/api/task/claim", {"task": "AF-1"})
    served.post("/api/convoy/create", {"title": "Other"})
    served.post("/api/task/add", {"title": "Three", "convoy": "other"})
    served.post("/api/alert/raise", {"subject": "log", "text": "the end"})
    wanted = {
        "task=AF-1": ["task.added", "task.claimed"],
        "convoy=other": ["convoy.created", "task.added"],
        "type=task.claimed": ["task.claimed"],
        "type=convoy": ["convoy.created", "convoy.created"],
    }
    for query, kinds in wanted.items():
        stream = Events(served, f"/api/events?after=0&{query}")
        found = iter(stream)
        assert [next(found)[1] for _ in kinds] == kinds, query
        stream.close()


def test_a_session_hears_of_its_own_only(served: Served) -> None:
    for title in ("Mine", "Theirs"):
        served.post("/api/task/add", {"title": title, "budget": 2})
    _, key = start_session(served.board, "AF-1")
    wait_for(lambda: served.get("/api/whoami", token=key).status == 200, "the session is known")
    served.token, people = key, served.token
    stream = Events(served, "/api/events?after=0")
    served.token = people
    served.post("/api/task/comment", {"task": "AF-2", "text": "not for it"})
    served.post("/api/task/comment", {"task": "AF-1", "text": "for it"})
    found = iter(stream)
    seen = [next(found) for _ in range(4)]
    assert [kind for _, kind, _ in seen] == [
        "task.added",
        "task.claimed",
        "session.started",
        "task.commented",
    ]
    assert all("AF-2" not in str(data) for _, _, data in seen)
    served.post("/api/task/hand-off", {"task": "AF-1", "force": True})
    assert list(found) == []  # the claim has ended, and so has the stream
    stream.close()


def test_a_client_that_is_cut_off_a_hundred_times_gets_everything_once(served: Served) -> None:
    """Killed in the middle of anything; it goes on after the last whole event that it has."""
    total, cuts, rng = 600, 100, random.Random(7)
    done = threading.Event()

    def write() -> None:
        for number in range(total):
            served.post("/api/task/add", {"title": f"Task {number}"})
        done.set()

    writer = threading.Thread(target=write)
    writer.start()
    seen: list[int] = []
    made = 0
    while made < cuts or len(seen) < total:
        last = seen[-1] if seen else 2
        stream = Events(served, "/api/events", f"Last-Event-ID: {last}")
        few = rng.randint(0, 2 * total // cuts) if made < cuts else total
        stream.line.settimeout(0.5)
        try:
            for number, kind, _ in stream:
                assert kind == "task.added"
                seen.append(number)
                if len(seen) - (last - 2) > few:
                    break
        except TimeoutError:
            pass
        # Without a farewell: the system sends a reset, also in the middle of a message.
        stream.line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        stream.close()
        made += 1
    writer.join()
    assert done.is_set()
    assert seen == list(range(3, total + 3))


def test_a_client_that_never_reads_harms_nobody(served: Served) -> None:
    """Its events stay in the log; the others get theirs, and the server hardly grows."""
    served.post("/api/task/add", {"title": "Talked about"})
    deaf = []
    for _ in range(20):
        line = served.raw()
        line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        line.sendall(served.head("GET", "/api/events?after=0"))
        deaf.append(line)
    stream = Events(served, "/api/events")
    found = iter(stream)

    def said(number: int) -> None:
        text = f"{number} " + "x" * 16_000
        served.post("/api/task/comment", {"task": "AF-1", "text": text})

    for number in range(100):  # 1.6 MB for each of them: much more than any buffer on the way
        said(number)
        assert next(found)[2]["data"]["text"].startswith(f"{number} ")
    before = _resident(served)
    for number in range(300):
        said(number)
        next(found)
    grown = _resident(served) - before
    assert grown < 24 << 20, f"grew by {grown:,} bytes over 20 × 4.8 MB that nobody reads"
    for line in deaf:
        line.close()
    stream.close()
    wait_for(
        lambda: b"corral_event_streams 0\n" in served.get("/metrics").body,
        "no stream is left of clients that have gone",
    )


def test_a_server_with_clients_that_never_read_ends_quietly_and_soon(board: Board) -> None:
    board.add("Talked about")
    with serve(board) as served:
        deaf = [served.raw() for _ in range(5)]
        for line in deaf:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            line.sendall(served.head("GET", "/api/events?after=0"))
        for number in range(400):
            body = {"task": "AF-1", "text": f"{number} " + "x" * 16_000}
            served.post("/api/task/comment", body)
        # `serve` fails if a traceback was written
        assert served.stop() in (0, -signal.SIGTERM)
        for line in deaf:
            line.close()


def _resident(served: Served) -> int:
    with open(f"/proc/{served.process.pid}/statm") as file:
        return int(file.read().split()[1]) * 4096
