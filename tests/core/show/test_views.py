"""Every interface shows the same view, at any time, and never a token."""

import msgspec

from corral.core.board import commands as c
from corral.core.board.columns import COLUMNS, columns
from corral.core.ids import ConvoyId, SessionId, TaskId, Token
from corral.core.log import events as e
from corral.core.log.state import TaskState
from corral.core.show import details, queries, views
from tests.core.memory_board import Board


def busy() -> Board:
    """A board with a task in every column, a lease, an alert and a session."""
    board = Board()
    for state in TaskState:
        board.bring(board.task(title=state), state)
    board.task("AF-1", title="backlog")
    board.do(c.AcquireLease(resource="port:8080"))
    board.do(c.RaiseAlert(subject="AF-1", text="odd"))
    board.add(
        e.SessionStarted(
            session=SessionId("AF-2.1"),
            task=TaskId("AF-2"),
            token=Token("3"),
            profile="default",
            branch="convoy/auth-fix/AF-2",
            base="a" * 40,
        )
    )
    return board


def test_the_board_has_a_column_for_each_state_and_one_for_what_waits() -> None:
    board = busy()
    found = columns(board.state)
    assert list(found) == list(COLUMNS)
    assert {name: [task.title for task in tasks] for name, tasks in found.items()} == {
        name: [name] for name in COLUMNS
    }


def test_status_shows_everything_in_the_order_of_the_log() -> None:
    board = busy()
    status = queries.status(board.state)
    assert status.seq == board.state.seq
    assert [line.id for line in status.tasks] == list(board.state.tasks)
    assert {line.title: line.column for line in status.tasks} == {c: c for c in COLUMNS}
    assert status.queue == [line.id for line in status.tasks if line.column == "review"]
    assert [lease.resource for lease in status.leases] == ["port:8080"]
    assert [alert.subject for alert in status.alerts] == ["AF-1"]
    assert [session.id for session in status.sessions] == ["AF-2.1"]


def test_a_convoy_counts_its_own_tasks_by_column() -> None:
    board = busy()
    board.convoy("Other")
    board.do(c.AddTask(title="T", convoy=ConvoyId("other")))
    first, second = queries.convoys(board.state)
    assert first.tasks == dict.fromkeys(COLUMNS, 1)
    assert second.tasks == {**dict.fromkeys(COLUMNS, 0), "todo": 1}


def test_a_line_of_the_board_and_the_full_view_agree() -> None:
    board = busy()
    lines = [msgspec.to_builtins(line) for line in details.tasks(board.state)]
    for task, line in zip(board.state.tasks.values(), lines, strict=True):
        full = msgspec.to_builtins(views.task_view(board.state, task))
        assert line in msgspec.to_builtins(queries.status(board.state))["tasks"]
        claim = full["claim"] or {"holder": None, "expires_at": None}
        assert (line.pop("holder"), line.pop("expires_at")) == (
            claim["holder"],
            claim["expires_at"],
        )
        assert line.items() <= full.items()


def test_no_view_shows_a_token() -> None:
    board = busy()
    claim = next(task.claim for task in board.state.tasks.values() if task.claim)
    shown = msgspec.json.encode(
        [
            queries.status(board.state),
            [views.task_view(board.state, task) for task in board.state.tasks.values()],
        ]
    )
    assert claim.holder.encode() in shown
    assert b"token" not in shown


def test_a_view_survives_the_journey_to_another_program() -> None:
    status = queries.status(busy().state)
    assert msgspec.json.decode(msgspec.json.encode(status), type=queries.Status) == status


def test_an_empty_log_has_an_empty_board() -> None:
    status = queries.status(Board().state)
    assert (status.seq, status.convoys, status.tasks, status.queue) == (0, [], [], [])


def test_long_text_is_shown_by_the_number_of_its_event() -> None:
    board = Board()
    board.convoy()
    board.do(c.AddTask(title="T", brief="long"))
    task = next(iter(board.state.tasks))
    board.do(c.CommentTask(task=task, text="well"))
    view = views.task_view(board.state, board.get(task))
    assert (view.brief_seq, view.comment_seqs) == (2, (3,))
