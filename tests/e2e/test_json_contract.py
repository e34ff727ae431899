"""The shapes that scripts and agents rely on: envelopes, fields, exit codes."""

import hashlib
import json
import re
from pathlib import Path

import pytest

from tests.e2e.corral_command import Board, make_repository


def test_convoy_create_answers_with_its_id(empty_board: Board) -> None:
    out = empty_board.corral("convoy", "create", "Auth fix", "--json").out
    assert out.startswith('{"ok":true,"data":{"id":"auth-fix",')
    assert out.count("\n") == 1


def test_task_add_takes_every_option_of_the_contract(board: Board, tmp_path: Path) -> None:
    board.add("Prepare")
    (tmp_path / "b.md").write_text("the brief\n")
    data = board.data(
        *("task", "add", "Fix login", "--convoy", "auth-fix", "--needs", "AF-1"),
        *("--path", "src/auth/**", "--accept", "pytest -q", "--engine", "tests"),
        *("--brief-file", str(tmp_path / "b.md")),
    )
    assert data["id"] == "AF-2"
    shown = board.data("task", "show", "AF-2")
    assert shown["needs"] == ["AF-1"]
    assert shown["paths"] == ["src/auth/**"]
    assert shown["accept"] == ["pytest -q"]
    assert shown["engine"] == "tests"
    assert shown["brief"] == "the brief\n"


def test_task_claim_answers_with_a_token_or_a_refusal(board: Board) -> None:
    board.add("Fix login")
    data = board.data("task", "claim", "AF-1", "--as", "ana")
    assert isinstance(data["token"], str)
    assert data["token"]
    assert data["claim"]["holder"] == "ana"
    answer = board.corral("task", "claim", "AF-1", "--as", "ben", "--json", code=3)
    assert answer.out.startswith('{"ok":false,"error":{"code":"already_claimed","message":"')
    assert answer.error["message"]
    assert answer.error["hint"]
    assert board.corral("task", "submit", "AF-1", "--token", data["token"]).code == 0


def test_claim_next_with_nothing_ready_is_not_found(board: Board) -> None:
    refusal = board.refused("task", "claim", "--next", "--as", "ana", code=4)
    assert refusal["code"] == "nothing_ready"


def test_lease_acquire_answers_with_a_token(board: Board) -> None:
    data = board.data("lease", "acquire", "port:8080", "--as", "ana", "--ttl", "30")
    assert data["token"]
    assert data["resource"] == "port:8080"


def test_status_has_the_parts_of_the_contract(board: Board) -> None:
    board.add("one")
    data = board.data("status")
    for part in ("convoys", "tasks", "sessions", "queue", "alerts"):
        assert isinstance(data[part], list)
    assert data["seq"] == 3
    assert (data["convoys"][0]["id"], data["tasks"][0]["id"]) == ("auth-fix", "AF-1")


def test_an_empty_board_has_the_same_shape(empty_board: Board) -> None:
    data = empty_board.data("status")
    parts = ("convoys", "tasks", "sessions", "queue", "alerts", "seq")
    assert [data[part] for part in parts] == [[], [], [], [], [], 0]
    assert empty_board.corral("log", "--json").out == ""


def test_the_log_is_one_event_a_line_and_can_be_checked_by_hand(board: Board) -> None:
    board.add("Fïx 漢字")
    previous = bytes(32)
    lines = board.corral("log", "--json").out.splitlines()
    for number, line in enumerate(lines, 1):
        event = json.loads(line)
        assert list(event) == ["seq", "at", "actor", "type", "data", "hash"]
        assert event["seq"] == number
        body = re.sub(r',"hash":"[0-9a-f]{64}"}$', "}", line)
        previous = hashlib.sha256(previous + body.encode()).digest()
        assert event["hash"] == previous.hex()
    assert board.data("log", "verify") == {"seq": 3, "hash": previous.hex()}


def test_the_log_can_be_cut_and_filtered(board: Board) -> None:
    board.add("one")
    board.add("two")
    board.corral("task", "comment", "AF-1", "hello")

    def numbers(*words: str) -> list[int]:
        out = board.corral("log", *words, "--json").out
        return [json.loads(line)["seq"] for line in out.splitlines()]

    assert numbers("--after", "3") == [4, 5]
    assert numbers("--last", "2") == [4, 5]
    assert numbers("--task", "AF-1") == [3, 5]
    assert numbers("--task", "af-1", "--last", "1") == [5]
    assert board.refused("log", "--task", "AF-9", code=4)["code"] == "not_found"
    board.corral("message", "send", "AF-1", "hello")
    assert numbers("--task", "AF-1") == [3, 5, 6], "a message to it is about it, too"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Board:
    """A board for tests that change nothing."""
    board = make_repository(tmp_path_factory.mktemp("shared") / "project")
    board.corral("init")
    board.corral("convoy", "create", "Auth fix")
    board.add("one")
    return board


READS = [
    "status",
    "convoy list",
    "convoy show auth-fix",
    "task list",
    "task show AF-1",
    "why AF-1",
    "lease list",
    "alert list",
    "log verify",
    "rebuild",
    "doctor",
    "init --print",
    "completion bash",
]


@pytest.mark.parametrize("command", READS)
def test_every_command_that_looks_answers_in_the_envelope(shared: Board, command: str) -> None:
    before = shared.corral("--json", *command.split())
    after = shared.corral(*command.split(), "--json")
    assert before.data is not None
    assert before.out.count("\n") == 1
    assert type(before.data) is type(after.data)


@pytest.mark.parametrize(
    ("words", "code", "name"),
    [
        ("task show AF-9", 4, "not_found"),
        ("convoy show nope", 4, "not_found"),
        ("why AF-9", 4, "not_found"),
        ("task submit AF-9 --token 1", 4, "not_found"),
        ("task add x --convoy nope", 4, "not_found"),
        ("task add x --needs AF-9", 4, "not_found"),
        ("task add x --priority -1", 2, "bad_input"),
        ("task claim", 2, "bad_input"),
        ("task claim AF-1 --next", 2, "bad_input"),
        ("task land AF-1", 3, "wrong_state"),
        ("log push nowhere", 1, "git_failed"),
        ("log fetch nowhere", 1, "git_failed"),
        ("rebuild --from-mirror --repo /", 2, "not_a_repository"),
        ("frobnicate", 2, "bad_input"),
    ],
)
def test_exit_codes_and_error_codes_go_together(
    shared: Board, words: str, code: int, name: str
) -> None:
    assert shared.refused(*words.split(), code=code)["code"] == name
