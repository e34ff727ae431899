"""Plain text in a pipe, colour on a terminal, live views, help and completion."""

import json
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from corral.interfaces.cli.catalogue import ENTRIES, FIRST
from tests.e2e.corral_command import CORRAL, Board, make_repository
from tests.e2e.terminal import Terminal
from tests.patience import PATIENCE_S


@pytest.fixture(scope="module")
def lived_in(tmp_path_factory: pytest.TempPathFactory) -> Board:
    """A board with something in every column."""
    board = make_repository(tmp_path_factory.mktemp("lived-in") / "project")
    board.here("init", code=0)
    board.here("convoy", "create", "Auth fix", code=0)
    for number in range(1, 6):
        board.here("task", "add", f"Task number {number}", code=0)
    board.here("task", "add", "Waits", "--needs", "AF-1", code=0)
    board.here("task", "block", "AF-2", "--reason", "stuck", code=0)
    board.here("task", "cancel", "AF-3", code=0)
    board.claim("AF-4", "ana")
    board.here("lease", "acquire", "port:8080", "--as", "ana", code=0)
    board.here("alert", "raise", "AF-1", "look here", code=0)
    return board


LOOKS = [
    "status",
    "task list",
    "task show AF-4",
    "convoy list",
    "convoy show auth-fix",
    "lease list",
    "alert list",
    "why AF-6",
    "log",
    "help",
    "doctor",
]


@pytest.mark.parametrize("command", LOOKS)
def test_in_a_pipe_everything_is_plain_and_on_a_terminal_it_has_colour(
    lived_in: Board, command: str
) -> None:
    words = command.split()
    plain = lived_in.corral(*words)
    assert "\x1b" not in plain.out
    assert "\t" not in plain.out
    with Terminal([CORRAL, *words], lived_in.path, lived_in.env) as terminal:
        coloured = terminal.read_all()
        assert terminal.process.returncode == 0
    if command == "why AF-6" or command.startswith(("lease", "alert", "convoy list")):
        assert "\x1b[" in coloured, coloured
    else:
        assert coloured.count("\x1b[") > 1, coloured


def test_no_color_is_obeyed_on_a_terminal(lived_in: Board) -> None:
    env = lived_in.env | {"NO_COLOR": "1"}
    with Terminal([CORRAL, "status"], lived_in.path, env) as terminal:
        assert "\x1b[" not in terminal.read_all()


def test_no_line_is_wider_than_a_narrow_terminal(lived_in: Board) -> None:
    env = lived_in.env | {"NO_COLOR": "1"}
    with Terminal([CORRAL, "task", "list"], lived_in.path, env, columns=50) as terminal:
        lines = terminal.read_all().splitlines()
    assert "…" in "".join(lines)
    assert max(map(len, lines)) <= 50


def test_status_shows_every_column_and_says_what_needs_a_person(lived_in: Board) -> None:
    out = lived_in.corral("status").out
    assert "1 backlog  2 todo  1 doing  1 blocked  1 cancelled" in out
    for part in ("auth-fix", "ana (", "stuck", "look here"):
        assert part in out


def test_a_reader_that_leaves_early_is_no_error(lived_in: Board) -> None:
    script = f"{CORRAL} log --json | head -n 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", script], cwd=lived_in.path, env=lived_in.env, capture_output=True, check=True
    )
    assert done.stderr == b""
    assert done.stdout.splitlines()[1] == b"0"


def test_a_full_disk_behind_stdout_is_one_sentence(lived_in: Board) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [CORRAL, "status"],
            cwd=lived_in.path,
            env=lived_in.env,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert b"No space left" in done.stderr
    assert len(done.stderr.splitlines()) <= 2


@pytest.fixture
def follower(board: Board, request: pytest.FixtureRequest) -> Iterator["subprocess.Popen[bytes]"]:
    process = board.started(*request.param, stdout=subprocess.PIPE)
    yield process
    process.kill()
    process.communicate()


@pytest.mark.parametrize("follower", [("log", "--follow", "--json")], indirect=True)
def test_log_follow_shows_an_event_of_another_process(
    board: Board, follower: "subprocess.Popen[bytes]"
) -> None:
    assert follower.stdout is not None
    assert [json.loads(follower.stdout.readline())["seq"] for _ in range(2)] == [1, 2]
    for number in (1, 2, 3):
        board.add(f"task {number}")
        shown = json.loads(follower.stdout.readline())
        assert shown["data"]["task"] == f"AF-{number}"
    follower.send_signal(signal.SIGINT)
    assert follower.wait(PATIENCE_S) == 130


@pytest.mark.parametrize("follower", [("status", "--watch", "--json")], indirect=True)
def test_status_watch_shows_a_change_of_another_process(
    board: Board, follower: "subprocess.Popen[bytes]"
) -> None:
    assert follower.stdout is not None
    assert json.loads(follower.stdout.readline())["data"]["tasks"] == []
    board.add("first")
    assert json.loads(follower.stdout.readline())["data"]["seq"] == 3
    board.claim("AF-1", "ana")
    assert json.loads(follower.stdout.readline())["data"]["tasks"][0]["state"] == "doing"


def test_status_watch_redraws_a_terminal(board: Board) -> None:
    board.add("first")
    with Terminal([CORRAL, "status", "--watch"], board.path, board.env) as terminal:
        assert "1 todo" in terminal.read_until("first")
        board.claim("AF-1", "ana")
        assert "\x1b[H" in terminal.read_until("ana (")
        terminal.process.send_signal(signal.SIGINT)
        terminal.read_all()
        assert terminal.process.returncode == 130


def test_log_follow_waits_for_a_log_that_is_not_there_yet(empty_board: Board) -> None:
    process = empty_board.started("log", "--follow", "--json", stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        empty_board.corral("convoy", "create", "Auth fix")
        types = [json.loads(process.stdout.readline())["type"] for _ in range(2)]
        assert types == ["log.created", "convoy.created"]
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("name", ENTRIES)
def test_help_of_every_command_says_what_it_takes(lived_in: Board, name: str) -> None:
    shown = lived_in.here(*name.split(), "--help", code=0)
    assert f"usage: corral {name}" in shown.out
    for flag in ("--json", "--repo", "--as"):
        assert flag in shown.out
    assert shown.err == ""


def test_help_names_the_first_commands_and_help_all_names_every_one(lived_in: Board) -> None:
    overviews = {lived_in.corral(*words).out for words in ((), ("help",), ("--help",))}
    assert len(overviews) == 1
    overview = overviews.pop()
    assert [name for name in ENTRIES if f"  {name} " in overview] == sorted(
        FIRST, key=list(ENTRIES).index
    )
    assert "corral help all" in overview
    every = lived_in.corral("help", "all").out
    for name in ENTRIES:
        assert f"  {name} " in every
    assert lived_in.corral("--version").out.startswith("corral ")


def completed(board: Board, *words: str) -> list[str]:
    """Ask bash, with the script loaded, what could stand in the place of the last word."""
    script = (
        'source <(corral completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1));'
        ' _corral; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script, "bash", *words],
        cwd=board.path,
        env=board.env,
        capture_output=True,
        check=True,
    )
    assert done.stderr == b""
    return done.stdout.decode().split("\n")[:-1]


def test_bash_completes_commands_options_and_ids(lived_in: Board) -> None:
    assert completed(lived_in, "corral", "stat") == ["status"]
    assert completed(lived_in, "corral", "task", "cl") == ["claim"]
    assert completed(lived_in, "corral", "task", "claim", "AF-") == [f"AF-{i}" for i in range(1, 7)]
    assert completed(lived_in, "corral", "task", "submit", "AF-1", "--tok") == ["--token"]
    assert completed(lived_in, "corral", "convoy", "show", "") == ["auth-fix"]
    assert completed(lived_in, "corral", "completion", "z") == ["zsh"]
    assert completed(lived_in, "corral", "task", "list", "--state", "bl") == ["blocked"]
    assert completed(lived_in, "corral", "lease", "release", "") == ["port:8080"]
    assert "verify" in completed(lived_in, "corral", "log", "")


def test_the_tab_key_completes_in_a_real_bash(lived_in: Board) -> None:
    env = lived_in.env | {"PS1": "$ ", "NO_COLOR": "1"}
    with Terminal(["bash", "--norc", "--noprofile", "-i"], lived_in.path, env) as bash:
        bash.press("source <(corral completion bash); echo rea''dy\n")
        bash.read_until("ready")
        bash.press("corral task sh\t")
        bash.read_until("show ")
        bash.press("AF-5\n")
        bash.read_until("Task number 5")


def test_completion_is_silent_where_there_is_nothing_to_complete(tmp_path: Path) -> None:
    nowhere = Board(tmp_path)
    assert completed(nowhere, "corral", "task", "claim", "AF-") == [""]
    assert completed(nowhere, "corral", "no-such-command", "x") == [""]
