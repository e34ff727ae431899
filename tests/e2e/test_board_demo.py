"""`corral demo`, run for real: in a pipe, on a terminal, for a program, interrupted, killed."""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import termios
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from corral.core.ids import ConvoyId, TaskId, Token
from corral.core.log import events as e
from corral.core.log.codec import Record, decode, encode
from corral.interfaces.cli.board_demo import proof
from corral.interfaces.cli.board_demo.board import Plan, plan
from corral.interfaces.cli.output import width
from tests.e2e.corral_command import CORRAL
from tests.patience import PATIENCE_S

SMALL = ("--tasks", "30", "--claimers", "8")
ESCAPE = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def bare(tmp_path: Path, **more: str) -> dict[str, str]:
    """Return an environment without HOME, TERM, or a name for git; folders are made in tmp_path."""
    return {"PATH": os.environ["PATH"], "TMPDIR": str(tmp_path), "PYTHONWARNINGS": "error", **more}


def run(tmp_path: Path, *words: str, **more: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [CORRAL, "demo", "--board", *words],
        env=bare(tmp_path, **more),
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
        check=False,
    )


@pytest.fixture
def started(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    """A demo in a process group of its own, whose claimers hold its standard output open."""
    with subprocess.Popen(
        [CORRAL, "demo", "--board"],
        env=bare(tmp_path),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    ) as process:
        yield process
        if process.poll() is None:
            process.kill()


def read_until(process: "subprocess.Popen[str]", word: str) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(word):
            return
    raise AssertionError(f"the demo has never said {word!r}")


def test_in_a_pipe_it_tells_the_story_and_proves_it(tmp_path: Path) -> None:
    done = run(tmp_path, *SMALL, PYTHONDONTWRITEBYTECODE="1")
    assert done.returncode == 0, done
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    lines = done.stdout.splitlines()
    first_words = [line.split()[0] for line in lines if line]
    assert {"refused", "killed", "stopped", "takeover", "woken"} <= set(first_words)
    assert first_words.count("✓") == 10
    assert "✗" not in done.stdout
    assert any("that would be a cycle: ND-1 → " in line for line in lines)
    assert any("ND-1 is held by ana" in line for line in lines)
    assert any("came late: the token is not the current one of ND-2" in line for line in lines)
    assert any(line.startswith("100 %") and "30 done" in line for line in lines)
    assert sum(" % " in line for line in lines) <= 11
    assert lines[-3].split()[:2] == ["corral", "init"]
    assert list(tmp_path.iterdir()) == []


def test_on_a_terminal_of_60_columns_it_redraws_in_place_and_fits(tmp_path: Path) -> None:
    code, out = on_a_terminal(60, bare(tmp_path, TERM="xterm"), *SMALL)
    assert code == 0, out
    assert "\x1b[4A\x1b[J" in out
    assert "100 %" in out
    assert "Everything held." in out
    shown = ESCAPE.sub("", out).split("\r\n")
    assert [line for line in shown if width(line) > 60] == []
    assert list(tmp_path.iterdir()) == []


def on_a_terminal(columns: int, env: Mapping[str, str], *words: str) -> tuple[int, str]:
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [CORRAL, "demo", "--board", *words], env=env, stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    out = b"".join(iter(lambda: read_terminal(ours), b""))
    os.close(ours)
    return process.wait(PATIENCE_S), out.decode()


def read_terminal(fd: int) -> bytes:
    try:
        return os.read(fd, 65_536)
    except OSError:  # Linux says so when the last process has closed its side
        return b""


def test_for_a_program_it_prints_one_object(tmp_path: Path) -> None:
    done = run(tmp_path, *SMALL, "--json", "--keep")
    assert done.returncode == 0, done
    assert done.stderr == ""
    data: dict[str, Any] = json.loads(done.stdout)["data"]
    assert (data["tasks"], data["claimers"], data["failed"]) == (30, 8, 0)
    assert [check for check in data["checks"] if not check["ok"]] == []
    assert len(data["checks"]) == 10
    assert len(data["killed"]) == 1
    refusals = [note["text"] for note in data["notes"] if note["what"] == "refused"]
    assert refusals[0].startswith("that would be a cycle: ND-1 → ")
    assert refusals[1].startswith("ND-1 is held by ana")
    assert any("came late" in text for text in refusals[2:])
    status = subprocess.run(
        [CORRAL, "status", "--json", "--repo", data["repository"]], capture_output=True, check=True
    )
    board = json.loads(status.stdout)["data"]
    assert board["seq"] == data["events"]
    assert {task["column"] for task in board["tasks"]} == {"done"}


def test_a_single_claimer_is_left_in_peace(tmp_path: Path) -> None:
    done = run(tmp_path, "--tasks", "1", "--claimers", "1")
    assert done.returncode == 0, done
    assert "that would be a cycle: ND-1 → ND-1;" in done.stdout
    assert not {"killed", "stopped"} & set(done.stdout.split())


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupted_it_leaves_nothing_behind(
    started: "subprocess.Popen[str]", tmp_path: Path, number: int, code: int
) -> None:
    read_until(started, "stopped")
    os.killpg(started.pid, number)  # like Ctrl-C, which the claimers hear as well
    _, complaint = started.communicate(timeout=PATIENCE_S)
    assert started.returncode == code
    assert complaint == ""
    with pytest.raises(ProcessLookupError):
        os.killpg(started.pid, 0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not os.path.exists("/proc"), reason="only Linux ends stopped orphans")
def test_killed_it_takes_its_claimers_along(started: "subprocess.Popen[str]") -> None:
    read_until(started, "stopped")
    os.kill(started.pid, signal.SIGKILL)
    started.communicate(timeout=PATIENCE_S)  # ends when the last claimer has closed the pipe
    assert started.returncode == -signal.SIGKILL


@pytest.mark.parametrize(
    "words",
    [("--tasks", "0"), ("--claimers", "-1"), ("--tasks", "many"), ("--claimers", "100000")],
)
def test_bad_options_are_one_sentence(tmp_path: Path, words: tuple[str, str]) -> None:
    done = run(tmp_path, *words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert words[0] in done.stderr.splitlines()[0]
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_plan_is_the_same_each_time_and_leaves_somebody_to_take_over() -> None:
    assert plan(300, 30, "ND") == plan(300, 30, "ND")
    for size, claimers in ((1, 1), (2, 30), (7, 2), (300, 30)):
        drawn = plan(size, claimers, "ND")
        assert sum(len(layer) for layer in drawn.layers) == size
        assert len(set(drawn.hard)) == len(drawn.hard) < claimers
        assert drawn.tasks[0] not in drawn.hard
    assert len(plan(300, 30, "ND").killed) == 4


A, B = TaskId("ND-1"), TaskId("ND-2")
Step = tuple[int, str, e.Event]  # when, who, what


def claim(at: int, who: str, token: str, task: TaskId = A) -> Step:
    event = e.TaskClaimed(task=task, holder=who, token=Token(token), expires_at=at + 10)
    return at, who, event


def lapse(at: int, who: str, token: str) -> Step:
    return at, "ana", e.TaskLapsed(task=A, holder=who, token=Token(token))


def submit(at: int, who: str, token: str) -> Step:
    return at, who, e.TaskSubmitted(task=A, token=Token(token))


def land(task: TaskId = A) -> Step:
    return 90, "ana", e.TaskLanded(task=task)


LATE_COMMENT: Step = (40, "eve", e.TaskCommented(task=A, text="refused: the token is old"))
GOOD = (claim(1, "eve", "3"), lapse(11, "eve", "3"), claim(11, "ben", "5"), submit(12, "ben", "5"))
END = (LATE_COMMENT, land(), claim(91, "ben", "9", B), land(B))


@pytest.mark.parametrize(
    ("steps", "broken"),
    [
        ((*GOOD, *END), set()),
        ((*GOOD, *END, land(B)), {proof.ONCE}),
        ((*GOOD, *END[:-1]), {proof.ONCE}),
        ((GOOD[0], claim(2, "ben", "4"), submit(3, "ben", "4"), *END), {proof.ALONE, proof.LATE}),
        ((GOOD[0], lapse(10, "eve", "3"), *GOOD[2:], *END), {proof.ALONE}),
        ((*GOOD[:3], submit(12, "eve", "3"), *END), {proof.FENCED}),
        ((*GOOD, *END[1:]), {proof.LATE}),
        ((*GOOD, LATE_COMMENT, END[2], END[1], END[3]), {proof.ORDER}),
        ((*GOOD, *END, (99, "demo", e.TaskEdited(task=A, needs=(B,)))), {proof.NO_TRACE}),
    ],
)
def test_the_proof_finds_what_is_wrong(steps: tuple[Step, ...], broken: set[str]) -> None:
    replay = proof.Replay(Plan([], [A, B], stopped=A, killed=()))
    replay.walk(records(steps))
    assert {name for name, faults in replay.faults.items() if faults} == broken


def records(steps: tuple[Step, ...]) -> Iterator[Record]:
    convoy = ConvoyId("night-drive")
    added: tuple[Step, ...] = (
        (0, "demo", e.TaskAdded(task=A, convoy=convoy, title="a")),
        (0, "demo", e.TaskAdded(task=B, convoy=convoy, title="b", needs=(A,))),
    )
    for seq, (at, who, event) in enumerate((*added, *steps), 1):
        yield decode(encode(seq, at, who, event))
