"""The dashboard's rows, and the difference between two boards."""

from random import Random

import msgspec
import pytest

from corral.core.board import commands as c
from corral.core.ids import ConvoyId, TaskId
from corral.core.log.state import TaskState
from corral.core.show.rows import TABLES
from corral.core.show.tables import board_of, critical, difference, tables_of
from tests.core.memory_board import Board, started


def test_changes_turn_one_board_into_the_next() -> None:
    """Whatever happens: rows that are set, and ids that are gone, are all that differs."""
    board, random = Board(), Random(8)
    board.task()
    page = tables_of(board_of(board.state))
    seen: set[str] = set()
    for _ in range(300):
        before = board.state.seq
        _something(board, random)
        change = difference(page, tables_of(board_of(board.state)), board.state.seq)
        for table, rows in change.set.items():
            page[table] = page[table] | {row.id: row for row in rows}
        for table, gone in change.gone.items():
            page[table] = {key: row for key, row in page[table].items() if key not in gone}
        seen |= change.set.keys() | {f"-{name}" for name in change.gone}
        assert page == tables_of(board_of(board.state)), before
    assert seen >= {"tasks", "convoys", "sessions", "alerts", "-alerts", "leases", "-leases"}
    assert seen >= {"pauses", "-pauses", "messages", "slots"}


def _something(board: Board, random: Random) -> None:
    free = [task.id for task in board.state.tasks.values() if task.state is TaskState.TODO]
    alerts, leases = list(board.state.alerts), list(board.state.leases)
    match random.randrange(9):
        case 0 | 1:
            board.task(*random.sample(free, min(len(free), 1)))
        case 2 if free and not board.get(free[0]).needs:
            board.bring(free[0], random.choice([TaskState.DONE, TaskState.FAILED]))
        case 3 if free and not board.get(free[0]).needs:
            board.record(started(board.state, free[0], board.now))
        case 4:
            subject = str(random.randrange(5))
            board.do(c.RaiseAlert(subject=subject, text="look"))
        case 5 if alerts:
            board.do(c.ClearAlert(alert=alerts[0]))
        case 6 if not leases:
            board.do(c.AcquireLease(resource="port:80"))
        case 7 if leases:
            board.do(c.ReleaseLease(resource=leases[0], token=board.state.leases[leases[0]].token))
        case 8:
            board.do(c.Resume(sessions=True) if board.state.paused else c.Pause(sessions=True))
            board.do(c.SendMessage(to="people", text="hello"))
        case _:
            board.wait(1)


def test_the_critical_path_is_the_longest_chain_that_has_not_landed() -> None:
    board = Board()
    one = board.task()
    two = board.task(one)
    three = board.task(two)
    alone = board.task()
    other = board.task(alone)
    convoy = ConvoyId("auth-fix")
    assert critical(board.state, convoy) == (one, two, three)
    board.land(one)
    board.land(two)
    assert critical(board.state, convoy) == (alone, other)
    board.do(c.EditTask(task=alone, needs=(three,)))
    assert critical(board.state, convoy) == (three, alone, other)
    for task in (three, alone, other):
        board.land(task)
    assert critical(board.state, convoy) == ()


def test_a_very_long_chain_is_no_trouble() -> None:
    board = Board()
    chain: list[TaskId] = []
    for _ in range(1_200):
        chain.append(board.task(*chain[-1:]))
    assert critical(board.state, ConvoyId("auth-fix")) == tuple(chain)


@pytest.mark.parametrize("table", TABLES)
def test_every_row_has_an_id(table: str) -> None:
    schema = msgspec.json.schema_components([type(board_of(Board().state))])[1]
    row = schema["Board"]["properties"][table]["items"]["$ref"].rpartition("/")[2]
    assert "id" in schema[row]["required"]
