"""Repositories for the tests of this folder: empty, initialised, with a convoy."""

from pathlib import Path

import pytest

from tests.e2e.corral_command import Board, make_repository


@pytest.fixture
def bare_board(tmp_path: Path) -> Board:
    """A repository that Corral does not know yet."""
    return make_repository(tmp_path / "project")


@pytest.fixture
def empty_board(bare_board: Board) -> Board:
    """A repository after `corral init`."""
    bare_board.here("init", code=0)
    return bare_board


@pytest.fixture
def board(empty_board: Board) -> Board:
    """A repository with the convoy auth-fix, whose tasks are AF-1, AF-2, …"""
    made = empty_board.here("--as", "tester", "convoy", "create", "Auth fix", "--json", code=0)
    assert made.data["id"] == "auth-fix"
    return empty_board
