"""A session's work comes back exactly, whatever happened to its tree."""

import shutil
from pathlib import Path

import pytest

from tests.e2e.corral_command import Board, unchanged
from tests.patience import PATIENCE_S
from tests.world.processes.sessions import await_in
from tests.world.trees.tree_repo import working_files

# It makes every kind of change, then a copy of its tree to compare with, and waits to be stopped.
AGENT = """
import os, pathlib, shutil, signal, subprocess, sys

def git(*words):
    return subprocess.run(("git", *words), check=True, capture_output=True).stdout

def put(name, content, mode=0o644):
    path = pathlib.Path(os.fsdecode(name))
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)

put(b"committed.txt", b"one\\n")
git("add", "--all")
git("commit", "--quiet", "-m", "First of the session")
put(b"committed.txt", b"two\\n")
git("commit", "--quiet", "-am", "Second of the session")
put(b"staged.bin", bytes(range(256)))
put(b"tool", b"#!/bin/sh\\n", 0o755)
put(b"both.txt", b"staged\\n")
git("add", "--all")
put(b"both.txt", b"staged, then changed\\n")
put(b"committed.txt", b"three\\r\\n", 0o755)
put(b"new folder/sp ace", b"x")
put(b"caf\\xe9", b"latin")
put(b"new\\nline", b"")
put(b"-dash", b"no newline at the end")
put(b"run me", b"#!/bin/sh\\n", 0o755)
os.symlink("nowhere/at all", "link")
os.unlink("README.md")
place = pathlib.Path(sys.argv[1])
shutil.copytree(".", place / "copy", symlinks=True, ignore=shutil.ignore_patterns(".git"))
(place / "status").write_bytes(git("status", "--porcelain=v2"))
(place / "index").write_bytes(git("ls-files", "--stage"))
(place / "head").write_bytes(git("rev-parse", "HEAD"))
print("ready", flush=True)
(place / "ready").touch()
signal.pause()
"""


class Stopped:
    """A session that was stopped in the middle of its work, and whose tree is gone."""

    def __init__(self, board: Board, place: Path) -> None:
        self.board = board
        self.place = place

    def wanted(self, name: str) -> bytes:
        return (self.place / name).read_bytes()

    def check(self, folder: Path) -> None:
        """Compare a restored folder with what the session saw last."""
        assert working_files(folder) == working_files(self.place / "copy")
        at = self.board.at(folder)
        assert at.git("status", "--porcelain=v2").encode() == self.wanted("status").strip()
        assert at.git("ls-files", "--stage").encode() == self.wanted("index").strip()
        assert at.git("rev-parse", "HEAD").encode() == self.wanted("head").strip()
        assert at.git("log", "--format=%s", "main..HEAD").splitlines() == [
            "Second of the session",
            "First of the session",
        ]


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Stopped:
    from tests.e2e.corral_command import make_repository

    top = tmp_path_factory.mktemp("rescue")
    board = make_repository(top / "project")
    place = top / "seen"
    place.mkdir()
    agent = top / "agent.py"
    agent.write_text(AGENT)
    board.corral("init")
    (board.path / ".corral" / "config.toml").write_text("[trees]\npool = 0\n")
    board.corral("convoy", "create", "Auth fix")
    run = [f"--run={word}" for word in ("python3", str(agent), str(place))]
    board.corral("task", "add", "Make a mess", *run)
    with board.started("witness", "run", "--once") as witness:
        try:
            await_in(str(place), lambda: (place / "ready").exists() or None)
            board.corral("session", "stop", "AF-1.1")
            assert witness.wait(PATIENCE_S) == 0
        finally:
            witness.kill()
    assert board.data("session", "show", "AF-1.1")["verdict"] == "stopped"
    return Stopped(board, place)


def test_the_tree_is_gone_and_the_work_is_listed(stopped: Stopped) -> None:
    place = stopped.board.path.parent / ".project-corral"
    assert not list(place.glob("tree-*"))
    answer = stopped.board.data("rescue", "list")
    assert answer["total"] == 1
    (kept,) = answer["kept"]
    head = stopped.wanted("head").decode().strip()
    assert kept["kept"] == "refs/corral/keep/AF-1.1/1"
    assert (kept["session"], kept["task"], kept["head"]) == ("AF-1.1", "AF-1", head)
    assert (kept["branch"], kept["on"]) == ("convoy/auth-fix/AF-1", "convoy/auth-fix/AF-1")
    assert kept["counts"]["commits"] == 2
    assert "stopped" in kept["reason"]
    shown = stopped.board.corral("rescue", "list").out
    assert "AF-1.1/1" in shown
    assert "2 commits" in shown


@pytest.mark.parametrize("name", ["AF-1.1", "af-1.1/1", "AF-1", "refs/corral/keep/AF-1.1/1"])
def test_show_says_what_is_in_it(stopped: Stopped, name: str) -> None:
    data = stopped.board.data("rescue", "show", name)
    assert len(data["commits"]) == 2
    assert sorted(data["staged"]) == ["both.txt", "staged.bin", "tool"]
    assert sorted(data["unstaged"]) == ["README.md", "both.txt", "committed.txt"]
    assert sorted(data["untracked"]) == sorted(
        ["-dash", "caf\\xe9", "link", "new\nline", "new folder/sp ace", "run me"]
    )
    shown = stopped.board.corral("rescue", "show", name).out
    assert "Second of the session" in shown
    assert "staged (3)" in shown
    assert "untracked (6)" in shown
    assert shown.replace("\n", "").isprintable()


def test_it_comes_back_exactly(stopped: Stopped, tmp_path: Path) -> None:
    folder = tmp_path / "back"
    with unchanged(stopped.board.path / ".corral"):
        answer = stopped.board.data("rescue", "restore", "AF-1.1", "--to", str(folder))
    stopped.check(folder)
    head = stopped.wanted("head").decode().strip()
    assert answer == {
        "kept": "refs/corral/keep/AF-1.1/1",
        "folder": str(folder),
        "head": head,
        "branch": "",
        "was_on": "convoy/auth-fix/AF-1",
    }
    assert stopped.board.git("status", "--porcelain") == "?? .corral/"


def test_it_comes_back_on_a_branch_into_an_empty_folder(stopped: Stopped, tmp_path: Path) -> None:
    folder = tmp_path / "back"
    folder.mkdir()
    at = stopped.board.at(tmp_path)
    said = at.corral(
        *("rescue", "restore", "AF-1.1/1", "--to", "back", "--branch", "again"),
        *("--repo", str(stopped.board.path)),
    ).out
    assert "on the new branch again" in said
    stopped.check(folder)
    assert at.at(folder).git("branch", "--show-current") == "again"


def test_a_folder_with_something_in_it_is_refused(stopped: Stopped, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x")
    with unchanged(tmp_path):
        stopped.board.refused("rescue", "restore", "AF-1", "--to", str(tmp_path), code=3)
        stopped.board.refused("rescue", "restore", "AF-1", "--to", f"{tmp_path}/mine", code=3)
        stopped.board.refused("rescue", "restore", "AF-1", "--to", f"{tmp_path}/a/b", code=2)
        branch = ("--to", f"{tmp_path}/a", "--branch", "main")
        stopped.board.refused("rescue", "restore", "AF-1", *branch, code=3)


def test_bad_input_says_what_helps(stopped: Stopped) -> None:
    assert "--to" in stopped.board.refused("rescue", "restore", "AF-1", code=2)["message"]
    for words in (("show", "AF-9"), ("show", "AF-1.1/7"), ("restore", "x", "--to", "y")):
        assert stopped.board.refused("rescue", *words, code=4)["hint"] == "corral rescue list"


def test_nothing_kept_is_said(bare_board: Board) -> None:
    assert bare_board.data("rescue", "list") == {"kept": [], "total": 0}
    assert bare_board.corral("rescue", "list").out == "no work has been saved\n"


def test_the_refs_alone_are_enough(stopped: Stopped, tmp_path: Path) -> None:
    """Without a log: in a clone that fetched the refs and has never heard of a board."""
    stopped.board.git("clone", "--quiet", str(stopped.board.path), str(tmp_path / "clone"))
    clone = Board(tmp_path / "clone")
    clone.git("fetch", "--quiet", "origin", "refs/corral/keep/*:refs/corral/keep/*")
    assert not clone.folder.exists()
    assert clone.data("rescue", "list")["total"] == 1
    folder = tmp_path / "back"
    clone.corral("rescue", "restore", "AF-1.1", "--to", str(folder))
    Stopped(clone, stopped.place).check(folder)
    assert not (clone.folder / "log.db").exists()
    shutil.rmtree(folder)
