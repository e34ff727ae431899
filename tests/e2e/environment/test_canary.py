"""`corral check` breaks the code on purpose, to see whether the checks notice.

Checks that test an installed copy of the project pass whatever an agent does, although they never
look at the user's checkout.
"""

import json
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.corral_command import Board, make_repository

CODE = "def add(a, b):\n    return a + b\n"
TEST = "import calc\n\nassert calc.add(1, 2) == 3\n"
CHECK = "python tests/test_calc.py"
LINK = "cd .venv/lib/python3*/site-packages; echo $OLDPWD/src > calc.pth"


@pytest.fixture
def board(tmp_path: Path) -> Board:
    found = make_repository(tmp_path / "project")
    found.corral("init")
    write(found, {"src/calc/__init__.py": CODE, "tests/test_calc.py": TEST, ".gitignore": ".venv/"})
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(sys.executable)
    found.env["PATH"] = f"{tmp_path / 'bin'}:{found.env['PATH']}"
    return found


def write(board: Board, files: dict[str, str]) -> None:
    for name, text in files.items():
        (board.path / name).parent.mkdir(parents=True, exist_ok=True)
        (board.path / name).write_text(text)
    board.git("add", "--all")
    board.git("commit", "-qm", "files")


def configure(board: Board, *checks: str, setup: list[list[str]] | None = None) -> None:
    text = (
        f"[refinery]\nchecks = {json.dumps(checks)}\n[trees]\nsetup = {json.dumps(setup or [])}\n"
    )
    (board.path / ".corral" / "config.toml").write_text(text)


def environment(board: Board) -> Path:
    """Make a virtual environment outside of the checkout, and activate it; return its packages."""
    place = board.path.parent / "venv"
    venv.create(place, symlinks=True, with_pip=False)
    board.env["PATH"] = f"{place / 'bin'}:{board.env['PATH']}"
    board.env["VIRTUAL_ENV"] = str(place)
    return next(place.glob("lib/python*/site-packages"))


def proof(board: Board, *, code: int = 0) -> dict[str, Any]:
    """Return what the preflight finds about proof, besides what checks can read."""
    found: list[dict[str, Any]] = board.corral("check", "--json", code=code).data["findings"]
    said = [one for one in found if one["name"] == "proof" and "your checkout" not in one["text"]]
    assert len(said) == 1, found
    return said[0]


@pytest.mark.parametrize("more", [(), ("! grep -rn Corral src",)], ids=["alone", "with a linter"])
def test_an_installed_copy_is_named_and_nothing_starts(board: Board, more: tuple[str]) -> None:
    packages = environment(board)
    shutil.copytree(board.path / "src" / "calc", packages / "calc")
    configure(board, *more, CHECK)
    found = proof(board, code=1)
    assert found["state"] == "bad"
    assert "although every source file is broken" in found["text"]
    assert (
        f"another copy of the project (Python imports calc from {packages}/calc)" in found["text"]
    )
    assert '[".venv/bin/pip", "install", "-e", "."]' in found["remedy"]
    refusal = board.corral("up", "-d", "--json", code=3).error
    assert "another copy of the project" in refusal["message"]
    shutil.rmtree(packages / "calc")  # a fault is not remembered
    (packages / "calc.pth").write_text("")
    configure(board, "PYTHONPATH=src " + CHECK)
    assert proof(board)["state"] == "ok"


def test_another_clone_that_is_installed_is_named(board: Board, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(board.path), str(clone)], check=True)
    (environment(board) / "calc.pth").write_text(f"{clone}/src\n")
    configure(board, CHECK)
    found = proof(board, code=1)
    assert found["state"] == "bad"
    assert f"Python imports calc from {clone}/src/calc" in found["text"]


def test_a_copy_that_cannot_be_found_is_a_fault_all_the_same(board: Board, tmp_path: Path) -> None:
    shutil.copytree(board.path / "src", tmp_path / "copy")
    configure(board, f"PYTHONPATH={tmp_path}/copy {CHECK}")
    found = proof(board, code=1)
    assert found["state"] == "bad"
    assert found["text"].endswith("they test another copy of the project")


def test_node(board: Board, tmp_path: Path) -> None:
    write(
        board,
        {
            "package.json": '{"name": "money"}',
            "index.js": "exports.add = (a, b) => a + b;\n",
            "test/add.js": "if (require('money').add(1, 2) !== 3) process.exit(9);\n",
        },
    )
    shutil.copytree(board.path, tmp_path / "node_modules" / "money")
    configure(board, "node test/add.js")
    found = proof(board, code=1)
    assert f"Node loads money from {tmp_path}/node_modules/money" in found["text"]


def test_a_tree_with_its_own_installation_is_proof(board: Board) -> None:
    shutil.copytree(board.path / "src" / "calc", environment(board) / "calc")
    setup = [["python3", "-m", "venv", "--without-pip", ".venv"], ["sh", "-c", LINK]]
    configure(board, CHECK, setup=setup)
    assert proof(board)["state"] == "ok"
    heads = board.git("worktree", "list", "--porcelain").split("\n")
    head = board.git("rev-parse", "main").strip()
    assert {line for line in heads if line.startswith("HEAD")} == {f"HEAD {head}"}


def test_a_set_up_that_copies_the_sources_is_proof(board: Board) -> None:
    configure(board, f"PYTHONPATH=build {CHECK}", setup=[["cp", "-r", "src", "build"]])
    assert proof(board)["state"] == "ok"


@pytest.mark.parametrize("check", ["true", "test -e src/calc/__init__.py", "grep -q . .gitignore"])
def test_checks_that_read_no_code_are_a_note(board: Board, check: str) -> None:
    configure(board, check)
    found = proof(board)
    assert found["state"] == "note"
    assert "pass whatever the code contains" in found["text"]


def test_tests_that_use_no_code_are_a_note(board: Board) -> None:
    write(board, {"tests/test_calc.py": "assert True\n"})
    configure(board, CHECK)
    found = proof(board)
    assert found["state"] == "note"
    assert "no test uses any of them" in found["text"]


def test_it_is_tried_once_for_each_definition(board: Board, tmp_path: Path) -> None:
    count = tmp_path / "count"
    check = f"echo x >> {count}; PYTHONPATH=src {CHECK}"
    configure(board, check)
    assert [proof(board)["state"] for _ in range(2)] == ["ok", "ok"]
    assert count.read_text() == "x\nx\n"
    write(board, {"src/calc/__init__.py": CODE + "# more\n"})
    assert proof(board)["state"] == "ok"
    assert count.read_text() == "x\nx\nx\n"
    configure(board, check, "true")
    assert proof(board)["state"] == "ok"
    assert count.read_text() == "x\n" * 5


def test_without_code_nothing_is_tried(board: Board, tmp_path: Path) -> None:
    board.git("rm", "-qr", "src", "tests")
    board.git("commit", "-qm", "no code")
    count = tmp_path / "count"
    configure(board, f"echo x >> {count}")
    board.corral("check", code=0)
    assert count.read_text() == "x\n"
