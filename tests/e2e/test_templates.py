"""`corral init --templates` writes starter role files and overwrites nothing."""

import re
import shlex
from pathlib import Path

import pytest

from corral.interfaces.cli.catalogue import ENTRIES
from corral.interfaces.cli.commands.setup import templates
from corral.interfaces.cli.parser import parse
from tests.e2e.corral_command import Board, assert_one_sentence, fingerprint, unchanged

NAMES = {
    f".corral/roles/{name}.md"
    for name in (
        *("worker", "meta-orchestrator", "scout", "observer"),
        *("shared-rules", "beat-protocol"),
    )
}
TEXTS = dict(templates())


def test_the_files_are_written_and_nothing_else(bare_board: Board) -> None:
    before = fingerprint(bare_board.path)
    data = bare_board.data("init", "--templates")
    assert set(data["written"]) == NAMES | {".corral/config.toml"}
    assert data["left"] == []
    after = fingerprint(bare_board.path)
    made = after.keys() - before.keys()
    assert made == NAMES | {".corral/config.toml", ".corral", ".corral/roles"}
    assert {name: after[name] for name in before} == before
    for name, text in TEXTS.items():
        assert (bare_board.path / ".corral" / name).read_text() == text
    assert (bare_board.path / ".corral/config.toml").read_text() == bare_board.corral(
        "init", "--print"
    ).out


def test_what_is_there_is_left_and_named(empty_board: Board) -> None:
    roles = empty_board.path / ".corral" / "roles"
    roles.mkdir()
    (roles / "worker.md").write_text("mine")
    (roles / "scout.md").symlink_to("nowhere")
    config = (empty_board.path / ".corral" / "config.toml").read_bytes()
    out = empty_board.corral("init", "--templates").out
    kept = [".corral/config.toml", ".corral/roles/scout.md", ".corral/roles/worker.md"]
    assert [line for line in out.splitlines() if line.endswith("left unchanged")] == [
        f"{name} exists and was left unchanged" for name in kept
    ]
    assert (roles / "worker.md").read_text() == "mine"
    assert not (roles / "nowhere").exists()
    assert (empty_board.path / ".corral" / "config.toml").read_bytes() == config
    with unchanged(empty_board.path):
        again = empty_board.data("init", "--templates")
    assert again["written"] == []
    assert set(again["left"]) == NAMES | {".corral/config.toml"}


def test_without_the_option_there_are_no_role_files(empty_board: Board) -> None:
    assert not (empty_board.path / ".corral" / "roles").exists()
    assert empty_board.refused("init", code=3)["code"] == "already_initialised"


@pytest.mark.parametrize(
    ("words", "code"), [(("init", "--print", "--templates"), 2), (("init", "--templates"), 1)]
)
def test_what_cannot_be_is_one_sentence(
    bare_board: Board, words: tuple[str, ...], code: int
) -> None:
    (bare_board.path / ".corral").write_text("a file, not a folder")
    with unchanged(bare_board.path):
        assert_one_sentence(bare_board.corral(*words, code=code))


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_every_command_that_a_template_teaches_exists(name: str) -> None:
    taught = re.findall(r"`(corral [^`]+)`", TEXTS[name])
    for command in taught:
        words = shlex.split(command)[1:]
        entry = next(ENTRIES[found] for n in (2, 1) if (found := " ".join(words[:n])) in ENTRIES)
        if given := words[len(entry.name.split()) :]:  # named alone, it is only spoken of
            parse(entry, given)


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_a_template_is_short_and_plain(name: str) -> None:
    text = TEXTS[name]
    assert text.endswith("\n")
    assert len(text.split()) < 300
    assert max(len(line) for line in text.splitlines()) <= 105


def test_every_role_that_is_written_can_be_given_to_a_task(board: Board) -> None:
    board.data("init", "--templates")
    for name in ("worker", "meta-orchestrator", "scout", "observer"):
        board.add(name, "--role", name)
        assert (board.path / ".corral" / "roles" / f"{name}.md").is_file()


def test_recurring_tasks_on_the_command_line(board: Board) -> None:
    board.add("Audit", "--every", "3")
    board.add("Sweep", "--cron", "0 3 * * 1-5", "--missed", "skip")
    assert [event["type"] for event in board.events()][-3:] == [
        "task.added",
        "task.added",
        "task.recurred",
    ]
    assert "AF-2 is waiting for its next date" in board.corral("why", "AF-2").out
    with unchanged(board.path):
        assert_one_sentence(board.corral("task", "add", "x", "--cron", "61 * * * *", code=2))
        assert_one_sentence(board.corral("task", "add", "x", "--missed", "skip", code=2))


def test_the_templates_are_in_the_package() -> None:
    import corral

    assert {f".corral/{name}" for name in TEXTS} == NAMES
    assert (Path(corral.__file__).parent / "templates" / "worker.md").is_file()
