"""Spending is computed from the log alone; an exceeded budget blocks new work."""

import pytest

from corral.core.board import commands as c
from corral.core.engine import money
from corral.core.engine.bill import DAY_MS, NANO, Bill
from corral.core.engine.money import Budgets, Sums
from corral.core.ids import SessionId, TaskId
from corral.core.log import events as e
from corral.core.session import rules as session_rules
from corral.core.session.backoff import Patience
from corral.core.session.slots import Limits, startable
from corral.core.session.verdict import Judgement, Verdict
from tests.core.memory_board import Board

DOLLAR = Bill(fresh=100, output=10, nano_usd=NANO)


class MoneyBoard(Board):
    def __init__(self, tasks: int = 2) -> None:
        super().__init__()
        self.convoy()
        self.names = [self.task() for _ in range(tasks)]

    def start(self, task: TaskId, profile: str = "default") -> SessionId:
        self.record(
            session_rules.start(
                self.state,
                task,
                profile=profile,
                pool="",
                base="a" * 40,
                limits=Limits(50),
                ttl_s=10**6,
                wall_s=0,
                now=self.now,
            )
        )
        return self.state.tasks[task].session

    def spend(self, session: SessionId, bill: Bill, model: str = "m") -> None:
        self.record(session_rules.spent(self.state, session, bill, 1, model))

    def end(self, session: SessionId, verdict: Verdict = Verdict.CRASHED) -> None:
        self.record(
            session_rules.end(
                self.state,
                session,
                Judgement(verdict),
                commit="",
                code=1,
                signal=None,
                patience=Patience(9, 0, 0),
                now=self.now,
            )
        )


@pytest.fixture
def till() -> MoneyBoard:
    return MoneyBoard()


def test_totals_of_a_session_replace_each_other_and_sessions_add_up(till: MoneyBoard) -> None:
    one, two = till.names
    first = till.start(one)
    till.spend(first, DOLLAR)
    till.spend(first, DOLLAR + DOLLAR)
    till.end(first)
    second = till.start(one, "spare")
    till.spend(second, DOLLAR, "n")
    till.spend(till.start(two), Bill(fresh=5, unpriced=5))
    found = money.report(till.state)
    assert {line.name: line.known_usd for line in found.tasks} == {one: 3.0, two: 0.0}
    assert {line.name: line.cost_usd for line in found.engines} == {"default": None, "spare": 1.0}
    assert {line.name: line.cost_usd for line in found.models} == {"m": None, "n": 1.0}
    (convoy,) = found.convoys
    assert (convoy.cost_usd, convoy.known_usd, convoy.unpriced) == (None, 3.0, 5)
    assert (found.total.fresh, found.total.output, found.total.sessions) == (305, 30, 3)
    assert found.usd_per_landed is None


def test_a_launch_that_starts_over_adds_to_what_the_session_spent_before(till: MoneyBoard) -> None:
    session = till.start(till.names[0])
    till.spend(session, DOLLAR)
    till.record(session_rules.react(till.state, session, "hung", "resume", "silent"))
    known = till.state.sessions[session]
    assert (known.bill_before, known.launches, known.relaunched) == (DOLLAR, 2, ("hung",))
    till.spend(session, known.bill_before + DOLLAR)
    assert money.report(till.state).total.known_usd == 2.0


def test_less_than_is_known_is_not_believed(till: MoneyBoard) -> None:
    session = till.start(till.names[0])
    till.spend(session, DOLLAR + DOLLAR)
    till.spend(session, DOLLAR)
    assert till.state.sessions[session].bill == DOLLAR + DOLLAR


def test_days_are_counted_apart_and_old_ones_are_forgotten(till: MoneyBoard) -> None:
    session = till.start(till.names[0])
    for day in range(50):
        till.spend(session, Bill(fresh=100, nano_usd=NANO * (day + 1)) + Bill(output=day))
        till.wait(86_400)
    assert len(till.state.days) == 40
    assert {bill.nano_usd for bill in till.state.days.values()} == {NANO}


@pytest.mark.parametrize(
    ("budgets", "what"),
    [
        (Budgets(task_usd=2.0), "task"),
        (Budgets(task_usd=9.0, profiles={"default": 2.0}), "task"),
        (Budgets(convoy_usd=3.0), "convoy"),
        (Budgets(day_usd=3.0), "day"),
        (Budgets(task_usd=2.1, convoy_usd=3.1, day_usd=3.1), ""),
        (Budgets(), ""),
    ],
)
def test_each_budget_holds_what_it_is_for(till: MoneyBoard, budgets: Budgets, what: str) -> None:
    one, two = till.names
    session = till.start(one)
    till.spend(session, DOLLAR)
    other = till.start(two)
    till.spend(other, DOLLAR)
    running = {session: DOLLAR + DOLLAR, other: DOLLAR}
    sums = Sums(till.state, till.now, running)
    found = money.over(sums, till.get(one), "default", budgets)
    assert (found.what if found else "") == what
    assert money.over(Sums(till.state, till.now), till.get(one), "default", budgets) is None


def test_no_task_starts_without_money_and_a_new_day_brings_some(till: MoneyBoard) -> None:
    session = till.start(till.names[0])
    till.spend(session, DOLLAR)
    till.end(session, Verdict.OVER_BUDGET)
    limits = Limits(50, budgets=Budgets(day_usd=1.0))

    def offered() -> list[str]:
        return [t.id for t in startable(till.state, limits, {}, till.now, "witness")]

    assert offered() == []
    till.wait((DAY_MS - till.now % DAY_MS) / 1000)
    assert offered() == [till.names[1]]


def test_a_budget_that_is_not_the_tasks_own_uses_up_no_attempt(till: MoneyBoard) -> None:
    session = till.start(till.names[0])
    events = session_rules.end(
        till.state,
        session,
        Judgement(Verdict.OVER_BUDGET, "today"),
        commit="",
        code=None,
        signal=15,
        patience=Patience(1, 0, 0),
        now=till.now,
        parked="today has cost $1 of $1",
    )
    assert isinstance(events[-1], e.TaskParked)
    till.record(events)
    assert (till.get(till.names[0]).failures, till.get(till.names[0]).parks) == (0, 1)
    till.do(c.CancelTask(task=till.names[0]))
    assert till.get(till.names[0]).parks == 0
