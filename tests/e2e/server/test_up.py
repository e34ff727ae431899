"""R39: `corral up` runs everything of one repository, once, and disturbs no other."""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from corral.roles.locks import taken
from tests.e2e.corral_command import Board, make_repository
from tests.e2e.server.serving import Served, wait_for


@contextmanager
def up(board: Board) -> Iterator[dict[str, object]]:
    started = board.data("up", "-d")
    try:
        yield started
    finally:
        board.corral("down", "--json", code=None)


def roles_run(board: Board) -> bool:
    return all(taken(str(board.folder), role) for role in ("server", "witness", "deacon"))


def record(board: Board) -> dict[str, object]:
    found: dict[str, object] = json.loads((board.folder / "server.json").read_text())
    return found


def prepared(path: Path) -> Board:
    board = make_repository(path)
    board.corral("init")
    board.corral("convoy", "create", "Auth fix")
    return board


def test_two_repositories_one_killed_and_up_again(tmp_path: Path) -> None:
    one, two = prepared(tmp_path / "one"), prepared(tmp_path / "two")
    with up(one) as first, up(two) as second:
        assert first["url"] != second["url"]
        again = one.refused("up", code=3)
        assert again["code"] == "already_up"
        assert one.refused("up", "-d", code=3)["code"] == "already_up"
        wait_for(lambda: roles_run(one) and roles_run(two), "all roles run")
        one.data("task", "add", "Of one")
        two.data("task", "add", "Of two")

        server = int(str(record(one)["pid"]))
        os.kill(server, signal.SIGKILL)
        wait_for(lambda: record(one)["pid"] != server and roles_run(one), "it is started again")
        one.data("task", "add", "After the kill")

        os.kill(int(str(first["pid"])), signal.SIGKILL)
        wait_for(
            lambda: not any(taken(str(one.folder), r) for r in ("server", "witness", "deacon")),
            "the roles end with their supervisor",
        )
        one.data("task", "add", "On the log")
        with up(one) as third:
            assert third["url"] != second["url"]
            wait_for(lambda: roles_run(one), "all roles run")
            assert [t["title"] for t in one.data("status")["tasks"]] == [
                "Of one",
                "After the kill",
                "On the log",
            ]
        assert [t["title"] for t in two.data("status")["tasks"]] == ["Of two"]
        served = Served(two, None, str(second["url"]))  # type: ignore[arg-type]
        assert served.get("/api/jobs").data["roles"][0] == {"name": "server", "runs": True}
    assert one.refused("down", code=4)["code"] == "not_up"
    assert not taken(str(two.folder), "server")


def test_a_port_that_is_taken_is_left_alone(tmp_path: Path) -> None:
    import socket

    board = prepared(tmp_path / "one")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        refused = board.refused("serve", "--port", str(port), code=3)
        assert refused["code"] == "port_taken"


def test_a_unit_for_systemd_names_this_repository(board: Board) -> None:
    unit = board.corral("up", "--systemd").out
    assert f"WorkingDirectory={board.path}\n" in unit
    assert f"-m corral up --repo {board.path}\n" in unit
