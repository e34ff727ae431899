"""Repositories for the tests of this folder: empty, initialised, with a convoy."""

from pathlib import Path

import pytest

from tests.e2e.corral_command import Board, make_board, make_repository


@pytest.fixture
def bare_board(tmp_path: Path) -> Board:
    """A repository that Corral does not know yet."""
    return make_repository(tmp_path / "project")


@pytest.fixture
def empty_board(tmp_path: Path) -> Board:
    """A repository after `corral init`."""
    return make_board(tmp_path / "project")


@pytest.fixture
def board(tmp_path: Path) -> Board:
    """A repository with the convoy auth-fix, whose tasks are AF-1, AF-2, …"""
    return make_board(tmp_path / "project", "Auth fix")
