"""A full disk or a read-only folder: one sentence, nothing changed."""

import gc
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.corral_command import Board, assert_one_sentence, make_repository, unchanged

DISK_BYTES = 4_000_000


def mount(*words: str) -> bool:
    done = subprocess.run(["mount", *words], capture_output=True, check=False)
    return done.returncode == 0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of four megabytes, of its own."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    place = tmp_path / "disk"
    place.mkdir()
    if not mount("-t", "tmpfs", "-o", f"size={DISK_BYTES}", "corral-test", str(place)):
        pytest.skip("this machine does not let root mount a small disk")
    yield place
    gc.collect()  # commands that failed within this process may hold files until then
    subprocess.run(["umount", str(place)], check=True)


def prepared(path: Path) -> Board:
    board = make_repository(path)
    board.here("init", code=0)
    board.here("convoy", "create", "Auth fix", code=0)
    board.here("task", "add", "one", code=0)
    board.here("status", code=0)
    return board


def fill(place: Path, leave: int) -> Path:
    """Fill the disk, except for this many bytes."""
    filler = place / "filler"
    filler.unlink(missing_ok=True)
    free = shutil.disk_usage(place).free
    with filler.open("wb") as file:
        left = max(0, free - leave)
        while left:
            left -= file.write(b"x" * min(left, 65_536))
    return filler


def titles(board: Board) -> list[str]:
    return [task["title"] for task in board.here("status", "--json", code=0).data["tasks"]]


def test_on_a_full_disk_a_write_is_refused_and_the_log_stays_readable(small_disk: Path) -> None:
    board = prepared(small_disk / "project")
    before = board.events()
    filler = fill(small_disk, 0)
    answer = board.corral("task", "add", "x", "--brief", "long " * 20_000, code=1)
    assert_one_sentence(answer)
    assert "full" in answer.err
    assert "nothing was changed" in answer.err
    refusal = board.refused("task", "add", "x", "--brief", "long " * 20_000, code=1)
    assert refusal["code"] == "store_failed"
    assert board.data("status")["tasks"][0]["id"] == "AF-1"
    # SQLite leaves what it could write of a refused append behind the end of the log.
    assert board.events() == before
    filler.unlink()
    assert board.add("two") == "AF-2"
    assert board.data("log", "verify")["seq"] == len(board.events())


def test_as_the_disk_fills_up_what_was_acknowledged_is_there_and_nothing_else(
    small_disk: Path,
) -> None:
    board = prepared(small_disk / "project")
    acknowledged = ["one"]
    refused = 0
    for leave in (20_480, 16_384, 12_288, 8192, 4096, 0, 0, 0):
        filler = fill(small_disk, leave)
        for size in (10, 3000):
            title = f"{leave} {size} {len(acknowledged)} {refused}"
            answer = board.here("task", "add", title, "--brief", "b" * size)
            assert answer.code in (0, 1), answer
            if answer.code == 0:
                acknowledged.append(title)
            else:
                refused += 1
                assert_one_sentence(answer)
        filler.unlink()
        assert titles(board) == acknowledged
    assert refused
    board.here("log", "verify", code=0)
    board.here("doctor", code=0)


def test_a_first_command_on_a_full_disk_leaves_no_half_made_log(small_disk: Path) -> None:
    board = make_repository(small_disk / "project")
    board.here("init", code=0)
    for leave in (0, 4096, 8192, 40_960):
        filler = fill(small_disk, leave)
        answer = board.here("convoy", "create", "Auth fix")
        assert answer.code in (0, 1), answer
        filler.unlink()
        made = board.here("status", "--json", code=0).data["convoys"]
        assert len(made) == (answer.code == 0)
        if made:
            break
    board.here("convoy", "create", "Next one", code=0)


def test_init_on_a_full_disk_leaves_nothing_behind(small_disk: Path) -> None:
    board = make_repository(small_disk / "project")
    fill(small_disk, 0)
    with unchanged(board.path):
        assert_one_sentence(board.corral("init", code=1))


def test_the_preflight_names_a_disk_that_is_too_small(small_disk: Path, tmp_path: Path) -> None:
    board = prepared(tmp_path / "project")
    config = board.path / ".corral" / "config.toml"
    trees = f'[trees]\nfolder = "{small_disk}/trees"\n'

    def named() -> str:
        found = board.corral("check", "--json", code=1).data["findings"]
        (bad,) = [one for one in found if one["state"] == "bad"]
        assert bad["name"] == "disk", bad
        assert bad["remedy"].startswith("make room"), bad
        return str(bad["text"])

    config.write_text(trees)
    assert named().endswith("less than the 1.0 GB of trees.free_mb")
    trees += "free_mb = 0\n"
    config.write_text(trees + 'setup = [["cp", "/dev/zero", "zeros"]]\n')
    assert "No space left on device" in named()
    config.write_text(f'{trees}[refinery]\nchecks = ["cat /dev/zero > zeros"]\n')
    assert "No space left on device" in named()
    (board.path / "big").write_bytes(os.urandom(2 * DISK_BYTES))
    board.git("add", "big")
    board.git("commit", "-qm", "big")
    assert named().startswith("a tree of main needs 8.0 MB, but ")


@pytest.mark.parametrize("limit", [0, 512, 4096, 16_384, 20_000, 32_768])
def test_a_limit_on_file_sizes_is_like_a_full_disk(tmp_path: Path, limit: int) -> None:
    board = prepared(tmp_path / "project")
    before = titles(board)
    words = ("task", "add", "two", "--brief", "b" * 20_000)
    answer = board.corral(*words, code=None, before=("prlimit", f"--fsize={limit}"))
    if answer.code:
        assert answer.code == 1, answer
        assert_one_sentence(answer)
    assert titles(board) == before + ["two"] * (answer.code == 0)
    board.here("log", "verify", code=0)


def test_a_read_only_disk_is_refused_in_one_sentence(small_disk: Path) -> None:
    board = prepared(small_disk / "project")
    fresh = make_repository(small_disk / "fresh")
    assert mount("-o", "remount,ro", str(small_disk))
    try:
        with unchanged(small_disk):
            for words in (("task", "add", "x"), ("task", "claim", "--next"), ("rebuild",)):
                answer = board.corral(*words, code=1)
                assert_one_sentence(answer)
                assert "read-only" in answer.err.lower(), answer
            assert_one_sentence(fresh.corral("init", code=1))
            answer = board.corral("status", "--json", code=None)
            if answer.code:
                assert (answer.code, answer.error["code"]) == (1, "store_failed")
            else:
                assert answer.data["tasks"][0]["title"] == "one"
            assert board.corral("doctor", code=1).err == ""
    finally:
        assert mount("-o", "remount,rw", str(small_disk))
    assert board.add("two") == "AF-2"


def test_a_folder_of_somebody_else_is_refused_in_one_sentence(tmp_path: Path) -> None:
    """Root without its right to write everywhere is like any other user."""
    if os.geteuid() != 0:
        pytest.skip("only root can give a folder away")
    board = prepared(tmp_path / "project")
    other = ("setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner")
    for path in (board.path, *board.path.rglob("*")):
        os.chown(path, 65_534, 65_534)
    with unchanged(board.path):
        for words in (("task", "add", "x"), ("lease", "acquire", "port:1"), ("log", "push", "x")):
            answer = board.corral(*words, before=other, code=1)
            assert_one_sentence(answer)
        answer = board.corral("init", before=other, code=None)
        assert answer.code in (1, 3)
        answer = board.corral("status", before=other, code=None)
        assert answer.code in (0, 1), answer
        assert "one" in answer.out or "Permission denied" in answer.err, answer
    assert titles(board) == ["one"]
