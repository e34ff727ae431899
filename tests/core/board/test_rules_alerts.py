"""An alert is raised once and stays open until somebody acknowledges it."""

import pytest

from corral.core.board import commands as c
from corral.core.errors import NotFound
from corral.core.log import events as e
from tests.core.memory_board import Board


def raised(board: Board, subject: str, kind: str = "note") -> e.AlertRaised:
    command = c.RaiseAlert(subject=subject, kind=kind, text="look at this")
    return board.one(e.AlertRaised, command)


def test_an_open_alert_is_not_raised_again() -> None:
    board = Board()
    raised(board, "AF-1")
    assert board.do(c.RaiseAlert(subject="AF-1", text="look again")) == []
    assert board.do(c.RaiseAlert(subject=" AF-1 ", text="and again"), "bob") == []
    assert len(board.state.alerts) == 1


@pytest.mark.parametrize(("subject", "kind"), [("AF-2", "note"), ("AF-1", "silent")])
def test_another_subject_or_kind_is_another_alert(subject: str, kind: str) -> None:
    board = Board()
    raised(board, "AF-1")
    raised(board, subject, kind)
    assert len(board.state.alerts) == 2


def test_a_cleared_alert_can_be_raised_again_under_a_new_name() -> None:
    board = Board()
    first = raised(board, "AF-1").alert
    board.do(c.ClearAlert(alert=first))
    assert board.state.alerts == {}
    assert raised(board, "AF-1").alert not in ("", first)


def test_an_alert_is_cleared_once() -> None:
    board = Board()
    alert = raised(board, "AF-1").alert
    board.do(c.ClearAlert(alert=alert))
    assert isinstance(board.refusal(c.ClearAlert(alert=alert)), NotFound)


@pytest.mark.parametrize(
    "command",
    [
        c.RaiseAlert(subject="", text="t"),
        c.RaiseAlert(subject="s", text=" "),
        c.RaiseAlert(subject="s", text="t", kind=""),
    ],
)
def test_an_alert_says_what_it_is_about(command: c.RaiseAlert) -> None:
    assert Board().refusal(command).exit_code == 2
