"""`corral session attach`: live, complete, across rotation, and without touching the session."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from corral.roles.records.follow import OutputFollower
from corral.world.processes.output import OutputFiles
from tests.e2e.corral_command import CORRAL, Board
from tests.e2e.terminal import Terminal
from tests.patience import PATIENCE_S
from tests.world.processes.sessions import await_in

# It prints what it is sent through a named pipe, as one JSON text a line; `null` ends it.
AGENT = """
import json, sys
print("hello", flush=True)
with open(sys.argv[1]) as pipe:
    for line in pipe:
        said = json.loads(line)
        if said is None:
            sys.exit(3)
        print(said, end="", flush=True)
"""


class Show:
    """A session that prints what the test sends it."""

    def __init__(self, board: Board) -> None:
        self.board = board
        top = board.path.parent
        pipe = top / "pipe"
        os.mkfifo(pipe)
        # For both directions: opening one end alone would wait for the other.
        self._pipe = os.open(pipe, os.O_RDWR)
        agent = top / "agent.py"
        agent.write_text(AGENT)
        (board.path / ".corral" / "config.toml").write_text(
            "[watch]\noutput_mb = 1\nattempts = 1\ngrace_s = 1\n"
        )
        run = [f"--run={word}" for word in ("python3", "-u", str(agent), str(pipe))]
        board.corral("task", "add", "Print", *run)
        self.witness = board.started("witness", "run", "--once")
        self.room = board.folder / "sessions" / "AF-1.1"
        await_in(
            str(board.folder), lambda: self.room.joinpath("run-1/process.json").exists() or None
        )

    def send(self, text: str | None) -> None:
        data = json.dumps(text).encode() + b"\n"
        while data:
            data = data[os.write(self._pipe, data) :]

    @contextmanager
    def attached(self) -> Iterator["subprocess.Popen[bytes]"]:
        """Yield an attached viewer; a failing test does not wait for its end."""
        pipe = subprocess.PIPE
        words = ("session", "attach", "AF-1.1")
        with self.board.started(*words, stdout=pipe, stderr=pipe) as seen:
            try:
                yield seen
            finally:
                seen.kill()

    def close(self) -> None:
        if self.witness.poll() is None:
            self.board.corral("session", "stop", "AF-1.1", code=None)
            self.witness.wait(PATIENCE_S)
        os.close(self._pipe)


@pytest.fixture
def show(board: Board) -> Iterator[Show]:
    made = Show(board)
    yield made
    made.close()


def test_output_is_shown_as_it_comes_until_the_verdict(show: Show) -> None:
    with show.attached() as seen:
        assert seen.stdout is not None
        assert seen.stdout.readline() == b"hello\n"
        for word in ("one\n", "two\n"):
            show.send(word)
            assert seen.stdout.readline() == word.encode()
        show.send("no end of line")
        show.send(None)
        out, err = seen.communicate(timeout=PATIENCE_S)
        assert out == b"no end of line"
        assert err.startswith(b"corral: AF-1.1 ended: crashed: exit code 3")
        assert seen.returncode == 0


def test_nothing_is_lost_or_doubled_when_the_output_is_rotated(show: Show) -> None:
    with show.attached() as seen:
        assert seen.stdout is not None
        assert seen.stdout.readline() == b"hello\n"
        for number in range(5):
            block = "".join(f"{number} {line:06}\n" for line in range(60_000))
            show.send(block)
            assert seen.stdout.read(len(block)) == block.encode()
        assert (show.room / "run-1" / "output.1").exists(), "it was rotated"
        show.send(None)
        out, err = seen.communicate(timeout=PATIENCE_S)
        assert out == b""
        assert b"some output was skipped" not in err


def test_interrupting_leaves_the_session_alone(show: Show) -> None:
    with show.attached() as seen:
        assert seen.stdout is not None
        seen.stdout.readline()
        seen.send_signal(signal.SIGINT)
        _, err = seen.communicate(timeout=PATIENCE_S)
        assert seen.returncode == 130
        assert b"keeps running" in err
    assert show.board.data("session", "show", "AF-1.1")["verdict"] == ""
    with show.attached() as again:
        assert again.stdout is not None
        again.stdout.readline()
        show.send("still here\n")
        assert again.stdout.readline() == b"still here\n"
        show.send(None)
        again.communicate(timeout=PATIENCE_S)


def test_a_session_that_has_ended_shows_its_last_lines_and_its_verdict(show: Show) -> None:
    show.send("".join(f"{n}\n" for n in range(100)))
    show.send(None)
    show.witness.wait(PATIENCE_S)
    answer = show.board.corral("session", "attach", "af-1.1", "--lines", "3")
    assert answer.out == "97\n98\n99\n"
    assert "ended: crashed" in answer.err
    assert show.board.corral("session", "attach", "AF-1.1", "--lines", "0").out == ""


def test_json_is_one_object_a_line_and_the_session_last(show: Show) -> None:
    show.send(None)
    show.witness.wait(PATIENCE_S)
    answer = show.board.corral("session", "attach", "AF-1.1", "--json")
    first, last = (json.loads(line) for line in answer.out.splitlines())
    assert first == {"output": "hello\n"}
    assert last["ok"] is True
    assert (last["data"]["id"], last["data"]["verdict"]) == ("AF-1.1", "crashed")


def test_without_a_witness_it_says_what_is_needed(show: Show) -> None:
    with show.attached() as seen:
        assert seen.stdout is not None
        seen.stdout.readline()
        show.witness.kill()
        show.witness.wait()
        show.send(None)
        _, err = seen.communicate(timeout=PATIENCE_S)
        assert seen.returncode == 0
        assert b"corral witness run" in err
    show.board.corral("witness", "run", "--once")
    assert show.board.data("session", "show", "AF-1.1")["verdict"] == "crashed"


def test_a_terminal_gets_colours_and_nothing_worse(show: Show) -> None:
    words = [CORRAL, "session", "attach", "AF-1.1"]
    with Terminal(words, show.board.path, show.board.env) as terminal:
        terminal.read_until("hello")
        show.send("\x1b[31mred\x1b[0m \x1b]0;title\x07\x1b[2Jrest\x9b6n\n\x1b[3")
        show.send("2mgreen")
        show.send(None)
        seen = terminal.read_all()
    assert "\x1b[31mred\x1b[0m ]0;title[2Jrest6n\r\n\x1b[32mgreen" in seen
    assert "\r\n\x1b[33mcorral:\x1b[0m AF-1.1 ended: crashed" in seen


def test_an_unknown_session_is_not_found(board: Board) -> None:
    assert board.refused("session", "attach", "AF-9.1", code=4)["hint"] == "corral session list"


class Writer:
    """The real writer of a session's output, with a small limit."""

    def __init__(self, folder: Path) -> None:
        self._output = OutputFiles(str(folder), 65_536)
        self._output.appear()
        self.written = b""

    def write(self, size: int) -> None:
        for _ in range(size // 64):
            line = b"%063d\n" % (len(self.written) // 64)
            self.written += line
            os.write(self._output.sink, line)
            self._output.move()

    def close(self) -> None:
        os.close(self._output.sink)
        os.close(self._output.source)
        os.close(self._output._file)


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    made = Writer(tmp_path)
    yield made
    made.close()


def rest(following: OutputFollower) -> tuple[bytes, int]:
    """Read all that there is; return it, and how many gaps were told."""
    found, gaps = b"", 0
    while (part := following.read()).data:
        found += part.data
        gaps += part.gap
    return found, gaps


def test_one_rotation_between_two_looks_loses_nothing(tmp_path: Path, writer: Writer) -> None:
    following = OutputFollower(str(tmp_path), 10)
    writer.write(32_768)
    assert rest(following) == (writer.written, 0)
    writer.write(65_536)
    assert rest(following) == (writer.written[32_768:], 0)
    following.close()


def test_what_is_gone_is_said(tmp_path: Path, writer: Writer) -> None:
    following = OutputFollower(str(tmp_path), 10)
    writer.write(640)
    assert following.read().data == writer.written
    writer.write(5 * 65_536)
    found, gaps = rest(following)
    assert gaps == 1
    assert writer.written.endswith(found[-65_536:])
    assert found.startswith(writer.written[640:65_536])
    assert len(found) < len(writer.written) - 640
    following.close()


def test_the_last_lines_may_lie_on_both_sides_of_a_rotation(tmp_path: Path, writer: Writer) -> None:
    writer.write(65_536 + 128)
    following = OutputFollower(str(tmp_path), 5)
    assert rest(following) == (writer.written[-5 * 64 :], 0)
    following.close()
