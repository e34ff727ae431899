"""Bad input: one sentence, the right exit code, no traceback, nothing changed."""

import os
from pathlib import Path

import pytest

from tests.e2e.corral_command import Board, assert_one_sentence, make_board, unchanged


def check(board: Board, *words: str | bytes, code: int, error: str, says: str) -> None:
    """Run a command that must be refused, for people and for programs."""
    with unchanged(board.path):
        plain = board.corral(*words, code=code)
        assert_one_sentence(plain)
        assert says in plain.err, plain
        refusal = board.corral(*words, "--json", code=code).error
        assert refusal["code"] == error
        assert says in refusal["message"] + refusal["hint"]


@pytest.fixture(scope="module")
def steady(tmp_path_factory: pytest.TempPathFactory) -> Board:
    """A board that no test of this module manages to change."""
    board = make_board(tmp_path_factory.mktemp("steady") / "project", "Auth fix")
    board.add("one")
    board.corral("status")
    return board


@pytest.fixture
def fresh(bare_board: Board) -> Board:
    """An initialised repository without a log."""
    bare_board.here("init", code=0)
    return bare_board


BAD = [
    (("task", "show", "AF-99"), 4, "not_found", "there is no task 'AF-99'"),
    (("task", "show", "../../etc"), 4, "not_found", "there is no task"),
    (("convoy", "show", "nope"), 4, "not_found", "there is no convoy 'nope'"),
    (("alert", "clear", "alert-99"), 4, "not_found", "alert-99"),
    (("task", "add", "x", "--convoy", "nope"), 4, "not_found", "nope"),
    (("task", "add", "x", "--needs", "AF-99"), 4, "not_found", "AF-99"),
    (("task", "add", ""), 2, "bad_input", "the title is empty"),
    (("task", "add", "   "), 2, "bad_input", "the title is empty"),
    (("task", "add", "x" * 201), 2, "bad_input", "at most 200"),
    (("task", "add", "x" * 131_000), 2, "bad_input", "131,000 characters"),
    (("task", "add", "a\x1b[31mb"), 2, "bad_input", "U+001B at character 2"),
    (("task", "add", "two\nlines"), 2, "bad_input", "U+000A"),
    (("task", "add", "turn\u202eed"), 2, "bad_input", "U+202E"),
    (("task", "add", b"caf\xe9"), 2, "bad_input", "not valid UTF-8"),
    (("convoy", "create", b"caf\xe9"), 2, "bad_input", "not valid UTF-8"),
    (("task", "add", "x", "--urgent=no"), 2, "bad_input", "--urgent takes no value"),
    (("task", "add", "x", "--as", "a\x07b"), 2, "bad_input", "the name has the control"),
    (("task", "add", "x", "--as", " "), 2, "bad_input", "the name is empty"),
    (("task", "add", "x", "--as", b"\xff"), 2, "bad_input", "not valid UTF-8"),
    (("task", "add", "x", "--as", "n" * 101), 2, "bad_input", "at most 100"),
    (("task", "add", "x", "--priority", "-1"), 2, "bad_input", "the priority is -1"),
    (("task", "add", "x", "--priority", "1e3"), 2, "bad_input", "1e3"),
    (("task", "add", "x", "--priority", "9" * 30), 2, "bad_input", "priority"),
    (("task", "add", "x", "--path", "/etc/passwd"), 2, "bad_input", "absolute"),
    (("task", "add", "x", "--path", "../up"), 2, "bad_input", "`..`"),
    (("task", "add", "x", "--path", ""), 2, "bad_input", "empty"),
    (("task", "add", "x", "--path", "a[b"), 2, "bad_input", "unclosed"),
    (("task", "add", "x", "--path", "a\\b"), 2, "bad_input", "backslash"),
    (("task", "add", "x", "--path", ".git/config"), 2, "bad_input", "`.git`"),
    (("task", "add", "x", "--path", b"\xff"), 2, "bad_input", ""),
    (("task", "add", "x", "--input", "*.py"), 2, "bad_input", "is a pattern"),
    (("task", "add", "x", "--brief", "a", "--brief-file", "b"), 2, "bad_input", "not both"),
    (("task", "add", "x", "--brief-file", "/no/such/file"), 2, "bad_input", "cannot be read"),
    (("task", "add", "x", "--brief-file", "n" * 9000), 2, "bad_input", "n…' cannot be read"),
    (("plan", "check", "n" * 9000), 2, "bad_input", "n…' cannot be read"),
    (("task", "add", "x", "--brief-file", "/"), 2, "bad_input", "cannot be read"),
    (("task", "comment", "AF-1", "bell\x07"), 2, "bad_input", "U+0007"),
    (("task", "comment", "AF-1", " "), 2, "bad_input", "the comment is empty"),
    (("task", "comment", "AF-1", "c" * 20_000), 2, "bad_input", "at most 16,384"),
    (("task", "claim", "AF-1", "--ttl", "0"), 2, "bad_input", "the time to live is 0"),
    (("task", "claim", "AF-1", "--ttl", "-5"), 2, "bad_input", "-5"),
    (("task", "land", "AF-1", "--commit", "xyz"), 3, "wrong_state", "needs"),
    (("convoy", "create", "x", "--strategy", "hope"), 2, "bad_input", "hope"),
    (("lease", "acquire", "nothing"), 2, "bad_input", "is not the name of a resource"),
    (("lease", "acquire", "port:99999"), 2, "bad_input", "65535"),
    (("lease", "acquire", "port:²"), 2, "bad_input", "port"),
    (("lease", "acquire", "file:../x"), 2, "bad_input", "`..`"),
    (("lease", "acquire", "service:\x00x".replace("\x00", "\x01")), 2, "bad_input", "U+0001"),
    (("lease", "acquire", b"service:\xff"), 2, "bad_input", "not valid UTF-8"),
    (("log", "fetch", "--upload-pack=touch x"), 2, "bad_input", ""),
    (("log", "push", "a\x07b"), 2, "bad_input", "remote"),
    (("log", "push", b"\xff"), 2, "bad_input", "remote"),
    (("log", "--after", "x"), 2, "bad_input", "x"),
    (("task", "list", "--state", "nope"), 2, "bad_input", "nope"),
    (("frobnicate",), 2, "bad_input", "there is no command 'frobnicate'"),
    (("statsu",), 2, "bad_input", "did you mean 'status'"),
    (("task",), 2, "bad_input", "must be one of"),
    (("task", "frobnicate"), 2, "bad_input", "must be one of"),
    (("status", "--frobnicate"), 2, "bad_input", "--frobnicate"),
    (("status", "surplus"), 2, "bad_input", "surplus"),
    (("pause", "auth-fix"), 2, "bad_input", "'auth-fix'; did you mean --convoy auth-fix?"),
    (("task", "add"), 2, "bad_input", "TITLE"),
    (("task", "add", "x", "--priority"), 2, "bad_input", "--priority"),
    (("task", "show"), 2, "bad_input", "TASK"),
    (("bell\x07",), 2, "bad_input", "there is no command"),
    ((b"\xff",), 2, "bad_input", "there is no command"),
    (("help", "\x1b[31m"), 2, "bad_input", "there is no command"),
    (("status", "--repo", "/no/such/folder"), 2, "bad_input", "there is no folder"),
    (("status", "--repo", "a\x1bb"), 2, "bad_input", "there is no folder"),
]


@pytest.mark.parametrize(
    ("words", "code", "error", "says"), BAD, ids=[f"{i:02}-{bad[2]}" for i, bad in enumerate(BAD)]
)
def test_bad_input_is_one_sentence_and_changes_nothing(
    steady: Board, words: tuple[str | bytes, ...], code: int, error: str, says: str
) -> None:
    with unchanged(steady.path):
        plain = steady.corral(*words, code=code)
        assert_one_sentence(plain)
        assert says in plain.err, plain
        as_json = steady.here(*map(os.fsdecode, words), "--json", code=code)
    assert as_json.err == "", as_json
    assert as_json.error["code"] == error
    assert says in as_json.error["message"] + as_json.error["hint"]


@pytest.mark.parametrize(
    "words",
    [
        ("convoy", "create", ""),
        ("task", "add", "x"),
        ("task", "claim", "--next"),
        ("lease", "acquire", "nothing"),
        ("task", "show", "AF-1"),
        ("log", "push", "origin"),
        ("log", "verify"),
        ("status",),
    ],
)
def test_a_refused_first_command_does_not_even_begin_a_log(
    fresh: Board, words: tuple[str, ...]
) -> None:
    with unchanged(fresh.path):
        answer = fresh.corral(*words, code=None)
    assert answer.code in (0, 2, 4), answer


def test_a_title_of_a_megabyte_is_refused(steady: Board) -> None:
    """No shell passes such a long word, but a program that calls Corral might."""
    with unchanged(steady.path):
        answer = steady.here("task", "add", "x" * 1_000_000, code=2)
    assert_one_sentence(answer)
    assert "1,000,000 characters: at most 200" in answer.err


def test_a_brief_that_is_too_long_or_no_text_is_refused(steady: Board, tmp_path: Path) -> None:
    (tmp_path / "long").write_text("x" * 1_000_000)
    (tmp_path / "binary").write_bytes(b"\x00\x01\x02")
    (tmp_path / "latin").write_bytes("café".encode("latin-1"))
    for name, says in (("long", "at most 262,144"), ("binary", "U+0000"), ("latin", "not UTF-8")):
        words = ("task", "add", "x", "--brief-file", str(tmp_path / name))
        check(steady, *words, code=2, error="bad_input", says=says)


CONFIGS = [
    (
        "[board]\nclaim_ttl_s = 5\nclam_ttl_s = 5\n",
        "line 3: unknown setting board.clam_ttl_s: did you mean claim_ttl_s?",
    ),
    ("\n\n[bored]\nx = 1\n", "line 3: unknown setting bored"),
    ("surplus = 1\n", "line 1: unknown setting surplus"),
    ('[engine.tests]\ntype = "aider"\n\ncolour = "red"\n', "line 4: unknown setting"),
    ("[slots]\ntotal = 12\nreserve = 'two'\n", "line 3"),
    ("[slots]\ntotal = 1\nreserve = 2\n", "line 3"),
    ("[board]\nclaim_ttl_s = 0\n", "line 2"),
    ('[refinery]\n\nstrategy = "hope"\n', "line 3"),
    ("[board\n", "not valid TOML"),
    ("a = 1\na = 2\n", "not valid TOML"),
]


@pytest.mark.parametrize(("content", "says"), CONFIGS)
def test_a_bad_configuration_is_refused_with_its_line(
    fresh: Board, content: str, says: str
) -> None:
    (fresh.path / ".corral" / "config.toml").write_text(content)
    for words in (("status",), ("convoy", "create", "x")):
        check(fresh, *words, code=2, error="bad_config", says=says)


def test_a_configuration_that_becomes_bad_is_noticed_at_once(board: Board) -> None:
    path = board.path / ".corral" / "config.toml"
    path.write_text("[slots]\ntotal = 5\n")
    board.corral("status")
    path.write_text("[slots]\ntotal = 0\n")
    check(board, "status", code=2, error="bad_config", says="total is 0")


@pytest.mark.parametrize("content", [b"\xff\xfe", b"x = '\x00'"])
def test_a_configuration_that_is_no_text_is_refused(fresh: Board, content: bytes) -> None:
    (fresh.path / ".corral" / "config.toml").write_bytes(content)
    check(fresh, "status", code=2, error="bad_config", says="config.toml")


def test_a_folder_outside_of_any_repository_is_refused(tmp_path: Path) -> None:
    nowhere = Board(tmp_path)
    for words in (("status",), ("init",), ("task", "add", "x"), ("log", "verify"), ("rebuild",)):
        check(nowhere, *words, code=2, error="not_a_repository", says="not in a git repository")


def test_a_repository_without_corral_says_how_to_begin(bare_board: Board) -> None:
    for words in (("status",), ("convoy", "create", "x"), ("task", "list"), ("why", "AF-1")):
        check(bare_board, *words, code=2, error="not_initialised", says="corral init")


def test_an_odd_environment_is_no_excuse_for_a_traceback(steady: Board) -> None:
    odd = steady.at(steady.path, GIT_DIR="/no/such/folder")
    assert_one_sentence(odd.corral("status", code=2))
    nameless = steady.at(steady.path, USER="a\x07b")
    check(nameless, "task", "add", "x", code=2, error="bad_input", says="the name")
    no_git = steady.at(steady.path)
    no_git.env["PATH"] = str(steady.path)
    answer = no_git.corral("log", "push", "origin", code=1)
    assert "git is not installed" in answer.err
