"""The CLI finds a running server but does not need one; nothing is lost or done twice."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from corral.core.ids import TaskId
from corral.core.log.events import TaskCommented
from corral.store.port import Request
from corral.store.sqlite import SqliteStore
from tests.e2e.corral_command import Board
from tests.e2e.server.live_server import Served, serve
from tests.patience import PATIENCE_S

LOG = ("apsw", "corral.core.log.state", "corral.core.log.fold", "corral.store.sqlite")
FORBIDDEN = ("uvicorn", "mcp", "starlette", "pydantic", "asyncio", "http.client", "httptools")


@contextmanager
def between(served: Served, *, forward: bool) -> Iterator[None]:
    """Stand before the server, take one request, and go away without an answer.

    With `forward` the server has carried it out by then; else it never heard of it.
    """
    place = served.board.folder / "run" / "server.sock"
    real = place.with_name("real.sock")
    place.rename(real)
    listener = socket.socket(socket.AF_UNIX)
    opened = os.open(place.parent, os.O_PATH | os.O_DIRECTORY)  # a socket's name must be short
    listener.bind(f"/proc/self/fd/{opened}/{place.name}")
    listener.listen(1)
    listener.settimeout(PATIENCE_S)
    taken: list[bytes] = []

    def take() -> None:
        line, _ = listener.accept()
        with line:
            request = line.recv(1 << 20)
            taken.append(request)
            if forward:
                with socket.socket(socket.AF_UNIX) as through:
                    through.connect(f"/proc/self/fd/{opened}/{real.name}")
                    through.sendall(request)
                    while part := through.recv(1 << 16):
                        taken.append(part)

    thread = threading.Thread(target=take)
    thread.start()
    try:
        yield
        thread.join(PATIENCE_S)
        assert taken
        assert not forward or b"HTTP/1.1 200" in b"".join(taken)
    finally:
        listener.close()
        os.close(opened)
        place.unlink()
        real.rename(place)


def by_type(board: Board, kind: str) -> list[dict[str, object]]:
    return [event for event in board.events() if event["type"] == kind]


def test_a_command_goes_through_the_server_and_says_the_same(board: Board) -> None:
    alone = board.corral("task", "add", "Alone").out
    with serve(board) as served:
        assert board.corral("task", "add", "Served").out == alone.replace("AF-1", "AF-2").replace(
            "Alone", "Served"
        )
        before = served.get("/metrics").body
        claimed = board.data("task", "claim", "AF-1", "--as", "ana")
        assert claimed["claim"]["holder"] == "ana"
        assert served.get("/metrics").body != before
        refused = board.refused("task", "claim", "AF-1", "--as", "bo", code=3)
        assert refused["code"] == "already_claimed"
        assert board.refused("task", "show", "AF-9", code=4)["code"] == "not_found"
        assert board.refused("task", "comment", "AF-9", "x", code=4)["code"] == "not_found"
        bad = board.refused("task", "edit", "AF-2", "--priority", "-1", code=2)
        assert bad["code"] == "bad_input"
    assert "key" in board.events()[-1] or "key" in board.events()[-2]


@pytest.mark.parametrize("forward", [True, False])
def test_an_answer_that_never_comes_loses_and_doubles_nothing(board: Board, forward: bool) -> None:
    with serve(board) as served:
        with between(served, forward=forward):
            added = board.data("task", "add", "Only once")
        assert added["id"] == "AF-1"
        with between(served, forward=forward):
            claim = board.data("task", "claim", "--next", "--as", "ana")
        assert (claim["id"], claim["claim"]["holder"]) == ("AF-1", "ana")
        board.corral("task", "submit", "AF-1", "--token", claim["token"])
    assert len(by_type(board, "task.added")) == 1
    assert len(by_type(board, "task.claimed")) == 1
    board.corral("log", "verify")


def test_a_dead_server_is_not_waited_for(board: Board) -> None:
    with serve(board) as served:
        served.kill()
        assert (board.folder / "run" / "server.sock").exists()
        assert board.data("task", "add", "On the log")["id"] == "AF-1"
        assert board.refused("link", code=4)["code"] == "no_server"
    with serve(board) as again:
        assert board.data("task", "add", "Through the next one")["id"] == "AF-2"
        assert again.stop() in (0, -15)
        assert not (board.folder / "run" / "server.sock").exists()
        assert not (board.folder / "server.json").exists()


def test_claimers_lose_nothing_when_the_server_is_killed_among_them(board: Board) -> None:
    """Twelve processes claim, the server dies in the middle; what they were told is in the log."""
    for number in range(24):
        board.add(f"Task {number}")
    with serve(board) as served:
        claimers = [
            board.started(
                *("task", "claim", "--next", "--as", f"c{number}", "--json"),
                stdout=subprocess.PIPE,
            )
            for number in range(12)
        ]
        served.kill()
        outs = [claimer.communicate(timeout=PATIENCE_S)[0] for claimer in claimers]
    assert all(claimer.returncode == 0 for claimer in claimers)
    answered = {(d["id"], d["token"]) for d in (json.loads(out)["data"] for out in outs)}
    logged = {
        (event["data"]["task"], event["data"]["token"])  # type: ignore[index]
        for event in by_type(board, "task.claimed")
    }
    assert len(answered) == 12
    assert answered == logged


def send_to(board: Board, *texts: str) -> None:
    for text in texts:
        board.corral("message", "send", "people", text)


def test_a_reading_whose_answer_was_lost_is_answered_again(board: Board) -> None:
    """The server has delivered the messages, and dies before anybody was told of them."""
    with serve(board) as served:
        send_to(board, "One", "Two")
        with between(served, forward=True):
            read = board.data("message", "read", "--as", "ana")
        assert [message["text"] for message in read["messages"]] == ["One", "Two"]
        assert board.data("message", "read", "--as", "ana")["messages"] == []
    assert len(by_type(board, "message.delivered")) == 2


def test_a_program_that_asks_again_with_its_key_gets_the_same_messages(board: Board) -> None:
    key = {"Idempotency-Key": "this-reading", "Corral-Actor": "ana"}
    with serve(board) as served:
        send_to(board, "One", "Two", "Three")
        first = served.post("/api/message/read", {}, headers=key).data["messages"]
        send_to(board, "Later")
        served.kill()
    with serve(board) as again:
        assert again.post("/api/message/read", {}, headers=key).data["messages"] == first
        assert [message["text"] for message in first] == ["One", "Two", "Three"]
        other = {"Idempotency-Key": "another-reading", "Corral-Actor": "ana"}
        (later,) = again.post("/api/message/read", {}, headers=other).data["messages"]
        assert later["text"] == "Later"


def test_the_bridge_asks_again_when_an_answer_was_lost(board: Board) -> None:
    with serve(board) as served:
        send_to(board, "One", "Two")
        bridge = board.started("mcp", "--as", "ana", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert bridge.stdout is not None

        def ask(number: int, method: str, **params: object) -> None:
            asked = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            assert bridge.stdin is not None
            bridge.stdin.write(json.dumps(asked).encode() + b"\n")
            bridge.stdin.flush()

        ask(1, "tools/list")
        assert b'"inbox"' in bridge.stdout.readline()
        with between(served, forward=True):
            ask(2, "tools/call", name="inbox", arguments={})
        answer = json.loads(bridge.stdout.readline())
        assert answer["id"] == 2
        found = json.loads(answer["result"]["content"][0]["text"])["messages"]
        assert [message["text"] for message in found] == ["One", "Two"]
        # Without a key an agent can say so itself.
        ask(3, "tools/call", name="inbox", arguments={"ack": [found[0]["id"]], "again": True})
        rest = json.loads(bridge.stdout.readline())["result"]["content"][0]["text"]
        assert [message["text"] for message in json.loads(rest)["messages"]] == ["Two"]
        bridge.stdin.close()  # type: ignore[union-attr]  # it is a pipe
        assert bridge.wait(PATIENCE_S) == 0
        bridge.stdout.close()
    assert len(by_type(board, "message.delivered")) == 2


def test_a_plan_that_is_asked_for_again_names_all_its_tasks(board: Board) -> None:
    tasks = [{"key": name, "title": name, "accept": ["true"]} for name in ("a", "b", "c")]
    plan = {"convoy": {"title": "P"}, "task": tasks}
    key = {"Idempotency-Key": "this-one-plan"}
    with serve(board) as served:
        first = served.post("/api/plan/apply", {"plan": plan}, headers=key).data
        assert len(first["tasks"]) == 3
        assert served.post("/api/plan/apply", {"plan": plan}, headers=key).data == first


def test_a_folder_with_a_long_name_has_a_server_too(tmp_path: "os.PathLike[str]") -> None:
    from pathlib import Path

    from tests.e2e.corral_command import make_repository

    deep = make_repository(Path(tmp_path) / ("long" * 20) / ("name" * 20))
    deep.corral("init")
    deep.corral("convoy", "create", "Auth fix")
    with serve(deep) as served:
        before = served.get("/metrics").body
        assert deep.data("task", "add", "One")["id"] == "AF-1"
        assert served.get("/metrics").body != before


def loaded(board: Board, *words: str) -> set[str]:
    """Run a command and return the names of all modules that it has imported."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "corral", *words],
        cwd=board.path,
        env=board.env,
        capture_output=True,
        text=True,
        check=True,
    )
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}


@pytest.mark.parametrize("words", [("task", "add", "One"), ("status",), ("status", "--json")])
def test_with_a_server_a_command_loads_neither_the_log_nor_what_the_server_needs(
    board: Board, words: tuple[str, ...]
) -> None:
    with serve(board):
        found = loaded(board, *words)
    assert "corral.interfaces.cli.remote" in found
    assert not [name for name in found if name.split(".")[0] in FORBIDDEN or name in FORBIDDEN]
    assert not [name for name in found if name in LOG or name == "re"]


@pytest.mark.parametrize("words", [("--version",), ("help",), ("help", "run"), ("__complete", "t")])
def test_what_is_not_about_a_repository_does_not_load_the_log(
    board: Board, words: tuple[str, ...]
) -> None:
    assert not loaded(board, *words) & {*LOG, *(("msgspec",) if words == ("--version",) else ())}


def test_status_shows_the_same_with_a_server_and_knows_what_others_wrote(board: Board) -> None:
    board.add("One")
    board.corral("task", "claim", "AF-1", "--as", "ana")
    alone = board.corral("status", "--json").out
    with serve(board):
        assert board.corral("status", "--json").out == alone
        store = SqliteStore(board.folder)
        told = TaskCommented(task=TaskId("AF-1"), text="written beside the server")
        store.transaction(Request("bo", lambda state, now: [told], lambda state, stored: None))
        store.close()
        served = board.corral("status").out
    assert served == board.corral("status").out
    assert "1 doing" in served
    assert "ana (" in served


def test_words_that_are_no_text_are_refused_with_a_server_as_without(bare_board: Board) -> None:
    bare_board.here("init", code=0)
    with serve(bare_board):
        said = bare_board.corral("convoy", "create", b"caf\xe9", code=2).err
        assert "the title is not valid UTF-8 at character 4" in said
        bare_board.corral("pause", "--convoy", b"caf\xe9", code=4)
