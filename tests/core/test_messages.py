"""R17: a message reaches the other once, and is in the log; who waits is seen as waiting."""

import pytest

from corral.core import commands as c
from corral.core import events as e
from corral.core import messages
from corral.core.ids import TaskId
from tests.core.board import Board, started


@pytest.fixture
def board() -> Board:
    """A session on AF-1, and a task AF-2 that nobody works on."""
    board = Board()
    board.do(c.CreateConvoy(title="Auth fix"))
    board.do(c.AddTask(title="One", role="worker"))
    board.do(c.AddTask(title="Two", role="worker"))
    board.record(started(board.state, TaskId("AF-1"), board.now))
    return board


def sent(board: Board, to: str, actor: str = "ana", **more: object) -> str:
    command = c.SendMessage(**{"to": to, "text": "Hello", **more})  # type: ignore[arg-type]
    return board.one(e.MessageSent, command, actor).message


def taken(board: Board, reader: str) -> list[str]:
    events = board.do(c.ReadMessages(), reader)
    return [event.message for event in events if isinstance(event, e.MessageDelivered)]


@pytest.mark.parametrize(
    ("to", "address"),
    [
        ("AF-1.1", "session:AF-1.1"),
        ("session:af-1.1", "session:AF-1.1"),
        ("af-2", "task:AF-2"),
        ("task:AF-2", "task:AF-2"),
        ("role:worker", "role:worker"),
        ("people", "people"),
    ],
)
def test_a_recipient_is_a_session_a_task_a_role_or_people(
    board: Board, to: str, address: str
) -> None:
    assert board.state.messages[sent(board, to)].to == address


@pytest.mark.parametrize("to", ["AF-9", "AF-1.9", "session:nope", "nobody", "role:"])
def test_nobody_gets_no_message(board: Board, to: str) -> None:
    assert board.refusal(c.SendMessage(to=to, text="Hello")).exit_code == 4


def test_it_is_delivered_once_whoever_asks_how_often(board: Board) -> None:
    first, second = sent(board, "AF-1.1"), sent(board, "AF-1")
    assert taken(board, "ana") == []  # not hers
    assert taken(board, "AF-1.1") == [first, second]
    assert taken(board, "AF-1.1") == []
    board.do(c.AcknowledgeMessage(message=first), "AF-1.1")
    assert list(board.state.messages) == [second]
    assert board.refusal(c.AcknowledgeMessage(message=second), "bo").code == "not_delivered"


def test_a_task_is_asked_whoever_works_on_it_next(board: Board) -> None:
    waits = sent(board, "AF-2")
    board.record(started(board.state, TaskId("AF-2"), board.now))
    assert taken(board, "AF-2.1") == [waits]


def test_of_a_role_one_gets_it(board: Board) -> None:
    board.record(started(board.state, TaskId("AF-2"), board.now))
    message = sent(board, "role:worker")
    assert taken(board, "AF-2.1") == [message]
    assert taken(board, "AF-1.1") == []


def test_what_nobody_takes_in_time_is_given_up(board: Board) -> None:
    old = sent(board, "AF-1.1", ttl_s=10)
    board.wait(10)
    assert taken(board, "AF-1.1") == []
    events = board.do(c.SendMessage(to="people", text="Later"))
    assert [type(event) for event in events] == [e.MessageExpired, e.MessageSent]
    assert old not in board.state.messages
    assert events[1].message in board.state.messages  # type: ignore[attr-defined]


def test_who_asks_waits_until_it_is_answered(board: Board) -> None:
    question = sent(board, "people", "AF-1.1", question=True)
    assert messages.asking(board.state, board.now) == {"AF-1.1": question}
    assert taken(board, "ana") == [question]
    board.do(c.AcknowledgeMessage(message=question), "ana")
    assert messages.asking(board.state, board.now) == {"AF-1.1": question}  # seen is not answered
    answer = sent(board, "AF-1.1", reply_to=question)
    assert messages.asking(board.state, board.now) == {}
    assert list(board.state.messages) == [answer]
    assert board.refusal(c.SendMessage(to="AF-1.1", text="t", reply_to="m-1")).exit_code == 4


def test_a_question_that_nobody_answers_in_time_is_given_up(board: Board) -> None:
    sent(board, "people", "AF-1.1", question=True, ttl_s=10)
    board.wait(10)
    assert messages.asking(board.state, board.now) == {}


def test_a_session_that_has_ended_gets_nothing(board: Board) -> None:
    board.add(e.SessionEnded(session=board.get("AF-1").session, verdict="crashed"))
    refusal = board.refusal(c.SendMessage(to="AF-1.1", text="t"))
    assert refusal.code == "session_ended"
    assert "AF-1" in refusal.hint
