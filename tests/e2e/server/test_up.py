"""`corral up` runs everything for one repository, once, and disturbs no other."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from corral.roles.locks import taken
from tests.e2e.corral_command import Board, make_repository
from tests.e2e.server.live_server import Served, wait_for
from tests.e2e.whole.ci import Ci, make_ci

ROLES = ("server", "witness", "refinery", "deacon")


@contextmanager
def up(board: Board) -> Iterator[dict[str, object]]:
    started = board.data("up", "-d")
    try:
        yield started
    finally:
        board.corral("down", "--json", code=None)


def roles_run(board: Board) -> bool:
    return all(taken(str(board.folder), role) for role in ROLES)


def record(board: Board) -> dict[str, object]:
    found: dict[str, object] = json.loads((board.folder / "server.json").read_text())
    return found


def prepared(path: Path) -> Board:
    board = make_repository(path)
    board.here("init", code=0)
    board.here("convoy", "create", "Auth fix", code=0)
    return board


def comes_back(here: Board) -> bool:
    """Kill a server; say whether the next one is at the same address."""
    before = record(here)
    os.kill(int(str(before["pid"])), signal.SIGKILL)
    wait_for(lambda: record(here)["pid"] != before["pid"] and roles_run(here), "it is up again")
    return record(here)["url"] == before["url"]


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

        roles = children(int(str(first["pid"])))
        os.kill(int(str(first["pid"])), signal.SIGKILL)
        wait_for(
            lambda: not any(Path(f"/proc/{pid}").exists() for pid in roles),
            "the roles end with their supervisor",
        )
        assert not any(taken(str(one.folder), role) for role in ROLES)
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
        # A lower port is free now, but clients know this one.
        assert any(comes_back(two) for _ in range(5)), "never, though others may be quicker"
        served = Served(two, None, str(record(two)["url"]))  # type: ignore[arg-type]
        assert served.get("/api/jobs").data["roles"][0] == {"name": "server", "runs": True}
    assert one.refused("down", code=4)["code"] == "not_up"
    assert not taken(str(two.folder), "server")


def test_from_a_plan_to_landed_while_every_role_is_killed(tmp_path: Path) -> None:
    """One command runs all of it; a role that is killed in the middle is started again."""
    ci = make_ci(tmp_path)
    plan = ci.plan(
        ci.script("first", ci.work()),
        ci.script("second", f"sleep 2; {ci.work()}", "first"),
        ci.script("third", ci.work(), "second"),
    )
    with up(ci) as started:
        wait_for(lambda: roles_run(ci), "all roles run")
        ci.corral("plan", "apply", plan)
        supervisor = int(str(started["pid"]))
        before = children(supervisor)
        assert len(before) == len(ROLES)
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        wait_for(lambda: renewed(ci, supervisor, before), "all are started again")
        wait_for(lambda: ci.count("task.landed") == 3, "all has landed")
        assert ci.count("session.ended") == 3, "nothing was done twice"
        served = Served(ci, None, str(record(ci)["url"]))  # type: ignore[arg-type]
        jobs = wait_for(lambda: served.get("/api/jobs").data, "the server answers")
        assert jobs["roles"] == [{"name": role, "runs": True} for role in ROLES]
        assert {"claims", "leases"} <= {chore["name"] for chore in jobs["chores"]}
    assert children(supervisor) == set()
    assert not any(taken(str(ci.folder), role) for role in ROLES)


def renewed(ci: Ci, supervisor: int, before: set[int]) -> bool:
    now = children(supervisor)
    return len(now) == len(ROLES) and not now & before and roles_run(ci)


def children(pid: int) -> set[int]:
    """Return the processes that a process has started and that still run."""
    try:
        tasks = [(task / "children").read_text() for task in Path(f"/proc/{pid}/task").iterdir()]
    except FileNotFoundError:
        return set()
    return {int(child) for text in tasks for child in text.split()}


def test_down_says_so_if_it_cannot_tell_what_to_end(tmp_path: Path) -> None:
    board = prepared(tmp_path / "one")
    with up(board):
        record = board.folder / "up.json"
        kept = record.read_bytes()
        for content in (b"garbage", b"{}", b"", None):
            record.write_bytes(content) if content is not None else record.unlink()
            assert board.refused("down", code=3)["code"] == "not_down", content
        record.write_bytes(kept)
        record.chmod(0o600)


def test_a_port_that_is_taken_is_left_alone(tmp_path: Path) -> None:
    board = prepared(tmp_path / "one")
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        for words in (("serve",), ("up",), ("up", "-d")):
            refused = board.refused(*words, "--port", str(port), code=3)
            assert refused["code"] == "port_taken", words
        (board.path / ".corral" / "config.toml").write_text(f"[server]\nport = {port}\n")
        assert board.refused("up", "-d", code=3)["code"] == "port_taken"
        assert not any(taken(str(board.folder), role) for role in (*ROLES, "supervisor"))


def test_what_cannot_come_up_says_why_and_leaves_nothing(tmp_path: Path) -> None:
    board = prepared(tmp_path / "one")
    (board.folder / "token").write_text("read by all")
    (board.folder / "token").chmod(0o644)
    assert "others can read" in board.refused("up", "-d", code=1)["message"]
    assert "others can read" in board.refused("up", code=1)["message"]
    (board.folder / "token").chmod(0o600)
    (board.folder / "run").write_text("a file where a folder belongs")
    for words in (("serve",), ("up", "-d")):
        refused = board.refused(*words, code=1)
        assert (refused["code"], "/run" in refused["message"]) == ("failed", True), refused
    assert not any(taken(str(board.folder), role) for role in (*ROLES, "supervisor"))


@pytest.mark.parametrize("name", ["plain", 'a %n "b" $HOME \\x c'])
def test_a_unit_for_systemd_names_this_repository(tmp_path: Path, name: str) -> None:
    board = prepared(tmp_path / name)
    unit = board.corral("up", "--systemd").out
    (command,) = [line for line in unit.splitlines() if line.startswith("ExecStart=")]
    words = re.findall(r'"((?:[^"\\]|\\.)*)"', command)
    plain = [re.sub(r"\\(.)", r"\1", word).replace("%%", "%").replace("$$", "$") for word in words]
    assert plain[1:] == ["-m", "corral", "up", "--repo", str(board.path)]
    assert f"WorkingDirectory={str(board.path).replace('%', '%%')}\n" in unit
    assert f'Environment="PATH={board.env["PATH"]}' in unit
    analyse = shutil.which("systemd-analyze")
    if analyse is not None:
        file = tmp_path / "corral.service"
        file.write_text(unit)
        done = subprocess.run([analyse, "verify", str(file)], capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b""), done
