"""One live claim per task, one live lease per resource; stale tokens are refused."""

import os
import signal
import subprocess
import sys
import time

import pytest

from corral.core.board.commands import COMMANDS
from tests.e2e.corral_command import CORRAL, Board, make_board, unchanged
from tests.e2e.worker_processes import WORKER
from tests.patience import PATIENCE_S

# What each command that takes a token needs besides it. A new one has to be added here.
TASK_WORDS = {
    "task renew": (),
    "task submit": (),
    "task fail": ("--reason", "no luck"),
    "task block": ("--reason", "stuck"),
    "task cancel": (),
    "task hand-off": ("--to", "zoe"),
    "task comment": ("I am still here",),
}
LEASE_WORDS = {"lease renew": ("--ttl", "60"), "lease release": ()}
FENCED = sorted(name for name, kind in COMMANDS.items() if "token" in kind.__struct_fields__)


def wait_until(moment_ms: int) -> None:
    """Let a time to live pass: the one thing that only time can bring about."""
    while (left := moment_ms - time.time_ns() // 1_000_000) >= 0:
        time.sleep((left + 1) / 1000)


def lapsed(board: Board, *words: str) -> str:
    """Take something for a second, let it lapse, and return its token."""
    taken = board.data(*words, "--ttl", "1")
    wait_until(taken["expires_at"])
    return str(taken["token"])


def words_with(name: str, token: str) -> tuple[str, ...]:
    if name in LEASE_WORDS:
        return (*name.split(), "port:8080", "--token", token, *LEASE_WORDS[name])
    return (*name.split(), "AF-1", *TASK_WORDS[name], "--token", token)


def test_every_command_that_takes_a_token_is_tested_here() -> None:
    assert sorted(TASK_WORDS | LEASE_WORDS) == FENCED


def test_the_holder_cannot_claim_its_task_again(board: Board) -> None:
    board.add("one")
    token = board.claim("AF-1", "ana")
    for name in ("ana", "ben"):
        refusal = board.refused("task", "claim", "AF-1", "--as", name, code=3)
        assert refusal["code"] == "already_claimed"
        assert "AF-1 is held by ana" in refusal["message"]
    assert board.refused("task", "claim", "--next", "--as", "ana", code=4)["code"] == (
        "nothing_ready"
    )
    board.corral("task", "submit", "AF-1", "--token", token)


@pytest.fixture(scope="module")
def overtaken(tmp_path_factory: pytest.TempPathFactory) -> tuple[Board, dict[str, str]]:
    """A task and a lease of ana's that lapsed and were taken over by ben; ana's tokens."""
    board = make_board(tmp_path_factory.mktemp("overtaken") / "project", "Auth fix")
    board.add("one")
    task = board.data("task", "claim", "AF-1", "--as", "ana", "--ttl", "1")
    lease = board.data("lease", "acquire", "port:8080", "--as", "ana", "--ttl", "1")
    wait_until(max(task["expires_at"], lease["expires_at"]))
    board.claim("AF-1", "ben")
    board.data("lease", "acquire", "port:8080", "--as", "ben")
    return board, {"task": task["token"], "lease": lease["token"]}


@pytest.mark.parametrize("name", FENCED)
def test_a_stale_token_is_refused_and_changes_nothing(
    overtaken: tuple[Board, dict[str, str]], name: str
) -> None:
    board, tokens = overtaken
    stale = words_with(name, tokens[name.split(maxsplit=1)[0]])
    length = len(board.events())
    with unchanged(board.path):
        refusal = board.refused(*stale, "--as", "ana", code=3)
    assert refusal["code"] == "stale_token"
    assert "ben holds it now" in refusal["message"]
    assert "nothing was changed" in refusal["message"]
    assert len(board.events()) == length
    made_up = board.refused(*words_with(name, "123456"), code=3)
    assert made_up["code"] == "stale_token"


@pytest.mark.parametrize("name", ["task block", "task hand-off"])
def test_force_does_not_excuse_a_stale_token(
    overtaken: tuple[Board, dict[str, str]], name: str
) -> None:
    board, tokens = overtaken
    refusal = board.refused(*words_with(name, tokens["task"]), "--force", code=3)
    assert refusal["code"] == "stale_token"


@pytest.mark.parametrize("name", ["task renew", "task submit", "task fail", "task block"])
def test_a_held_task_cannot_be_written_without_a_token(
    overtaken: tuple[Board, dict[str, str]], name: str
) -> None:
    board, _ = overtaken
    with unchanged(board.path):
        refusal = board.refused(*name.split(), "AF-1", code=3)
    assert refusal["code"] == "token_needed"
    assert "--token" in refusal["hint"]


def test_a_token_of_another_task_is_stale(board: Board) -> None:
    board.add("one")
    board.add("two")
    board.claim("AF-1", "ana")
    other = board.claim("AF-2", "ana")
    assert board.refused("task", "submit", "AF-1", "--token", other, code=3)["code"] == (
        "stale_token"
    )


def test_a_token_is_stale_once_its_claim_has_ended(board: Board) -> None:
    board.add("one")
    token = board.claim("AF-1", "ana")
    board.corral("task", "submit", "AF-1", "--token", token)
    for name in ("task submit", "task renew", "task comment", "task cancel"):
        refusal = board.refused(*words_with(name, token), code=3)
        assert refusal["code"] == "stale_token"
        assert "nobody holds it now" in refusal["message"]


def test_the_environment_of_a_session_shows_its_token(board: Board) -> None:
    board.add("one")
    old = lapsed(board, "task", "claim", "AF-1", "--as", "ana")
    new = board.claim("AF-1", "ben")
    ana = board.at(board.path, CORRAL_TASK="AF-1", CORRAL_TOKEN=old, CORRAL_SESSION="ana")
    ben = board.at(board.path, CORRAL_TASK="AF-1", CORRAL_TOKEN=new, CORRAL_SESSION="ben")
    assert ana.refused("task", "comment", "AF-1", "hello", code=3)["code"] == "stale_token"
    assert ana.refused("task", "submit", "AF-1", code=3)["code"] == "stale_token"
    ben.corral("task", "comment", "AF-1", "hello")
    ben.corral("task", "submit", "AF-1")
    assert board.events()[-1]["actor"] == "ben"


def test_a_lapsed_claim_can_be_taken_over_and_the_log_says_so(board: Board) -> None:
    board.add("one")
    old = lapsed(board, "task", "claim", "AF-1", "--as", "ana")
    assert "claim has lapsed" in board.data("why", "AF-1")["summary"]
    taken = board.data("task", "claim", "--next", "--as", "ben")
    assert (taken["id"], taken["claim"]["holder"], taken["attempts"]) == ("AF-1", "ben", 2)
    assert int(taken["token"]) > int(old)
    last = [event["type"] for event in board.events()][-2:]
    assert last == ["task.lapsed", "task.claimed"]


def test_a_renewed_claim_does_not_lapse_at_its_old_time(board: Board) -> None:
    board.add("one")
    taken = board.data("task", "claim", "AF-1", "--as", "ana", "--ttl", "3")
    board.data("task", "renew", "AF-1", "--token", taken["token"], "--ttl", "600")
    wait_until(taken["expires_at"])
    assert board.refused("task", "claim", "AF-1", "--as", "ben", code=3)["code"] == (
        "already_claimed"
    )
    board.corral("task", "submit", "AF-1", "--token", taken["token"])


def test_a_holder_stopped_past_its_time_is_refused_when_it_goes_on(board: Board) -> None:
    board.add("one")
    holder = subprocess.Popen(
        [sys.executable, str(WORKER), "hold", str(board.folder), "ana", "AF-1", "service:db"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=board.env,
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"holding\n"
    os.kill(holder.pid, signal.SIGSTOP)
    os.waitid(os.P_PID, holder.pid, os.WSTOPPED)
    wait_until(board.data("lease", "list")[0]["expires_at"])
    token = board.claim("AF-1", "ben")
    board.data("lease", "acquire", "service:db", "--as", "ben")
    length = len(board.events())
    os.kill(holder.pid, signal.SIGCONT)
    out, _ = holder.communicate(b"go", timeout=PATIENCE_S)
    assert out == b"stale_token\nstale_token\n"
    assert len(board.events()) == length
    board.corral("task", "submit", "AF-1", "--token", token)


def test_a_stopped_script_that_uses_the_command_is_refused_too(board: Board) -> None:
    board.add("one")
    script = (
        f"token=$({CORRAL} task claim AF-1 --as ana --ttl 1 --json"
        """ | sed 's/.*"token":"\\([0-9]*\\)".*/\\1/'); echo holding; read go;"""
        f' exec {CORRAL} task submit AF-1 --token "$token" --json'
    )
    holder = subprocess.Popen(
        ["sh", "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=board.env,
        cwd=board.path,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"holding\n"
    os.kill(holder.pid, signal.SIGSTOP)
    os.waitid(os.P_PID, holder.pid, os.WSTOPPED)
    wait_until(board.data("task", "show", "AF-1")["claim"]["expires_at"])
    board.claim("AF-1", "ben")
    os.kill(holder.pid, signal.SIGCONT)
    out, _ = holder.communicate(b"go\n", timeout=PATIENCE_S)
    assert b'"code":"stale_token"' in out
    assert holder.returncode == 3


def test_a_live_lease_is_refused_to_others_and_to_its_holder(board: Board) -> None:
    board.data("lease", "acquire", "port:8080", "--as", "ana", "--ttl", "30")
    for name in ("ben", "ana"):
        refusal = board.refused("lease", "acquire", "port:08080", "--as", name, code=3)
        assert refusal["code"] == "lease_held"
        assert "held by ana" in refusal["message"]
    assert board.data("lease", "acquire", "port:8081", "--as", "ben")["token"]


@pytest.mark.parametrize(
    ("held", "wanted", "clash"),
    [
        ("file:src/auth/**", "file:src/auth/login.py", True),
        ("file:src/auth", "file:src/**/login.py", True),
        ("file:src/*.py", "file:src/[a-f]*.py", True),
        ("file:src/auth/**", "file:src/author/x.py", False),
        ("file:src/*.py", "file:src/*.js", False),
        ("service:db", "service:db2", False),
    ],
)
def test_leases_on_files_clash_if_a_path_could_be_in_both(
    board: Board, held: str, wanted: str, clash: bool
) -> None:
    board.data("lease", "acquire", held, "--as", "ana")
    if clash:
        refusal = board.refused("lease", "acquire", wanted, "--as", "ben", code=3)
        assert refusal["code"] == "lease_held"
        assert "overlaps" in refusal["message"]
    else:
        assert board.data("lease", "acquire", wanted, "--as", "ben")["token"]


def test_an_expired_lease_is_taken_at_once_and_its_old_token_is_refused(board: Board) -> None:
    old = lapsed(board, "lease", "acquire", "file:src/auth/**", "--as", "ana")
    new = board.data("lease", "acquire", "file:src/auth/login.py", "--as", "ben")
    assert int(new["token"]) > int(old)
    leases = [(lease["resource"], lease["holder"]) for lease in board.data("lease", "list")]
    assert leases == [("file:src/auth/login.py", "ben")]
    for verb in ("renew", "release"):
        refusal = board.refused("lease", verb, "file:src/auth/**", "--token", old, code=3)
        assert refusal["code"] == "stale_token"
    board.corral("lease", "release", "file:src/auth/login.py", "--token", new["token"])
    assert board.data("lease", "list") == []
