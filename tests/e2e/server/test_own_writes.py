"""What one caller was told, every later reader knows: on any connection, from any process."""

import pytest

from tests.e2e.corral_command import Board
from tests.e2e.server.live_server import serve
from tests.e2e.server.own_writes import fill, write_and_look


@pytest.mark.parametrize(
    ("tasks", "times", "writers"),
    [
        (0, 60, 1),
        (0, 2, 30),
        (10_000, 5, 1),
        pytest.param(0, 1_000, 1, marks=pytest.mark.long),
        pytest.param(0, 34, 30, marks=pytest.mark.long),
        pytest.param(10_000, 34, 30, marks=pytest.mark.long),
    ],
)
def test_a_write_is_in_whatever_is_read_after_it(
    board: Board, tasks: int, times: int, writers: int
) -> None:
    fill(board, tasks)
    with serve(board) as served:
        assert write_and_look(served, times, writers) == []
