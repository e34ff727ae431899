"""Rate limits are learned from the log, and a fleet settles at what its account can sustain."""

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corral.core.board import commands as c
from corral.core.engine import governor
from corral.core.engine.governor import Accounts
from corral.core.ids import SessionId
from corral.core.log import events as e
from corral.core.log.state import Account, TaskState
from corral.core.session import rules as session_rules
from corral.core.session.backoff import Patience
from corral.core.session.slots import Limits, startable
from corral.core.session.verdict import Judgement, Verdict
from corral.core.show.why import explain
from tests.core.memory_board import START, Board

PROFILES = Accounts(of={"default": "acc", "spare": "other"})
WITH_SPARE = Accounts(of=PROFILES.of, fallback={"default": "spare", "spare": "default"})
PATIENCE = Patience(3, 30, 3600)


class AccountBoard(Board):
    """A board whose sessions share an account."""

    def __init__(self, tasks: int, accounts: Accounts = PROFILES, total: int = 50) -> None:
        super().__init__()
        self.convoy()
        self.limits = Limits(total, accounts=accounts)
        self.names = [self.task() for _ in range(tasks)]

    def fill(self) -> list[SessionId]:
        """Start whatever may start now."""
        started = []
        for task in list(startable(self.state, self.limits, {}, self.now, "witness")):
            profile = governor.profile_for(self.state, task, self.limits.accounts, self.now)
            self.record(
                session_rules.start(
                    self.state,
                    task.id,
                    profile=profile,
                    pool="",
                    base="a" * 40,
                    limits=self.limits,
                    ttl_s=10**6,
                    wall_s=0,
                    now=self.now,
                )
            )
            started.append(self.state.tasks[task.id].session)
        return started

    def live(self, account: str = "acc") -> list[SessionId]:
        return [s.id for s in self.state.sessions.values() if s.live and s.account == account]

    def meet(
        self, session: SessionId, *, retry_s: float | None = None, trouble: str = "rate"
    ) -> Sequence[e.Event]:
        return self.record(
            session_rules.limited(
                self.state, session, trouble, "429", reset_at=None, retry_s=retry_s, now=self.now
            )
        )

    def end(self, session: SessionId, verdict: Verdict) -> None:
        proved = verdict is Verdict.PROVED
        self.record(
            session_rules.end(
                self.state,
                session,
                Judgement(verdict, "" if proved else "429"),
                commit="b" * 40 if proved else "",
                code=0,
                signal=None,
                patience=PATIENCE,
                now=self.now,
            )
        )

    def refuse(self, session: SessionId, *, retry_s: float | None = None) -> None:
        self.meet(session, retry_s=retry_s)
        self.end(session, Verdict.LIMITED)


def simulate(fleet: AccountBoard, bears: int, work_s: int) -> tuple[list[int], int]:
    """Run a fleet second by second on an account that refuses sessions beyond its limit."""
    begun: dict[SessionId, int] = {}
    running: list[int] = []
    refused = 0
    for second in range(3600):
        for session in [s for s in begun if fleet.now - begun[s] >= work_s * 1000]:
            del begun[session]
            fleet.end(session, Verdict.PROVED)
        for session in fleet.fill():
            if len(begun) >= bears:
                fleet.refuse(session)
                refused += second > 60
            else:
                begun[session] = fleet.now
        running.append(len(begun))
        if all(fleet.get(task).state is TaskState.REVIEW for task in fleet.names):
            break
        fleet.wait(1)
    return running, refused


@settings(max_examples=8, deadline=None)
@given(bears=st.integers(1, 12), work_s=st.integers(5, 40))
def test_a_fleet_settles_at_what_its_account_bears_and_all_is_done(bears: int, work_s: int) -> None:
    fleet = AccountBoard(25)
    running, refused = simulate(fleet, bears, work_s)
    assert all(fleet.get(task).state is TaskState.REVIEW for task in fleet.names)
    assert all(fleet.get(task).failures == 0 for task in fleet.names)
    assert refused <= 15, "few are refused once the number is known"
    # It does not starve itself either: half of what could be done at best is done.
    best = work_s * (25 / bears + 1)
    assert len(running) <= 2 * best + 60


def test_nothing_is_limited_until_a_limit_is_met() -> None:
    assert len(AccountBoard(30).fill()) == 30


def test_as_many_may_run_as_were_still_fine_and_one_more_for_each_round_that_goes_well() -> None:
    fleet = AccountBoard(60, total=60)
    sessions = fleet.fill()
    for session in sessions[:55]:
        fleet.refuse(session, retry_s=1)
    assert fleet.live() == sessions[55:]
    fleet.wait(100)
    assert fleet.fill() == [], "five may run, and five do"
    rounds = 0
    while len(fleet.live()) == 5:
        for session in fleet.live():
            fleet.end(session, Verdict.PROVED)
        fleet.fill()
        rounds += 1
    assert (len(fleet.live()), rounds) == (6, 5), "slowly, where it was limited before"


def test_nothing_starts_before_the_reset_and_then_not_all_at_once() -> None:
    fleet = AccountBoard(10)
    sessions = fleet.fill()
    for session in sessions:
        fleet.refuse(session, retry_s=600)
    until = {fleet.get(task).not_before_at for task in fleet.names}
    assert len(until) == 10
    assert min(until) >= fleet.now + 600_000
    assert max(until) <= fleet.now + 660_000
    fleet.wait(599)
    assert fleet.fill() == []
    fleet.wait(120)
    assert len(fleet.fill()) == 1, "all were refused: one of them tries"


def test_tasks_that_never_ran_do_not_start_together_at_the_reset_either() -> None:
    fleet = AccountBoard(40, total=20)
    sessions = fleet.fill()
    for session in sessions[:10]:
        fleet.refuse(session, retry_s=100)
    for session in sessions[10:]:
        fleet.end(session, Verdict.PROVED)
    assert fleet.fill() == [], "the account is limited, and 20 tasks were never begun"
    free_at = fleet.now + 100_000
    starts: list[int] = []
    while len(starts) < 10:
        fleet.now = min(governor.wakes(fleet.state, fleet.now))
        starts += [fleet.now - free_at for _ in fleet.fill()]
        waits = explain(fleet.state, fleet.get(fleet.names[-1]), fleet.now, fleet.limits)
        assert waits.obstacles[0].code == "account_limited"
    assert min(starts) >= 0, "nothing starts before the reset"
    assert len(set(starts)) == 10, "no two start together"
    assert max(starts) <= 20_000
    gaps = {late - early for early, late in pairwise(starts)}
    assert len(gaps) > 5, "by chance, not by the clock"


def test_a_quota_that_is_used_up_says_nothing_about_how_many_are_too_many() -> None:
    fleet = AccountBoard(10)
    for session in fleet.fill():
        fleet.meet(session, retry_s=3600, trouble="quota")
        fleet.end(session, Verdict.LIMITED)
    fleet.wait(3700)
    assert len(fleet.fill()) == 8, "a fifth fewer, not one"


def test_a_limit_uses_up_no_attempt_but_not_without_end() -> None:
    fleet = AccountBoard(1)
    ended = 0
    while fleet.get(fleet.names[0]).failures == 0:
        started = fleet.fill()
        if started:
            fleet.refuse(started[0])
            ended += 1
        fleet.wait(3600)
    assert ended == 201


@given(st.integers(0, 30))
def test_the_rest_of_an_account_that_names_no_time_grows_to_an_hour(strikes: int) -> None:
    account = Account("acc", strikes=strikes)
    wait = governor.free_at(account, reset_at=None, retry_s=None, now=START) - START
    assert wait == min(3_600_000, 5000 * 2**strikes)


@given(st.integers(-(10**12), 10**15), st.floats(0, 10**9))
def test_times_that_an_engine_makes_up_are_bounded(reset_at: int, retry_s: float) -> None:
    for given_at, given_s in ((reset_at, None), (None, retry_s), (reset_at, retry_s)):
        found = governor.free_at(None, reset_at=given_at, retry_s=given_s, now=START)
        assert START <= found <= START + 7 * 86_400_000


def test_an_engine_that_tries_again_every_second_fills_no_log() -> None:
    fleet = AccountBoard(3)
    (session, *_) = fleet.fill()
    events = 0
    for _ in range(600):
        events += len(fleet.meet(session, retry_s=1))
        fleet.wait(1)
    assert events <= 11


def test_a_limit_that_is_over_is_forgotten_after_a_while() -> None:
    fleet = AccountBoard(30)
    for session in fleet.fill():
        fleet.refuse(session, retry_s=1)
    fleet.wait(4 * 600 + 10)
    assert len(fleet.fill()) == 16


def test_another_profile_stands_in_and_circles_end() -> None:
    fleet = AccountBoard(2, WITH_SPARE)
    first, second = fleet.fill()
    fleet.refuse(first, retry_s=600)
    fleet.wait(300)
    fleet.task()
    (third,) = fleet.fill()
    assert fleet.state.sessions[third].account == "other"
    fleet.refuse(third, retry_s=600)
    fleet.task()
    assert fleet.fill() == []
    assert fleet.live() == [second]


def test_an_account_that_was_refused_is_held_until_a_person_has_acted() -> None:
    fleet = AccountBoard(1)
    fleet.do(c.RaiseAlert(subject="acc", kind=governor.REFUSED, text="401"), "witness")
    assert fleet.fill() == []
    said = explain(fleet.state, fleet.get(fleet.names[0]), fleet.now, fleet.limits)
    assert "was refused" in said.obstacles[0].text
    (alert,) = fleet.state.alerts
    fleet.do(c.ClearAlert(alert=alert))
    assert len(fleet.fill()) == 1


@pytest.mark.parametrize("wait", [10, 700])
def test_why_says_until_when_and_how_many(wait: int) -> None:
    fleet = AccountBoard(3)
    for session in fleet.fill()[:2]:
        fleet.refuse(session, retry_s=600)
    fleet.wait(wait)
    waiting = fleet.task()
    said = explain(fleet.state, fleet.get(waiting), fleet.now, fleet.limits)
    expected = "is limited (rate) for another 590 s" if wait == 10 else "sessions running: 1 of 1"
    assert expected in said.obstacles[0].text
    assert said.summary == f"{waiting} is ready and waits for its engine's account"


def test_the_same_log_gives_the_same_account() -> None:
    one, two = AccountBoard(12), AccountBoard(12)
    for fleet in (one, two):
        simulate(fleet, 3, 7)
    assert one.state == two.state
    assert one.state.accounts["acc"].allowed >= 1


def test_a_task_that_was_limited_goes_on_where_another_stands_in_and_else_waits() -> None:
    fleet = AccountBoard(1, WITH_SPARE)
    (task,) = fleet.names
    for retry_s in (600, 100):
        (session,) = fleet.fill()
        fleet.meet(session, retry_s=retry_s)
        judgement = Judgement(Verdict.LIMITED, "429")
        fleet.record(
            session_rules.end(
                fleet.state,
                session,
                judgement,
                commit="",
                code=1,
                signal=None,
                patience=PATIENCE,
                now=fleet.now,
                accounts=fleet.limits.accounts,
            )
        )
        if retry_s == 600:
            assert fleet.get(task).not_before_at < fleet.now + 1000, "the spare one is free"
            fleet.wait(1)
    assert fleet.state.sessions[fleet.get(task).session].profile == "spare"
    # Both are limited, and it is its own that it waits for.
    assert fleet.get(task).not_before_at >= fleet.state.accounts["acc"].until_at
