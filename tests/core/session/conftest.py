"""What the tests of sessions share."""

import pytest

from tests.core.session.session_board import SessionBoard


@pytest.fixture
def board() -> SessionBoard:
    """A board with one task, and its first session."""
    board = SessionBoard()
    board.task()
    board.start()
    board.wait(5)
    return board
