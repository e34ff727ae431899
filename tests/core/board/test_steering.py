"""Pause, resume, stop and report; the witness honours a pause and says why."""

import pytest

from corral.core.board import commands as c
from corral.core.errors import Refused
from corral.core.ids import ConvoyId, TaskId
from corral.core.queue.rules import paused
from corral.core.session.slots import Limits, startable
from corral.core.show.why import explain
from tests.core.memory_board import Board, started

LIMITS = Limits(10)


def starts(board: Board) -> list[str]:
    return [task.id for task in startable(board.state, LIMITS, {}, board.now, "witness")]


@pytest.fixture
def board() -> Board:
    board = Board()
    board.do(c.CreateConvoy(title="Auth fix"))
    board.do(c.CreateConvoy(title="Billing"))
    for convoy in ("auth-fix", "billing"):
        board.do(c.AddTask(title="T", convoy=ConvoyId(convoy)))
    return board


def test_a_paused_convoy_starts_nothing_and_says_why(board: Board) -> None:
    assert starts(board) == ["AF-1", "BIL-1"]
    board.do(c.Pause(sessions=True, convoy=ConvoyId("auth-fix"), reason="too hot"))
    assert starts(board) == ["BIL-1"]
    with pytest.raises(Refused) as refused:  # the rule asks the same question as the plan
        started(board.state, TaskId("AF-1"), board.now)
    assert refused.value.code == "paused"
    found = explain(board.state, board.get("AF-1"), board.now, LIMITS)
    assert found.summary == "AF-1 is ready and waits for sessions to be resumed"
    assert "ana has paused new sessions: too hot" in found.obstacles[0].text
    assert found.obstacles[0].hint == "corral resume --sessions --convoy auth-fix"
    board.do(c.ClaimTask(task=TaskId("AF-1")), "bo")  # people may still work by hand


def test_everything_can_be_paused_and_resumed(board: Board) -> None:
    board.do(c.Pause(sessions=True))
    board.do(c.Pause(sessions=True, convoy=ConvoyId("billing")))
    assert starts(board) == []
    assert board.refusal(c.Pause(sessions=True)).code == "already_paused"
    board.do(c.Resume(sessions=True))
    assert starts(board) == ["AF-1"]
    board.do(c.Resume(sessions=True, convoy=ConvoyId("billing")))
    assert board.refusal(c.Resume(sessions=True)).code == "not_paused"
    assert board.refusal(c.Pause(sessions=True, convoy=ConvoyId("nope"))).exit_code == 4
    assert starts(board) == ["AF-1", "BIL-1"]


def test_one_word_pauses_the_starting_and_the_landing(board: Board) -> None:
    fix = ConvoyId("auth-fix")
    board.do(c.Pause(convoy=fix, reason="night"))
    assert starts(board) == ["BIL-1"]
    assert paused(board.state, fix) == "night"
    assert not paused(board.state, ConvoyId("billing"))
    refused = board.refusal(c.Pause(convoy=fix))
    assert (refused.code, refused.hint) == ("already_paused", "corral resume --convoy auth-fix")
    refused = board.refusal(c.Resume())
    assert (
        refused.message
        == "nothing is paused for all convoys (by name: auth-fix); nothing was changed"
    )
    assert refused.hint == "corral resume --convoy auth-fix"
    board.do(c.Resume(landing=True, convoy=fix))  # the two can still be had apart
    board.do(c.Resume(convoy=fix))
    assert starts(board) == ["AF-1", "BIL-1"]
    assert board.refusal(c.Resume(convoy=fix)).code == "not_paused"
    board.do(c.Pause(landing=True))
    board.do(c.Pause())
    assert (starts(board), bool(board.state.held)) == ([], True)
    board.do(c.Resume())
    assert (starts(board), board.state.held) == (["AF-1", "BIL-1"], "")
    assert board.refusal(c.Pause(convoy=ConvoyId("nope"))).exit_code == 4


def test_a_session_says_where_it_is_and_is_stopped(board: Board) -> None:
    board.record(started(board.state, TaskId("AF-1"), board.now))
    session = board.get("AF-1").session
    board.do(c.ReportProgress(session=session, text="half", outputs=2), session)
    board.do(c.ReportProgress(session=session, text="more"), session)
    found = board.state.sessions[session]
    assert (found.progress, found.outputs) == ("more", 2)
    board.do(c.StopSession(session=session))
    assert board.state.sessions[session].stop == "stopped"


def test_an_alert_that_was_seen_stays_open(board: Board) -> None:
    board.do(c.RaiseAlert(subject="AF-1", text="odd"))
    (alert,) = board.state.alerts
    board.do(c.AcknowledgeAlert(alert=alert), "bo")
    assert board.do(c.AcknowledgeAlert(alert=alert), "bo") == []
    assert board.state.alerts[alert].seen_by == "bo"
    board.do(c.ClearAlert(alert=alert))
    assert board.refusal(c.AcknowledgeAlert(alert=alert)).exit_code == 4
