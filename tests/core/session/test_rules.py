"""A session starts with a claim and a slot, and its end moves its task once."""

import pytest

from corral.core.board import commands as c
from corral.core.errors import NotFound, Refused
from corral.core.ids import SessionId, Token
from corral.core.log import events as e
from corral.core.log.state import TaskState
from corral.core.session import rules as session_rules
from corral.core.session.rules import Decision
from corral.core.session.slots import Limits, startable
from corral.core.session.verdict import Again, Judgement, Verdict, after
from tests.core.memory_board import START, TTL_S
from tests.core.session.session_board import (
    BASE,
    COMMIT,
    CRASHED,
    FIRST,
    LIMITS,
    PATIENCE,
    PROVED,
    SECOND,
    TASK,
    SessionBoard,
    types,
)


def test_a_start_claims_the_task_and_takes_a_slot_under_one_token() -> None:
    board = SessionBoard()
    board.task()
    claimed, started = board.start(pool="big")
    assert claimed == e.TaskClaimed(
        task=TASK, holder=FIRST, token=Token("3"), expires_at=START + TTL_S * 1000
    )
    assert started == e.SessionStarted(
        session=FIRST,
        task=TASK,
        token=Token("3"),
        profile="default",
        branch="convoy/auth-fix/AF-1",
        base=BASE,
        pool="big",
        wall_s=600,
    )
    assert board.session().live
    assert board.get(TASK).session == FIRST


def test_a_start_on_a_lapsed_claim_takes_it_away_first() -> None:
    board = SessionBoard()
    board.task()
    late = board.claim(TASK)
    board.wait(TTL_S)
    assert types(board.start()) == ["task.lapsed", "task.claimed", "session.started"]
    assert board.session(SECOND).token == Token("5")
    assert board.refusal(c.SubmitTask(task=TASK, token=late)).code == "stale_token"


@pytest.mark.parametrize(
    ("limits", "pool", "code"),
    [
        (Limits(1), "", "no_slot"),
        (Limits(2, 1), "", "no_slot"),
        (Limits(9, 0, {"a": 0}), "a", "pool_full"),
    ],
)
def test_without_a_slot_there_is_no_claim_either(
    board: SessionBoard, limits: Limits, pool: str, code: str
) -> None:
    other = board.task()
    with pytest.raises(Refused) as caught:
        board.start(other, limits, pool)
    assert caught.value.code == code
    assert board.get(other).claim is None


@pytest.mark.parametrize(
    ("state", "code"),
    [
        (TaskState.DOING, "already_claimed"),
        (TaskState.BLOCKED, "wrong_state"),
        (TaskState.REVIEW, "wrong_state"),
        (TaskState.DONE, "wrong_state"),
        (TaskState.FAILED, "wrong_state"),
        (TaskState.CANCELLED, "wrong_state"),
    ],
)
def test_a_task_that_cannot_be_claimed_cannot_be_started(state: TaskState, code: str) -> None:
    board = SessionBoard()
    board.bring(board.task(), state)
    with pytest.raises(Refused) as caught:
        board.start()
    assert caught.value.code == code
    assert not board.state.sessions


def test_needs_hold_for_sessions_too() -> None:
    board = SessionBoard()
    waits = board.task(board.task())
    with pytest.raises(Refused) as caught:
        board.start(waits)
    assert caught.value.code == "needs_not_landed"


def test_a_slot_is_free_when_the_session_has_ended_not_when_it_was_asked_to(
    board: SessionBoard,
) -> None:
    other = board.task()
    board.ask_stop()
    with pytest.raises(Refused, match="waits for a slot"):
        board.start(other, Limits(1))
    board.end(Judgement(Verdict.STOPPED))
    assert board.start(other, Limits(1))


@pytest.mark.parametrize("how", ["given up", "lapsed"])
def test_a_task_is_not_started_while_its_last_session_still_runs(
    board: SessionBoard, how: str
) -> None:
    if how == "given up":
        board.do(c.HandOffTask(task=TASK, token=Token("3")), FIRST)
    board.wait(TTL_S)
    assert not list(startable(board.state, LIMITS, {}, board.now, "witness"))
    with pytest.raises(Refused, match=r"AF-1\.1 still runs") as caught:
        board.start()
    assert caught.value.code == "session_runs"
    assert board.session().live
    assert types(board.end())[:1] == ["session.ended"]


def test_only_what_is_proved_is_handed_in(board: SessionBoard) -> None:
    assert board.end() == [
        e.SessionEnded(session=FIRST, verdict="proved", commit=COMMIT, code=0),
        e.TaskSubmitted(task=TASK, token=Token("3"), commit=COMMIT),
    ]
    task = board.get(TASK)
    assert (task.state, task.commit, task.claim) == (TaskState.REVIEW, COMMIT, None)
    assert (board.session().live, board.session().verdict) == (False, "proved")


ORDINARY = {v for v in Verdict if after(v).counts and after(v).again is Again.REST}


@pytest.mark.parametrize("verdict", sorted(ORDINARY))
def test_every_other_verdict_lets_the_task_rest(board: SessionBoard, verdict: Verdict) -> None:
    ended, delayed = board.end(Judgement(verdict, "why"))
    rest = PATIENCE.rest_s(1, FIRST)
    assert isinstance(ended, e.SessionEnded)
    assert (ended.verdict, ended.detail, ended.signal) == (verdict, "why", 9)
    assert delayed == e.TaskDelayed(
        task=TASK, reason=f"{verdict}: why", until_at=board.now + int(rest * 1000)
    )
    assert (board.get(TASK).state, board.get(TASK).failures) == (TaskState.TODO, 1)


def test_a_task_that_rests_is_not_offered_until_its_time(board: SessionBoard) -> None:
    board.end(CRASHED)
    rest = board.get(TASK).not_before_at - board.now
    for actor in ("ana", "witness"):
        assert not list(startable(board.state, LIMITS, {}, board.now, actor))
    refusal = board.refusal(c.ClaimTask(task=TASK))
    assert refusal.code == "resting"
    assert "after 1 failed attempt (crashed: signal 9)" in refusal.message
    board.wait((rest - 1) / 1000)
    with pytest.raises(Refused) as caught:
        board.start()
    assert caught.value.code == "resting"
    board.now += 1
    assert [task.id for task in startable(board.state, LIMITS, {}, board.now, "witness")] == [TASK]
    assert types(board.start()) == ["task.claimed", "session.started"]


def test_attempts_are_limited_and_the_last_one_gives_the_task_to_a_person(
    board: SessionBoard,
) -> None:
    for attempt, moved in enumerate(["task.delayed", "task.delayed", "task.failed"], 1):
        session = SessionId(f"AF-1.{attempt}")
        assert types(board.end(CRASHED, session)) == ["session.ended", moved]
        if moved == "task.delayed":
            board.now = board.get(TASK).not_before_at
            board.start()
    assert board.get(TASK).state is TaskState.FAILED
    assert board.get(TASK).reason == "crashed: signal 9"
    board.do(c.RetryTask(task=TASK))
    assert (board.get(TASK).failures, board.get(TASK).not_before_at) == (0, 0)
    board.start()
    assert types(board.end(CRASHED, SessionId("AF-1.4"))) == ["session.ended", "task.delayed"]


def test_what_was_stopped_by_hand_is_not_tried_again(board: SessionBoard) -> None:
    board.ask_stop()
    assert types(board.end(Judgement(Verdict.STOPPED))) == ["session.ended", "task.failed"]


def test_a_session_ends_once(board: SessionBoard) -> None:
    board.end()
    assert board.end() == []
    assert board.end(CRASHED) == []


LATE: dict[str, list[c.Command]] = {
    "cancelled": [c.CancelTask(task=TASK)],
    "handed off": [c.HandOffTask(task=TASK, to="bob", token=Token("3"))],
    "blocked": [c.BlockTask(task=TASK, token=Token("3"))],
    "failed by itself": [c.FailTask(task=TASK, token=Token("3"))],
    "taken over": [c.ClaimTask(task=TASK)],
}


@pytest.mark.parametrize("how", LATE)
@pytest.mark.parametrize("judgement", [PROVED, CRASHED], ids=["proved", "crashed"])
def test_a_result_that_comes_too_late_ends_the_session_and_nothing_else(
    board: SessionBoard, how: str, judgement: Judgement
) -> None:
    board.wait(TTL_S)
    for command in LATE[how]:
        board.do(command, "bob")
    before = board.get(TASK)
    assert types(board.end(judgement)) == ["session.ended"]
    assert board.get(TASK) == before
    assert not board.session().live


def test_a_session_cannot_hand_in_its_own_work(board: SessionBoard) -> None:
    submit = c.SubmitTask(task=TASK, token=Token("3"), commit=COMMIT)
    assert board.refusal(submit, FIRST).code == "not_judged"
    assert types(board.end()) == ["session.ended", "task.submitted"]


def test_a_claim_that_lapsed_but_was_not_taken_is_still_good(board: SessionBoard) -> None:
    board.wait(10 * TTL_S)
    assert types(board.end()) == ["session.ended", "task.submitted"]


def test_claims_of_sessions_are_kept_and_a_lost_one_is_left_out(board: SessionBoard) -> None:
    other = board.task()
    board.start(other)
    board.do(c.BlockTask(task=other, token=Token("6")))
    sessions = [FIRST, SessionId("AF-2.1")]
    renewed = session_rules.renew(board.state, sessions, 90, board.now)
    assert renewed == [
        e.TaskRenewed(task=TASK, token=Token("3"), expires_at=board.now + 90_000),
    ]
    board.record(renewed)
    claim = board.get(TASK).claim
    assert claim is not None
    assert claim.expires_at == board.now + 90_000


def test_a_stop_is_asked_for_once_and_only_of_what_runs(board: SessionBoard) -> None:
    asked = e.SessionStopAsked(session=FIRST, verdict="silent", reason="enough")
    assert board.ask_stop(FIRST.lower(), Verdict.SILENT) == [asked]
    assert board.ask_stop() == []
    assert (board.session().stop, board.session().live) == ("silent", True)
    board.end(Judgement(Verdict.SILENT))
    with pytest.raises(Refused, match=r"AF-1\.1 has ended \(silent\)") as caught:
        board.ask_stop()
    assert caught.value.code == "session_ended"


def test_progress_is_recorded_when_it_is_news(board: SessionBoard) -> None:
    def say(text: str, outputs: int) -> Decision:
        return board.record(session_rules.progress(board.state, FIRST, text, outputs))

    assert say("reading", 0) == [e.SessionProgressed(session=FIRST, text="reading", outputs=0)]
    assert say("reading", 0) == []
    assert board.session().outputs_at == START
    assert board.session().progress_at == START + 5000
    board.wait(1)
    assert types(say("wrote one", 1)) == ["session.progressed"]
    assert (board.session().outputs, board.session().outputs_at) == (1, START + 6000)
    board.end()
    assert say("still here", 2) == []


def test_alerts_about_a_session_that_runs_are_over_with_it(board: SessionBoard) -> None:
    board.do(c.RaiseAlert(subject=FIRST, kind="silent", text="odd"))
    board.do(c.RaiseAlert(subject=FIRST, kind="note", text="a person's"))
    board.do(c.RaiseAlert(subject="AF-1.9", kind="silent", text="another's"))
    board.end()
    assert [alert.text for alert in board.state.alerts.values()] == ["a person's", "another's"]


@pytest.mark.parametrize("name", ["AF-1.9", "AF-1", "", "../x"])
def test_a_session_that_is_not_there_is_not_found(board: SessionBoard, name: str) -> None:
    with pytest.raises(NotFound, match="there is no session") as caught:
        session_rules.find_session(board.state, name)
    assert caught.value.hint == "corral session list"


def test_a_new_session_is_remembered_in_the_place_of_the_last(board: SessionBoard) -> None:
    board.end(CRASHED)
    board.now = board.get(TASK).not_before_at
    board.start()
    assert list(board.state.sessions) == [SECOND]
    assert board.get(TASK).session == SECOND
