"""The dashboard's stream: the board, every change, resumption after a cut, and the past."""

import os
import random
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from corral.core.board.commands import EditTask
from corral.core.board.rules import decide
from corral.core.log.state import State, TaskState
from corral.core.show.rows import TABLES
from corral.core.show.tables import board_of
from corral.roles.records.rooms import Room
from corral.store.port import Request
from corral.store.replay import extend
from corral.store.sqlite import SqliteStore
from tests.e2e.corral_command import Board
from tests.e2e.server.live_server import Events, Served, serve, start_session, wait_for


@pytest.fixture
def served(board: Board) -> Iterator[Served]:
    for title in ("One", "Two", "Three"):
        board.add(title)
    with serve(board) as server:
        yield server


class Page:
    """What a browser keeps: rows by table and id, from the stream alone."""

    def __init__(self, served: Served, more: str = "", after: int = -1) -> None:
        self.stream = Events(served, f"/api/live?after={after}{more}")
        self._found = iter(self.stream)
        self.seq = after
        self.tables: dict[str, dict[str, Any]] = {name: {} for name in TABLES}
        self.kinds: list[str] = []
        self.log: list[Any] = []
        self.output = ""
        self.offset = ""
        self.tails: dict[str, list[str]] = {}

    def take(self) -> None:
        _, kind, data = next(self._found)
        self.kinds.append(kind)
        if kind == "state":
            self.seq = data["seq"]
            self.tables = {name: {row["id"]: row for row in data[name]} for name in TABLES}
        elif kind == "change":
            self.seq = data["seq"]
            for name, rows in data["set"].items():
                self.tables[name] |= {row["id"]: row for row in rows}
            for name, ids in data["gone"].items():
                for one in ids:
                    del self.tables[name][one]
        elif kind == "log":
            self.log.append(data)
        elif kind == "output":
            self.output = data["text"] if data["restarted"] else self.output + data["text"]
            self.offset = data["end"]
        elif kind == "tails":
            self.tails |= data

    def until(self, seq: int) -> None:
        while self.seq < seq:
            self.take()

    def close(self) -> None:
        self.stream.close()


def shown(data: Any) -> dict[str, dict[str, Any]]:
    return {name: {row["id"]: row for row in data[name]} for name in TABLES}


def newest(served: Served) -> int:
    return int(served.get("/api/status").data["seq"])


def test_a_page_that_listens_has_what_the_server_has(served: Served) -> None:
    page, other = Page(served, "&log=1"), Page(served)
    page.take()
    assert page.kinds == ["state"]
    served.post("/api/task/claim", {"task": "AF-1"})
    served.board.corral("task", "add", "By the command line", "--needs", "AF-1")
    served.post("/api/alert/raise", {"subject": "log", "text": "look"})
    served.post("/api/message/send", {"to": "AF-1", "text": "hello"})
    served.post("/api/pause", {})
    before = newest(served)
    page.until(before)
    alert = next(iter(page.tables["alerts"]))
    served.post("/api/alert/clear", {"alert": alert})
    served.post("/api/resume", {})
    seq = newest(served)
    for one in (page, other):
        one.until(seq)
        assert one.tables == shown(served.get("/api/board").data)
        assert one.kinds.count("state") == 1
        one.close()
    assert not page.tables["alerts"]
    assert page.tables["tasks"]["AF-1"]["column"] == "doing"
    assert [event["seq"] for event in page.log] == list(range(6, seq + 1))


def test_a_page_that_was_cut_off_gets_the_rows_that_it_missed(served: Served) -> None:
    served.post("/api/alert/raise", {"subject": "log", "text": "before the cut"})
    page, other = Page(served), Page(served)
    page.take()
    page.close()
    other.take()
    (alert,) = other.tables["alerts"]
    served.post("/api/alert/clear", {"alert": alert})
    for number in range(30):
        served.post("/api/task/add", {"title": f"T{number}"})
        if number % 10 == 0:  # so that there are several steps to be put together
            other.until(newest(served))
    other.close()
    again = Page(served, after=page.seq)
    again.tables = page.tables
    again.until(newest(served))
    assert set(again.kinds) == {"change"}, "not all of it once more"
    assert len(other.kinds) > 3
    assert again.tables == shown(served.get("/api/board").data)
    again.close()
    ahead = Page(served, after=10_000)  # it has seen another log
    ahead.take()
    assert ahead.kinds == ["state"]
    ahead.close()


@pytest.mark.parametrize("listening", [0, 1])
def test_a_stream_that_opens_after_a_write_begins_with_it(served: Served, listening: int) -> None:
    others = [Page(served) for _ in range(listening)]
    for other in others:
        other.take()
    known = newest(served)
    for number in range(60):
        task = served.post("/api/task/add", {"title": f"T{number}"}).data["id"]
        for after in (-1, known):
            page = Page(served, after=after)
            page.take()
            assert task in page.tables["tasks"], f"write {number}, after {after}"
            page.close()
        known = newest(served)
    for other in others:
        other.close()


def test_a_server_that_is_new_sends_everything(served: Served) -> None:
    page = Page(served)
    page.take()
    page.close()
    served.stop()
    with serve(served.board) as fresh:
        again = Page(fresh, after=page.seq - 1)
        again.take()
        assert again.kinds == ["state"]
        assert again.tables == page.tables
        again.close()


def test_what_a_session_prints_is_told_while_it_prints(served: Served) -> None:
    session, _ = start_session(served.board, "AF-1")
    wait_for(lambda: served.get(f"/api/sessions/{session}").status == 200, "the session is known")
    room = Room(str(served.board.folder), session)  # type: ignore[arg-type]
    page = Page(served, f"&output={session}&tails=1")
    folder = room.next("run")
    path = f"{folder}/output"
    with open(path, "w") as file:
        file.write("".join(f"line {number}\n" for number in range(20_000)))
    while "line 19999\n" not in page.output:
        page.take()
    with open(path, "a") as file:
        file.write("\x1b[31mhällo\x1b[0m\n")
    while "hällo" not in page.output or "hällo" not in "".join(page.tails.get(session, [])):
        page.take()
    os.rename(path, f"{path}.1")
    with open(path, "w") as file:
        file.write("after the rotation\n")
    while not page.output.endswith("after the rotation\n"):
        page.take()
    page.close()
    text, at, url = "", page.offset, f"/api/sessions/{session}/output"
    while True:
        part = served.get(f"{url}?before={at}&bytes=4096").data
        if not part["text"]:
            break
        text, at = part["text"] + text, part["begin"]
    assert text.startswith("line 0\nline 1\n")
    assert text.endswith("line 19999\n\x1b[31mhällo\x1b[0m\nafter the rotation\n")
    assert text.count("\n") == 20_002
    assert served.get(f"{url}?after={page.offset}").data["text"] == ""
    assert served.get(f"{url}?after=nonsense").status == 400


def test_the_board_of_an_earlier_event_is_that_of_a_replay(served: Served) -> None:
    for number in range(20):
        served.post("/api/task/add", {"title": f"T{number}", "priority": number % 3})
        served.post("/api/task/claim", {})
        served.post("/api/task/add", {"title": "Held up", "needs": [f"AF-{number + 1}"]})
    store = SqliteStore(served.board.folder)
    free = [task.id for task in store.state().tasks.values() if task.state is TaskState.TODO]
    edits = [
        EditTask(task=free[number % len(free)], title=f"Now {number}") for number in range(1_300)
    ]
    store.batch(
        [
            Request(
                "ana",
                lambda state, now, edit=edit: decide(state, edit, "ana", now),  # type: ignore[misc]
                lambda state, stored: None,
            )
            for edit in edits
        ]
    )
    last = wait_for(lambda: newest(served) if newest(served) > 1_300 else 0, "all is known")
    chosen = random.Random(8).sample(range(last + 1), 10)
    for seq in [*chosen, 0, last, *chosen[:3]]:
        state = extend(State(), store.read(0, seq))
        found = served.get(f"/api/board?at={seq}").data
        assert found == msgspec.json.decode(msgspec.json.encode(board_of(state))), seq
    assert served.get(f"/api/board?at={last}").data == served.get("/api/board").data
    store.close()
    assert served.get(f"/api/board?at={last + 1}").status == 400
    assert served.get("/api/board?at=-1").status == 400
