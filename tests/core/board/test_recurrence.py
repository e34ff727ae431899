"""Recurring tasks: their dates, and what happens to dates that were missed."""

from typing import Any

import pytest

from corral.core.board import commands as c
from corral.core.board.recurrence import due, next_at, starts_over
from corral.core.ids import SessionId, TaskId, Token
from corral.core.log import events as e
from corral.core.log.state import TaskState
from corral.core.show.why import explain
from tests.core.board.recurring_board import BEAT_S, OPEN, TASK, Recurring, ms
from tests.core.memory_board import Board


def test_a_task_of_beats_is_on_the_board_at_once_and_then_every_so_many_beats() -> None:
    board = Recurring(every=3)  # added in the beat of 12:00
    assert board.tend() == []
    board.land(TASK)
    assert next_at(board.state, board.now, BEAT_S) == ms(2026, 3, 2, 12, 45)
    assert board.until(2026, 3, 2, 12, 44) == []
    assert board.until(2026, 3, 2, 12, 45) == [ms(2026, 3, 2, 12, 45)]
    assert board.task.state is TaskState.TODO
    assert board.claim(TASK)


def test_a_task_of_a_cron_line_waits_for_its_first_date() -> None:
    board = Recurring(cron="0  3 * * 1-5")
    assert board.task.not_before_at == ms(2026, 3, 3, 3, 0)
    assert board.refusal(c.ClaimTask(task=TASK)).code == "resting"
    assert "AF-1 is waiting for its next date, in 53700 s (cron: 0 3 * * 1-5)" in board.why()
    assert board.until(2026, 3, 3, 3, 0) == []  # it is there already
    assert board.claim(TASK)


@pytest.mark.parametrize("end", [TaskState.DONE, TaskState.FAILED])
def test_a_finished_task_starts_over(end: TaskState) -> None:
    board = Recurring(every=1)
    board.bring(TASK, end)
    board.wait(BEAT_S)
    assert len(board.tend()) == 1
    task = board.task
    assert (task.state, task.failures, task.commit, task.reason) == (TaskState.TODO, 0, "", "")
    assert task.attempts == 1  # sessions are numbered by it: it never starts over


def test_a_cancelled_task_stays_cancelled() -> None:
    board = Recurring(every=1)
    board.bring(TASK, TaskState.CANCELLED)
    board.wait(10 * BEAT_S)
    assert board.tend() == []
    assert next_at(board.state, board.now, BEAT_S) is None


def test_a_task_that_is_done_can_be_cancelled_only_if_it_comes_back() -> None:
    board = Recurring(every=1)
    board.land(TASK)
    assert "cancel" in explain(board.state, board.task, board.now).moves
    board.do(c.CancelTask(task=TASK))
    assert board.task.state is TaskState.CANCELLED
    board.do(c.AddTask(title="Once"))
    board.land(TaskId("AF-2"))
    assert board.refusal(c.CancelTask(task=TaskId("AF-2"))).code == "wrong_state"


@pytest.mark.parametrize("state", OPEN)
def test_dates_that_pass_while_it_is_open_are_covered_by_that_run(state: TaskState) -> None:
    board = Recurring(every=1)
    token = board.bring(TASK, state)
    board.wait(5 * BEAT_S)
    assert board.tend() == []
    assert next_at(board.state, board.now, BEAT_S) is None
    if state is TaskState.DOING:
        board.do(c.FailTask(task=TASK, token=token))
        assert board.tend() == []
        board.wait(BEAT_S)
        assert len(board.tend()) == 1


def test_missed_dates_are_made_up_for_once() -> None:
    board = Recurring(every=2)
    board.land(TASK)
    assert board.until(2026, 3, 9, 12, 40) == [ms(2026, 3, 9, 12, 30)]
    board.land(TASK)
    assert board.tend() == []
    assert next_at(board.state, board.now, BEAT_S) == ms(2026, 3, 9, 13, 0)


def test_missed_dates_are_skipped_if_so_asked() -> None:
    board = Recurring(cron="@hourly", missed="skip")
    board.until(2026, 3, 2, 13, 0)
    board.land(TASK)
    assert board.until(2026, 3, 5, 8, 15) == []  # a beat late
    assert next_at(board.state, board.now, BEAT_S) == ms(2026, 3, 5, 9, 0)
    assert board.until(2026, 3, 5, 9, 14) == [ms(2026, 3, 5, 9, 0)]  # in time


def test_a_first_date_that_was_missed_is_skipped_too() -> None:
    board = Recurring(cron="0 3 * * *", missed="skip")
    assert next_at(board.state, board.now, BEAT_S) == ms(2026, 3, 3, 3, 15)
    assert board.until(2026, 3, 3, 9, 0) == [ms(2026, 3, 4, 3, 0)]
    assert board.refusal(c.ClaimTask(task=TASK)).code == "resting"
    board.now = ms(2026, 3, 4, 3, 1)
    assert board.tend() == []
    board.claim(TASK)


def test_a_new_date_starts_over_and_another_attempt_does_not() -> None:
    board = Recurring(every=1)
    assert not starts_over(board.state, board.task)
    for number in (1, 2):
        session = SessionId(f"{TASK}.{number}")
        words: dict[str, Any] = {"profile": "default", "branch": "b", "base": "c"}
        board.add(e.SessionStarted(session=session, task=TASK, token=Token("1"), **words))
        board.add(e.SessionEnded(session=session, verdict="crashed"))
        board.add(e.TaskDelayed(task=TASK, reason="crashed", until_at=board.now))
        assert not starts_over(board.state, board.task)
        board.land(TASK)
        board.wait(BEAT_S)
        assert board.tend()
        assert starts_over(board.state, board.task)


def test_a_failed_attempt_rests_and_is_not_a_new_date() -> None:
    board = Recurring(every=1)
    board.claim(TASK)
    board.add(e.TaskDelayed(task=TASK, reason="crashed", until_at=board.now + 30_000))
    assert "is retried in 30 s, after 1 failed attempt (crashed)" in board.why()
    board.wait(BEAT_S)
    assert board.tend() == []


def test_why_says_what_a_finished_task_waits_for() -> None:
    board = Recurring(cron="0 3 * * *")
    board.until(2026, 3, 3, 3, 0)
    board.land(TASK)
    assert board.why().endswith("AF-1 has landed; it recurs at 2026-03-04 03:00 UTC")
    board.now = ms(2026, 3, 4, 3, 5)
    assert (
        "it has been due since 2026-03-04 03:00 UTC: the witness will put it on the board"
        in board.why()
    )
    board.tend()
    assert board.why() == "AF-1 is ready: anyone can claim it"
    beats = Recurring(every=3)
    beats.bring(TASK, TaskState.FAILED)
    assert "failed and is retried at its next date" in beats.why()
    assert "AF-1 failed; it recurs every 3 beats" in beats.why()


@pytest.mark.parametrize(
    ("schedule", "said"),
    [
        ({"every": 1, "cron": "@daily"}, "not by both"),
        ({"every": -1}, "the number of beats is -1"),
        ({"every": 10_001}, "the number of beats is 10001"),
        ({"cron": "0 3 * *"}, "has 4 fields instead of 5"),
        ({"every": 1, "missed": "twice"}, "use once or skip"),
        ({"missed": "skip"}, "add --every or --cron"),
        ({"every": 1, "parent": TaskId("AF-1")}, "cannot recur"),
    ],
)
def test_a_bad_schedule_is_refused_in_one_sentence(schedule: dict[str, Any], said: str) -> None:
    board = Board()
    board.convoy("Auth fix")
    board.do(c.AddTask(title="Lead", budget=4))
    refusal = board.refusal(c.AddTask(title="Audit", **schedule))
    assert (refusal.exit_code, said in refusal.message) == (2, True)


def test_a_task_without_a_schedule_is_left_alone() -> None:
    board = Recurring()
    board.land(TASK)
    board.wait(100 * BEAT_S)
    assert due(board.state, board.now, BEAT_S) == []
    assert (board.task.every, board.task.cron, board.task.missed) == (0, "", "")
