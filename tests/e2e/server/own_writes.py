"""Write a task, then look for it in every way at once: whoever was told of it must find it."""

import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from corral.core.board.commands import AddTask
from corral.core.ids import ConvoyId, TaskId
from corral.core.log.events import TaskAdded
from corral.store.port import Request
from corral.store.service import perform
from corral.store.sqlite import SqliteStore
from tests.e2e.corral_command import Board
from tests.e2e.server.live_server import Events, Served

Write = Callable[[str], tuple[str, int]]  # from a title to the task's id and the event's number


def fill(board: Board, tasks: int) -> None:
    """Put many tasks on a board that has none."""
    store = SqliteStore(board.folder)
    events = [
        TaskAdded(task=TaskId(f"AF-{n}"), convoy=ConvoyId("auth-fix"), title=f"Task {n}")
        for n in range(1, tasks + 1)
    ]
    store.transaction(Request("filler", lambda state, now: events, lambda state, stored: None))
    store.close()


def write_and_look(served: Served, times: int, writers: int) -> list[str]:
    """Have each writer add tasks, through the server and beside it; return what was not found."""
    beside, turn = SqliteStore(served.board.folder), threading.Lock()

    def through(title: str) -> tuple[str, int]:
        data = served.post("/api/task/add", {"title": title}).data
        return data["id"], data["seq"]

    def on_the_log(title: str) -> tuple[str, int]:
        with turn:
            data = perform(beside, AddTask(title=title), "ana")
        return data["id"], data["seq"]

    def work(writer: int) -> list[str]:
        missed: list[str] = []
        for number in range(times):
            write: Write = on_the_log if number % 3 == 2 else through
            task, seq = write(f"Written by {writer}")
            found = _missed(served, task, seq, first=number)
            missed += [f"{write.__name__} {number}: {where}" for where in found]
        return missed

    with _listening(served), ThreadPoolExecutor(writers) as pool:
        missed = [one for found in pool.map(work, range(writers)) for one in found]
    beside.close()
    return missed


def _missed(served: Served, task: str, seq: int, first: int) -> list[str]:
    """Look everywhere for a task that event `seq` has added; return where it is not.

    The first look may bring the server up to date for the others, so it is another each time.
    """
    row, event = f'"id":"{task}",'.encode(), f'"seq":{seq},'.encode()
    looks: list[tuple[str, Callable[[], bool]]] = [
        ("a new stream", lambda: row in _first(served, "/api/live")),
        ("the task", lambda: served.get(f"/api/tasks/{task}").status == 200),
        ("a stream that goes on", lambda: row in _first(served, f"/api/live?after={seq - 1}")),
        ("the overview", lambda: served.get("/api/overview").data["seq"] >= seq),
        ("the events", lambda: event in _first(served, f"/api/events?after={seq - 1}")),
    ]
    first %= len(looks)
    return [where for where, there in looks[first:] + looks[:first] if not there()]


@contextmanager
def _listening(served: Served) -> Iterator[None]:
    """Keep a stream open: the server then has a board that may be a little old."""
    stream = Events(served, "/api/live")
    thread = threading.Thread(target=stream.drain)
    thread.start()
    yield
    stream.line.shutdown(socket.SHUT_RDWR)
    thread.join()
    stream.close()


def _first(served: Served, path: str) -> bytes:
    """Return the first event of a stream; boards are large, so it is not decoded."""
    stream = Events(served, path)
    try:
        return stream.first()
    finally:
        stream.close()
