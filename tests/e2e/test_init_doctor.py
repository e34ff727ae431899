"""`corral init` writes one file; `corral doctor` finds what is wrong."""

import re
import tomllib
from pathlib import Path

from corral.core.config import Config, EngineSettings, RefinerySettings, parse
from corral.interfaces import settings_text
from tests.e2e.corral_command import Board, fingerprint, unchanged


def verdicts(board: Board, code: int) -> dict[str, bool]:
    answer = board.corral("doctor", "--json", code=code)
    return {check["name"]: check["ok"] for check in answer.data["checks"]}


def switched_on(content: str) -> str:
    """Remove the comment signs in front of settings and tables."""
    return re.sub(r"(?m)^# (?=\w+ = |\[engine\.)", "", content)


def test_init_writes_the_configuration_and_nothing_else(bare_board: Board) -> None:
    before = fingerprint(bare_board.path)
    assert bare_board.data("init") == {"config": ".corral/config.toml"}
    after = fingerprint(bare_board.path)
    assert after.keys() - before.keys() == {".corral", ".corral/config.toml"}
    assert {name: after[name] for name in before} == before
    assert bare_board.git("status", "--porcelain", "--untracked-files=all") == (
        "?? .corral/config.toml"
    )


def test_the_written_configuration_is_explained_and_changes_no_default(
    bare_board: Board,
) -> None:
    shown = bare_board.corral("init", "--print").out
    assert not (bare_board.path / ".corral").exists()
    bare_board.corral("init")
    content = (bare_board.path / ".corral" / "config.toml").read_text()
    assert content == shown
    assert not any(tomllib.loads(content).values())
    # With its comment signs removed it is still a configuration.
    (bare_board.path / ".corral" / "config.toml").write_text(switched_on(content))
    assert bare_board.data("status")["seq"] == 0


def test_init_a_second_time_is_refused(empty_board: Board) -> None:
    own = empty_board.path / ".corral" / "config.toml"
    own.write_text("[slots]\ntotal = 5\n")
    with unchanged(empty_board.path):
        refusal = empty_board.refused("init", code=3)
    assert refusal["code"] == "already_initialised"


def test_init_in_a_subfolder_or_worktree_writes_where_git_says(
    bare_board: Board, tmp_path: Path
) -> None:
    (bare_board.path / "deep").mkdir()
    bare_board.git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    bare_board.at(tmp_path / "side").corral("init")
    assert (tmp_path / "side" / ".corral" / "config.toml").exists()
    assert not (bare_board.path / ".corral").exists()
    bare_board.at(bare_board.path / "deep").corral("init")
    assert (bare_board.path / ".corral" / "config.toml").exists()


def test_a_configuration_is_obeyed(empty_board: Board) -> None:
    (empty_board.path / ".corral" / "config.toml").write_text("[board]\nclaim_ttl_s = 77\n")
    empty_board.corral("convoy", "create", "Auth fix")
    empty_board.add("one")
    data = empty_board.data("task", "claim", "AF-1")
    assert data["claim"]["expires_at"] - data["claim"]["since_at"] == 77_000
    assert empty_board.data("convoy", "list")[0]["base"] == "main"


def test_doctor_finds_a_healthy_repository_well_and_changes_nothing(board: Board) -> None:
    board.corral("status")
    with unchanged(board.path):
        found = verdicts(board, 0)
    assert set(found) >= {"git", "sqlite", "repository", "config", "log", "mirror", "folder"}
    assert all(found.values())
    assert "no problems found" in board.corral("doctor").out


def test_doctor_is_content_with_a_repository_that_is_not_set_up(bare_board: Board) -> None:
    with unchanged(bare_board.path):
        assert all(verdicts(bare_board, 0).values())


def test_doctor_names_what_is_broken(board: Board) -> None:
    board.add("one")
    (board.path / ".corral" / "config.toml").write_text("[nope]\n")
    content = bytearray((board.folder / "log.db-wal").read_bytes())
    content[content.rindex(b"task.added")] ^= 1
    (board.folder / "log.db-wal").write_bytes(content)
    found = verdicts(board, 1)
    assert (found["config"], found["log"], found["git"]) == (False, False, True)
    out = board.corral("doctor", code=1).out
    assert "unknown setting nope" in out
    assert "corral rebuild --from-mirror" in out


def test_doctor_outside_of_a_repository_is_one_sentence_or_a_list(tmp_path: Path) -> None:
    nowhere = Board(tmp_path)
    answer = nowhere.corral("doctor", code=None)
    assert answer.code in (1, 2)
    assert "not in a git repository" in answer.out + answer.err


def test_doctor_sees_a_mirror_that_is_not_of_this_log(board: Board) -> None:
    board.git("update-ref", "refs/corral/log", "HEAD")
    found = verdicts(board, 1)
    assert not found["mirror"]
    assert found["log"]


def test_the_file_that_init_writes_shows_every_setting_with_its_default_and_its_text() -> None:
    content = settings_text.file()
    config = parse(switched_on(content), "config.toml")
    assert config.engine.pop("NAME") == EngineSettings(type="", commit=True)
    assert config.engine.pop("default").type == "claude-code"
    assert config.refinery == RefinerySettings(checks=("make test",))
    assert config == Config(refinery=config.refinery)
    for name, _, text in settings_text.settings():
        section, _, setting = name.replace(".NAME", "").replace("[]", "").partition(".")
        explained = rf"\n# {setting.split('.')[0]} = .*# \w"
        shown = content.partition(f"[{section}")[2]
        assert re.search(explained, shown) or name == "refinery.checks", name
        assert text[0].islower() or text[0] == "`", text
        assert not text.endswith("."), text


def test_an_empty_folder_called_git_is_passed_as_git_passes_it(board: Board) -> None:
    """Some sandboxes of agents leave one behind."""
    inner = board.path / "inner"
    (inner / ".git").mkdir(parents=True)
    assert "no problems found" in board.corral("doctor", "--repo", str(inner)).out
