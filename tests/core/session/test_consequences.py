"""One table says what follows from each verdict: attempts, delays, alerts, resumption."""

import pytest

from corral.core.board import commands as c
from corral.core.engine.bill import Bill
from corral.core.engine.governor import Accounts
from corral.core.ids import SessionId
from corral.core.log import events as e
from corral.core.log.state import TaskState
from corral.core.message import rules as messages
from corral.core.session import rules as session_rules
from corral.core.session.backoff import Patience
from corral.core.session.slots import Limits
from corral.core.session.verdict import AFTER, Again, Judgement, Verdict, after
from tests.core.memory_board import Board

LIMITS = Limits(9, accounts=Accounts(of={"default": "acc"}))
EXPECTED: dict[Verdict, type[e.Event]] = {
    Verdict.STOPPED: e.TaskFailed,
    Verdict.OVER_BUDGET: e.TaskFailed,
    Verdict.WRONG_MODEL: e.TaskFailed,
    Verdict.NEEDS_ANSWER: e.TaskBlocked,
    Verdict.LIMITED: e.TaskParked,
    Verdict.UNFIT: e.TaskParked,
    Verdict.REFUSED: e.TaskParked,
    Verdict.UPSTREAM: e.TaskParked,
    Verdict.HANDED_OVER: e.TaskParked,
    Verdict.INTERRUPTED: e.TaskParked,
}


class SessionBoard(Board):
    def __init__(self) -> None:
        super().__init__()
        self.name = self.task()

    def start(self, profile: str = "default") -> SessionId:
        self.record(
            session_rules.start(
                self.state,
                self.name,
                profile=profile,
                pool="",
                base="a" * 40,
                limits=LIMITS,
                ttl_s=10**6,
                wall_s=0,
                now=self.now,
            )
        )
        return self.get(self.name).session

    def end(self, session: SessionId, verdict: Verdict) -> e.Event:
        decided = session_rules.end(
            self.state,
            session,
            Judgement(verdict, "why"),
            commit="",
            code=1,
            signal=None,
            patience=Patience(3, 30, 3600),
            now=self.now,
        )
        return self.record(decided)[-1]


@pytest.mark.parametrize("verdict", sorted(set(Verdict) - {Verdict.PROVED}))
def test_each_verdict_leads_to_what_the_table_says(verdict: Verdict) -> None:
    board = SessionBoard()
    event = board.end(board.start(), verdict)
    assert event.type == EXPECTED.get(verdict, e.TaskDelayed).type
    task = board.get(board.name)
    uses_up = task.failures == 1 or task.state is TaskState.FAILED
    assert uses_up == after(verdict).counts


@pytest.mark.parametrize("verdict", sorted(v for v in AFTER if AFTER[v].most))
def test_what_uses_up_no_attempt_does_so_only_so_often(verdict: Verdict) -> None:
    board = SessionBoard()
    for number in range(after(verdict).most + 1):
        assert board.get(board.name).failures == 0, number
        board.wait(100_000)
        board.end(board.start(), verdict)
    assert board.get(board.name).failures == 1


def test_a_verdict_that_needs_a_person_says_so_and_no_retry_is_endless() -> None:
    for verdict, then in AFTER.items():
        if then.again in (Again.NEVER, Again.BLOCKED) and verdict is not Verdict.PROVED:
            assert then.person, verdict
        assert then.counts or then.most or then.again in (Again.NEVER, Again.BLOCKED), verdict
        assert then.relaunches <= 3, verdict


@pytest.mark.parametrize(
    ("verdict", "profile", "resumed"),
    [
        (Verdict.LIMITED, "default", "th-1"),
        (Verdict.CRASHED, "default", "th-1"),
        (Verdict.LIMITED, "other", ""),
        (Verdict.CHECKS_FAILED, "default", ""),
        (Verdict.LOOPING, "default", ""),
        (Verdict.OVERFLOW, "default", ""),
    ],
)
def test_the_next_session_goes_on_with_the_conversation_where_that_makes_sense(
    verdict: Verdict, profile: str, resumed: str
) -> None:
    board = SessionBoard()
    session = board.start()
    board.record(session_rules.engaged(board.state, session, "th-1", "m", "1"))
    assert session_rules.engaged(board.state, session, "th-1", "m", "1") == []
    board.end(session, verdict)
    board.wait(100_000)
    second = board.state.sessions[board.start(profile)]
    assert second.resume == resumed
    assert second.account == ("acc" if profile == "default" else "")


def test_a_new_brief_is_not_kept_from_the_engine_by_going_on() -> None:
    board = SessionBoard()
    session = board.start()
    board.record(session_rules.engaged(board.state, session, "th-1", "m", "1"))
    board.end(session, Verdict.LIMITED)
    board.do(c.EditTask(task=board.name, brief="Do something else."))
    board.wait(100_000)
    assert board.state.sessions[board.start()].resume == ""


def test_a_conversations_figures_go_with_it_until_it_starts_over() -> None:
    board = SessionBoard()
    session = board.start()
    board.record(session_rules.engaged(board.state, session, "th-1", "m", "1"))
    used = Bill(fresh=10, nano_usd=5)
    board.record(session_rules.spent(board.state, session, used, 1, "m"))
    board.record(session_rules.react(board.state, session, "hung", "resume", ""))
    assert board.state.sessions[session].talk == used
    board.record(session_rules.spent(board.state, session, used + used, 2, "m"))
    board.end(session, Verdict.LIMITED)
    board.wait(100_000)
    second = board.start()
    assert board.state.sessions[second].talk == used + used
    board.record(session_rules.react(board.state, second, "lost_thread", "afresh", ""))
    found = board.state.sessions[second]
    assert (found.talk, found.conversation, found.launches) == (Bill(), "", 1)


def test_a_relaunch_clears_the_stop_that_led_to_it() -> None:
    board = SessionBoard()
    session = board.start()
    board.record(session_rules.ask_stop(board.state, session, Verdict.HUNG, "silent"))
    board.record(session_rules.asked(board.state, session, "May I?", now=board.now))
    assert session_rules.asked(board.state, session, "May I?", now=board.now) == []
    board.record(session_rules.react(board.state, session, "hung", "restart", "silent"))
    found = board.state.sessions[session]
    assert (found.stop, found.asked, found.fresh, found.launches) == ("", "", True, 2)
    board.record(session_rules.react(board.state, session, "asked", "answered", "yes"))
    assert board.state.sessions[session].launches == 2
    assert board.state.sessions[session].reactions == ("hung: restart", "asked: answered")


def test_an_answer_by_policy_is_on_its_way_with_the_question_and_ends_with_its_session() -> None:
    board = SessionBoard()
    session = board.start()

    def ask(call: str) -> None:
        state = board.state
        asked = session_rules.asked(
            state, session, "May I?", call=call, answer="yes", now=board.now
        )
        board.record(asked)

    for call in ("c-1", "c-1", "c-2"):  # the same words again are another question
        ask(call)
    letters = [(m.sender, m.to, m.text, m.answers) for m in board.state.messages.values()]
    assert letters == [("policy", f"session:{session}", "yes", call) for call in ("c-1", "c-2")]
    board.record(session_rules.answered(board.state, session))
    assert board.state.sessions[session].asked == ""
    assert session_rules.answered(board.state, session) == []
    board.record(messages.give_back(board.state, board.state.sessions[session]))
    assert board.state.messages == {}  # it is not told to the next session


def test_the_folder_of_a_conversation_is_kept_for_it_until_it_goes_on() -> None:
    board = SessionBoard()
    first = board.start()
    assert session_rules.interrupted(board.state) == []
    board.record(session_rules.engaged(board.state, first, "th-1", "m", "1"))
    board.end(first, Verdict.CRASHED)
    assert session_rules.interrupted(board.state) == [first]
    board.wait(100_000)
    second = board.start()
    assert session_rules.interrupted(board.state) == [first], "its tree is yet to be made there"
    board.end(second, Verdict.LOOPING)
    assert session_rules.interrupted(board.state) == []
