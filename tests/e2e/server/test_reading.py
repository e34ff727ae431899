"""Commands that only read say the same with a server as without, and then do not open the log."""

import re

import pytest

from corral.core.board.commands import COMMANDS
from corral.core.ids import ConvoyId, SessionId, TaskId
from corral.core.log import events as e
from corral.core.queue import events as q
from corral.interfaces.cli.catalogue import ENTRIES
from corral.store.port import Request
from corral.store.sqlite import SqliteStore
from tests.e2e.corral_command import Board, make_repository
from tests.e2e.server.live_server import serve, start_session
from tests.e2e.server.test_fallback import loaded

# Each command that only reads, in the ways that it can be used, refusals included.
READS = {
    "status": [""],
    "cost": [""],
    "why": [
        "af-1",
        "AF-2",
        "AF-1.1",
        "AF-1.2",
        "auth-fix",
        "R1",
        "file:src/**",
        "m-1",
        "AF-9",
        "ü",
    ],
    "log": ["", "--after 3", "--last 4", "--last 0", "--task af-1", "--task AF-9", "--after 9999"],
    "convoy list": [""],
    "convoy show": ["auth-fix", "nope", "auth-fix/report", ""],
    "task list": ["", "--state todo", "--convoy auth-fix --ready", "--convoy nope"],
    "task show": ["af-1", "AF-2", "AF-9", "AF-1/why", "AF-1?x=1", "ü"],
    "session list": [""],
    "session show": ["af-1.2", "AF-1.1", "AF-1.9", "AF-1.1/usage"],
    "queue list": [""],
    "queue show": ["AF-3", "r1", "R1 --lines 2", "R1 --lines 99999", "AF-1", "R9"],
    "lease list": [""],
    "alert list": [""],
    "message list": [""],
}
# Commands that no server can answer, or that do something.
OTHERS = {
    "of the machine or the files": "init doctor check uninstall demo completion engine rescue plan"
    " rebuild",
    "of the log itself": "log.verify log.push log.fetch",
    "of processes": "up down serve mcp link run witness.run refinery.run deacon session.attach",
    "of a session's terminal and output": "session.tail session.send session.stop",
    "of a conversation": "mayor",
    "of several steps": "queue.recheck finish",
}


def reads(name: str) -> bool:
    others = {one.replace(".", " ") for words in OTHERS.values() for one in words.split()}
    return name not in COMMANDS and not {name, name.split(maxsplit=1)[0]} & others


def test_every_command_that_only_reads_is_tried() -> None:
    assert {name for name in ENTRIES if reads(name)} == set(READS)


def append(board: Board, *events: e.Event) -> None:
    store = SqliteStore(board.folder)
    store.transaction(Request("role", lambda state, now: events, lambda state, stored: None))
    store.close()


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Board:
    """A board with a bit of everything, and nothing that runs."""
    board = make_repository(tmp_path_factory.mktemp("busy") / "project")
    board.here("init", code=0)
    board.here("convoy", "create", "Auth fix", code=0)
    for title in ("One", "Two", "Three", "Föur 漢字"):
        board.add(title, "--brief", f"{title} in full.\n")
    board.add("Later", "--needs", "AF-1")
    board.here("task", "comment", "AF-1", "hello\tthere", code=0)
    session = SessionId(start_session(board, "AF-1")[0])
    append(
        board,
        e.SessionSpent(session=session, model="m", fresh=10, output=5, nano_usd=70_000_000),
        e.SessionEnded(session=session, verdict="crashed", detail="exit code 3"),
        e.TaskRetried(task=TaskId("AF-1"), reason="it crashed"),
    )
    start_session(board, "AF-1")
    board.claim("AF-2", "ana")
    board.here("task", "submit", "AF-3", "--token", board.claim("AF-3", "bo"), code=0)
    board.here("lease", "acquire", "file:src/**", "--as", "ana", code=0)
    board.here("alert", "raise", "AF-2", "Look at this", code=0)
    board.here("message", "send", "AF-1", "Are you there?", code=0)
    append(
        board,
        q.ChangeQueued(task=TaskId("AF-3"), commit="1" * 40, fork="0" * 40, paths=("a.py",)),
        q.CheckStarted(
            run="R1",
            convoy=ConvoyId("auth-fix"),
            members=(TaskId("AF-3"),),
            tip="0" * 40,
            commit="1" * 40,
            tree="2" * 40,
            key="k",
        ),
    )
    (board.folder / "checks" / "R1").mkdir(parents=True)
    (board.folder / "checks" / "R1" / "output").write_text("".join(f"{n}\n" for n in range(50)))
    return board


def said(board: Board, name: str, words: str) -> list[tuple[int, str]]:
    """Return what a command says, to people and to programs, but for durations."""
    answers = [board.here(*name.split(), *words.split(), *json) for json in ((), ("--json",))]
    return [(one.code, re.sub(r"\d+ s\b", "N s", one.out + one.err)) for one in answers]


def test_a_command_that_reads_says_the_same_with_a_server(busy: Board) -> None:
    alone = {
        (n, words): said(busy, n, words) for n, all_words in READS.items() for words in all_words
    }
    with serve(busy):
        for (name, words), expected in alone.items():
            assert said(busy, name, words) == expected, f"corral {name} {words}"
    codes = [answers[0][0] for answers in alone.values()]
    assert codes.count(0) > 30, "most of them are answered"
    assert not {code for answers in alone.values() for code, _ in answers} - {0, 2, 4}


@pytest.mark.parametrize("json", [[], ["--json"]])
def test_with_a_server_a_command_that_reads_does_not_load_the_log(
    busy: Board, json: list[str]
) -> None:
    with serve(busy):
        for name, (words, *_) in READS.items():
            found = loaded(busy, *name.split(), *words.split(), *json)
            assert "corral.interfaces.cli.remote" in found, name
            bad = {
                one
                for one in found
                if one.startswith(("corral.store", "apsw", "corral.core.log.fold"))
            }
            assert not bad, name


def test_what_others_have_written_is_in_the_answer_of_a_server(busy: Board) -> None:
    with serve(busy):
        for number in range(20):
            append(busy, e.TaskCommented(task=TaskId("AF-4"), text=f"Comment {number}"))
            assert f"Comment {number}" in busy.here("task", "show", "AF-4", code=0).out


def test_a_configuration_that_is_wrong_is_refused_with_a_server_too(busy: Board) -> None:
    config = busy.path / ".corral" / "config.toml"
    sound = config.read_text()
    with serve(busy):
        config.write_text("nonsense = 1\n")
        try:
            assert {busy.here(name).code for name in ("status", "cost")} == {2}
        finally:
            config.write_text(sound)
