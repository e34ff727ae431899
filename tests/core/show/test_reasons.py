"""`why` explains everything on the board."""

import pytest

from corral.core.board import commands as c
from corral.core.errors import NotFound
from corral.core.ids import ConvoyId, TaskId
from corral.core.session import rules as session_rules
from corral.core.session.verdict import Verdict
from corral.core.show.reasons import reason
from tests.core.memory_board import Board, started


@pytest.fixture
def board() -> Board:
    board = Board()
    board.do(c.CreateConvoy(title="Auth fix"))
    for title in ("One", "Two"):
        board.do(c.AddTask(title=title))
    board.record(started(board.state, TaskId("AF-1"), board.now))
    return board


def said(board: Board, name: str) -> tuple[str, str]:
    found = reason(board.state, name, board.now)
    return found.kind, " / ".join([found.summary, *found.because, found.hint])


def test_everything_has_a_reason(board: Board) -> None:
    board.do(c.AcquireLease(resource="file:src/**"))
    board.do(c.SendMessage(to="AF-1", text="Hello"))
    board.do(c.RaiseAlert(subject="log", text="the disk is full"))
    message, alert = next(iter(board.state.messages)), next(iter(board.state.alerts))
    board.do(c.Pause(convoy=ConvoyId("auth-fix"), reason="lunch"))
    wanted = {
        "af-1": ("task", "AF-1 is being worked on"),
        "af-1.1": ("session", "AF-1.1 has worked on AF-1"),
        "auth-fix": ("convoy", "0 of 2 landed, 2 left"),
        "file:src/**": ("lease", "is held by ana for another 900 s"),
        "file:src/a.py": ("lease", "file:src/** is held by ana"),
        "port:80": ("lease", "port:80 is free"),
        message: ("message", "waits: nobody has read it yet"),
        alert: ("alert", "the disk is full"),
    }
    for name, (kind, words) in wanted.items():
        found = said(board, name)
        assert found[0] == kind, name
        assert words in found[1], (name, found)
    assert "sessions are paused by ana: lunch / landing is paused" in said(board, "auth-fix")[1]


def test_a_session_that_waits_or_is_being_ended_says_so(board: Board) -> None:
    session = board.state.tasks[TaskId("AF-1")].session
    board.record(session_rules.asked(board.state, session, "Tabs?", now=board.now))
    assert "waits for an answer: Tabs?" in said(board, session)[1]
    board.do(c.SendMessage(to="people", text="Or spaces?", question=True), actor=session)
    assert "waits for an answer to m-" in said(board, session)[1]
    board.record(session_rules.ask_stop(board.state, session, Verdict.HUNG, "silent"))
    assert "is being stopped as hung: silent" in said(board, session)[1]


def test_what_is_over_or_never_was_is_not_explained(board: Board) -> None:
    for name in ("", "nope", "m-99", "alert-99", "AF-9", "AF-1.9", "R9"):
        with pytest.raises(NotFound):
            reason(board.state, name, board.now)
