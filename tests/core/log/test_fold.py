"""The state is the fold of the log and nothing else."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from corral.core.board import commands as c
from corral.core.ids import ConvoyId, TaskId, Token
from corral.core.log import events as e
from corral.core.log.codec import decode, event_of
from corral.core.log.events import every_event
from corral.core.log.fold import apply
from corral.core.log.state import Alert, Claim, Convoy, State, Task, TaskState
from tests.core.memory_board import START, Board, encoded

TASK = TaskId("AF-1")


@pytest.fixture
def board() -> Board:
    """A board with one task that ana holds, a lease and an alert."""
    board = Board()
    board.task()
    board.claim(TASK)
    board.do(c.AcquireLease(resource="port:8080", ttl_s=60))
    board.do(c.RaiseAlert(subject="AF-1", text="odd"))
    board.wait(5)
    return board


def after(board: Board, event: e.Event) -> Task:
    board.add(event)
    return board.get(TASK)


def test_a_convoy_is_kept_with_the_time_of_its_event() -> None:
    state = State()
    made = e.ConvoyCreated(
        convoy=ConvoyId("a"), title="A", prefix="A", base="main", strategy="squash", checks=("x",)
    )
    apply(state, made, 2, START)
    assert state.convoys == {"a": Convoy(ConvoyId("a"), "A", "A", "main", "squash", ("x",), START)}


def test_a_task_is_kept_as_it_was_asked_for() -> None:
    board = Board()
    board.convoy()
    asked: dict[str, Any] = {
        "priority": 3,
        "paths": ("src/**",),
        "accept": ("make",),
        "inputs": ("a.md",),
        "engine": "tests",
        "assignee": "bob",
        "run": ("sh", "-c", "true"),
        "role": "scout",
        "urgent": True,
        "budget": 4,
        "levels": 2,
    }
    board.do(c.AddTask(title="T", brief="long", **asked))
    task = board.get("AF-1")
    assert {name: getattr(task, name) for name in asked} == asked
    assert (task.state, task.order, task.brief_seq) == (TaskState.TODO, 2, 2)
    assert (task.added_at, task.changed_at, task.attempts, task.claim) == (START, START, 0, None)


def test_a_brief_stays_in_the_log(board: Board) -> None:
    assert board.get(TASK).brief_seq == 0
    assert after(board, e.TaskEdited(task=TASK, brief="x")).brief_seq == board.state.seq
    assert after(board, e.TaskEdited(task=TASK, brief="")).brief_seq == 0


def test_an_edit_replaces_what_it_names_and_nothing_else(board: Board) -> None:
    before = board.get(TASK)
    assert after(board, e.TaskEdited(task=TASK, title="New", paths=())) == replace(
        before, title="New", changed_at=board.now
    )


def test_a_claim_counts_an_attempt_and_ends_with_the_state_doing(board: Board) -> None:
    task = board.get(TASK)
    assert task.state is TaskState.DOING
    assert task.attempts == 1
    assert task.claim == Claim("ana", Token("3"), START, START + 60_000)


def test_a_renewal_changes_only_when_the_claim_ends(board: Board) -> None:
    before = board.get(TASK)
    assert before.claim is not None
    renewed = after(board, e.TaskRenewed(task=TASK, token=Token("3"), expires_at=START + 99))
    assert renewed == replace(before, claim=replace(before.claim, expires_at=START + 99))


@pytest.mark.parametrize(
    ("event", "state", "reason"),
    [
        (e.TaskLapsed(task=TASK, holder="ana", token=Token("3")), "todo", "claim of ana ran out"),
        (e.TaskSubmitted(task=TASK, token=Token("3")), "review", ""),
        (e.TaskBlocked(task=TASK, reason="why"), "blocked", "why"),
        (e.TaskUnblocked(task=TASK), "todo", ""),
        (e.TaskRetried(task=TASK, reason="why"), "todo", "why"),
        (e.TaskCancelled(task=TASK, reason="why"), "cancelled", "why"),
        (e.TaskHandedOff(task=TASK, to="bob", note="why"), "todo", "why"),
        (e.TaskFailed(task=TASK, reason="why"), "failed", "why"),
        (e.TaskDelayed(task=TASK, reason="why", until_at=START + 9000), "todo", "why"),
        (e.TaskRecurred(task=TASK, date=START), "todo", ""),
        (e.TaskLanded(task=TASK), "done", ""),
    ],
    ids=lambda value: value.type if isinstance(value, e.Event) else None,
)
def test_every_other_move_ends_the_claim(
    board: Board, event: e.Event, state: str, reason: str
) -> None:
    task = after(board, event)
    assert (task.state, task.claim, task.changed_at) == (state, None, board.now)
    assert reason in task.reason
    assert bool(reason) == bool(task.reason)


def test_a_new_claim_forgets_the_reason_of_the_last_attempt(board: Board) -> None:
    board.add(e.TaskFailed(task=TASK, reason="why"))
    again = e.TaskClaimed(task=TASK, holder="bob", token=Token("9"), expires_at=1)
    assert after(board, again).reason == ""
    assert board.get(TASK).attempts == 2


def test_failures_in_a_row_are_counted_until_the_task_is_retried(board: Board) -> None:
    for number in (1, 2):
        delayed = e.TaskDelayed(task=TASK, reason="why", until_at=START + number)
        task = after(board, delayed)
        assert (task.failures, task.not_before_at) == (number, START + number)
    task = after(board, e.TaskRetried(task=TASK))
    assert (task.failures, task.not_before_at) == (0, 0)


def test_a_hand_off_reserves_the_task_and_an_empty_one_frees_it(board: Board) -> None:
    assert after(board, e.TaskHandedOff(task=TASK, to="bob")).assignee == "bob"
    assert after(board, e.TaskHandedOff(task=TASK)).assignee == ""


def test_the_commit_handed_in_is_kept_until_another_lands_or_it_is_retried(board: Board) -> None:
    handed_in = e.TaskSubmitted(task=TASK, token=Token("3"), commit="a" * 40)
    assert after(board, handed_in).commit == "a" * 40
    assert after(board, e.TaskLanded(task=TASK)).commit == "a" * 40
    assert after(board, e.TaskLanded(task=TASK, commit="b" * 40)).commit == "b" * 40
    assert after(board, e.TaskRetried(task=TASK)).commit == ""


def test_a_comment_is_kept_by_number_and_moves_nothing(board: Board) -> None:
    before = board.get(TASK)
    after(board, e.TaskCommented(task=TASK, text="one"))
    task = after(board, e.TaskCommented(task=TASK, text="two"))
    assert task == replace(before, comments=(board.state.seq - 1, board.state.seq))


@pytest.mark.parametrize("ending", ["released", "lapsed"])
def test_a_lease_is_held_until_it_ends(board: Board, ending: str) -> None:
    assert board.state.leases == {"port:8080": Claim("ana", Token("4"), START, START + 60_000)}
    board.add(e.LeaseRenewed(resource="port:8080", token=Token("4"), expires_at=START + 99))
    assert board.state.leases == {"port:8080": Claim("ana", Token("4"), START, START + 99)}
    end: dict[str, e.Event] = {
        "released": e.LeaseReleased(resource="port:8080", token=Token("4")),
        "lapsed": e.LeaseLapsed(resource="port:8080", holder="ana", token=Token("4")),
    }
    board.add(end[ending])
    assert board.state.leases == {}


def test_an_alert_is_open_until_it_is_cleared(board: Board) -> None:
    assert board.state.alerts == {"alert-5": Alert("alert-5", "note", "AF-1", "odd", START)}
    board.add(e.AlertCleared(alert="alert-5"))
    assert board.state.alerts == {}


def test_a_claim_has_lapsed_from_its_last_millisecond_on() -> None:
    claim = Claim("ana", Token("1"), 0, 1000)
    assert not claim.lapsed(999)
    assert claim.lapsed(1000)


def test_every_event_moves_the_number_and_nothing_is_left_out(board: Board) -> None:
    examples: dict[str, Any] = {
        "task": TASK,
        "session": "AF-1.1",
        "date": START,
        "until_at": START,
        "convoy": "auth-fix",
        "resource": "port:8080",
        "alert": "alert-5",
        "format": 1,
        "expires_at": START,
        "run": "R1",
        "members": (TASK,),
        "tasks": (TASK,),
        "landed": False,
    }
    for name, event in every_event().items():
        values = {
            field.name: examples.get(field.name, "x")
            for field in msgspec.structs.fields(event)
            if field.required
        }
        before = board.state.seq
        board.add(e.LeaseAcquired(resource="port:8080", holder="x", token=Token("1"), expires_at=1))
        board.add(event(**values))
        assert board.state.seq == before + 2, name


def test_the_log_replays_to_the_same_state_to_the_byte(board: Board) -> None:
    replayed = State()
    for line in board.log:
        record = decode(line)
        apply(replayed, event_of(record), record.seq, record.at)
    assert encoded(replayed) == encoded(board.state)


def test_the_state_survives_a_snapshot_to_the_byte(board: Board) -> None:
    once = encoded(board.state)
    assert encoded(msgspec.msgpack.decode(once, type=State)) == once
