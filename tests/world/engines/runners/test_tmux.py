"""The runner for interactive programs, with a real tmux."""

import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from corral.core.engine.facts import Began, Finished, Told, Trouble
from corral.world import processes
from corral.world.engines.runners import inbox
from corral.world.engines.runners.inbox import DeliveryProof, Inbox
from corral.world.engines.runners.orders import TmuxOrder, runner_argv
from corral.world.engines.runners.tmux import server
from corral.world.engines.runners.tmux.claude import Transcript
from tests.world.engines.runners.runner_process import running, send, until
from tests.world.processes.sessions import Sessions

CHATTY = (sys.executable, str(Path(__file__).with_name("chatty.py")))


@pytest.fixture(autouse=True)
def _need_tmux() -> None:
    if shutil.which("tmux") is None:
        if os.environ.get("CORRAL_NEED_ENGINES"):
            pytest.fail("tmux is not installed")
        pytest.skip("tmux is not installed")


def order(room: Path, *argv: str, **more: Any) -> TmuxOrder:
    return TmuxOrder(room=str(room), argv=argv or CHATTY, **({"proof_s": 5} | more))


def heard(room: Path) -> list[str]:
    path = room / "tree" / "heard"
    return path.read_text().splitlines() if path.exists() else []


def test_text_goes_in_once_and_the_exit_code_comes_out(tmp_path: Path) -> None:
    # Longer than a socket's name may be.
    room = tmp_path / ("long" * 30)
    room.mkdir()
    (room / "tree").mkdir()
    (room / "tree" / ".tmux.conf").write_text("set -g base-index 7\nrun-shell false\n")
    with running(order(room, *CHATTY, "x;", "$HOME"), "hello", room / "tree") as runner:
        until(runner.saw(Told))
        assert inbox.reader_of(str(room)) == "tmux"
        texts = ["two\nlines", "with \x1b[201~ \x03 an escape; and 'quotes' $(id) #{pid} ✓"]
        numbers = [send(room, text) for text in texts]
        until(lambda: inbox.receipt(str(room), numbers[-1]))
        assert inbox.receipt(str(room), numbers[0]) is DeliveryProof.SCREEN
        shown = "\n".join(server.capture(str(room), 50, joined=True))
        assert f"ready alone {room / 'tree'} ['x;', '$HOME']" in shown
        assert "> hello" in shown
        send(room, "exit 5")
        assert runner.end() == 5
    last = "with [201~  an escape; and 'quotes' $(id) #{pid} ✓"
    assert heard(room) == ["hello", "two", "lines", last, "exit 5"]
    assert isinstance(runner.facts[0], Began)
    assert runner.finished == Finished(
        trouble=Trouble.OTHER, text="the program ended with exit code 5"
    )
    assert not (room / "tmux.sock").exists()
    assert any("> hello" in line for line in runner.lines)  # its last screen


def test_a_text_that_shows_nowhere_is_said_to_be_unproved(tmp_path: Path) -> None:
    with running(order(tmp_path, proof_s=1), "mute", tmp_path / "tree") as runner:
        until(runner.saw(Told))
        number = send(tmp_path, "mute")
        until(lambda: inbox.receipt(str(tmp_path), number))
        assert inbox.receipt(str(tmp_path), number) is DeliveryProof.NONE
        assert runner.saw(Told)()[-1] == Told(text="mute", proof="none")
        assert runner.stop() == 143


def test_stopping_leaves_no_server_and_nothing_in_it(sessions: Sessions) -> None:
    room = sessions.root
    argv, env = runner_argv(order(room))
    (room / "tree").mkdir()
    brief = room / "brief"
    brief.write_text("fork")
    env |= sessions.launch("one", "x").env
    started = sessions.start("one", *argv, env=env, stdin=str(brief), cwd=str(room / "tree"))
    until(lambda: any('"told"' in line for line in processes.tail(sessions.folder("one"), 9)))
    assert len(sessions.alive()) >= 4
    os.kill(started.program_pid, 15)
    assert sessions.ended("one").code == 143
    assert sessions.alive() == set()
    # And if it is killed, text that it had taken is in doubt, and the next one says it.
    send(room, "again")
    assert Inbox(str(room), "tmux").take() is not None
    brief.write_text("")
    sessions.start("two", *argv, env=env, stdin=str(brief), cwd=str(room / "tree"))
    until(lambda: inbox.receipt(str(room), "m-1"))
    assert heard(room) == ["fork", "again"]
    assert processes.ask_stop(sessions.folder("two"))
    sessions.ended("two")
    assert sessions.alive() == set()


def test_how_else_it_can_end(tmp_path: Path) -> None:
    with running(order(tmp_path), "die", tmp_path / "tree") as runner:
        assert runner.end() == 143
    assert runner.finished.text == "the program ended with exit code 143"
    with running(order(tmp_path), "hello", tmp_path / "tree") as runner:
        until(runner.saw(Told))
        server.run(str(tmp_path), "kill-session")  # as a person would, by closing the window
        assert runner.end() == 129
    assert runner.finished.text == "the program's window was closed"
    with running(order(tmp_path, "no-such-program"), "x", tmp_path / "tree") as runner:
        assert runner.end() == 2
    assert runner.finished.text == "no-such-program: there is no such program"


def test_without_tmux_it_says_so(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    wanted = order(tmp_path, str(program))
    with running(wanted, "x", tmp_path / "tree", PATH=str(tmp_path)) as runner:
        assert runner.end() == 2
    assert runner.finished.text == "tmux is not installed, and this session needs it"


def test_claude_proves_it_by_its_transcript(tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "-tree"
    folder.mkdir(parents=True)
    transcript = folder / "u.jsonl"
    record = Transcript(str(tmp_path))
    assert not record.has("do it")

    def add(kind: str, content: Any) -> None:
        entry = {"type": kind, "message": {"role": kind, "content": content}}
        with transcript.open("a") as file:
            file.write(json.dumps(entry) + "\n")

    add("assistant", "do it")
    assert not record.has("do it")
    add("user", [{"type": "text", "text": "please do\nit  now"}])
    assert record.has("do it")
    record.mark()
    assert not record.has("do it")
    add("user", "do it")
    assert record.has("do it")
