"""Sessions at random: whatever anybody does, what runs is known and no more than allowed."""

from collections import Counter
from contextlib import suppress

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from corral.core.board import commands as c
from corral.core.errors import Refused
from corral.core.ids import SessionId
from corral.core.log import events as e
from corral.core.log.state import Session
from corral.core.session import rules as session_rules
from corral.core.session.slots import Limits, startable
from corral.core.session.verdict import Judgement, Verdict
from tests.core.memory_board import TTL_S
from tests.core.session.session_board import (
    SessionBoard,
)


class Fleet(RuleBasedStateMachine):
    """The witness, agents and people at random, against what must hold at every event."""

    limits = Limits(3, 1, {"a": 1})
    pools = {"one": "a"}  # noqa: RUF012 - never changed

    def __init__(self) -> None:
        super().__init__()
        self.board = SessionBoard()
        self.board.convoy()
        self.running: dict[SessionId, Session] = {}  # what the machine would have as processes

    @rule(urgent=st.booleans(), engine=st.sampled_from(["", "one"]))
    def add(self, urgent: bool, engine: str) -> None:
        if len(self.board.state.tasks) < 6:
            self.board.do(c.AddTask(title="T", urgent=urgent, engine=engine))

    @rule()
    def plan(self) -> None:
        board = self.board
        for task in list(startable(board.state, self.limits, self.pools, board.now, "witness")):
            started = board.start(task.id, self.limits, self.pools.get(task.engine, ""))[-1]
            assert isinstance(started, e.SessionStarted)
            self.running[started.session] = board.session(started.session)

    @rule(data=st.data(), verdict=st.sampled_from(Verdict))
    def over(self, data: st.DataObject, verdict: Verdict) -> None:
        if self.running:
            name = data.draw(st.sampled_from(sorted(self.running)))
            before = {task.id: task for task in self.board.state.tasks.values()}
            mine = self.running.pop(name)
            claim = before[mine.task].claim
            held = claim is not None and claim.token == mine.token
            ended, *moved = self.board.end(Judgement(verdict), name)
            assert ended.type == "session.ended"
            assert bool(moved) == held
            for task in before.values():
                assert task.id == mine.task or self.board.get(task.id) == task

    @rule(data=st.data(), move=st.sampled_from([c.HandOffTask, c.BlockTask, c.FailTask]))
    def agent(self, data: st.DataObject, move: type[c.Command]) -> None:
        """An agent says something about its own task."""
        if self.running:
            mine = self.running[data.draw(st.sampled_from(sorted(self.running)))]
            self.ask(move(**{"task": mine.task, "token": mine.token}), mine.id)

    @rule(
        data=st.data(),
        move=st.sampled_from([c.ClaimTask, c.RetryTask, c.UnblockTask, c.CancelTask]),
    )
    def person(self, data: st.DataObject, move: type[c.Command]) -> None:
        if self.board.state.tasks:
            task = data.draw(st.sampled_from(sorted(self.board.state.tasks)))
            self.ask(move(**{"task": task}), "ana")

    @rule(seconds=st.sampled_from([1, 30, TTL_S]), renewed=st.booleans())
    def time_passes(self, seconds: int, renewed: bool) -> None:
        self.board.wait(seconds)
        if renewed:
            live = [session.id for session in self.board.state.sessions.values() if session.live]
            board = self.board
            board.record(session_rules.renew(board.state, live, TTL_S, board.now))

    def ask(self, command: c.Command, actor: str) -> None:
        with suppress(Refused):
            self.board.do(command, actor)

    @invariant()
    def what_runs_is_known(self) -> None:
        live = {session.id for session in self.board.state.sessions.values() if session.live}
        assert live == set(self.running)

    @invariant()
    def never_more_than_allowed(self) -> None:
        assert len(self.running) <= self.limits.total
        assert Counter(session.pool for session in self.running.values())["a"] <= 1

    @invariant()
    def one_session_at_a_time_works_on_a_task(self) -> None:
        tasks = Counter(session.task for session in self.running.values())
        assert all(number == 1 for number in tasks.values())


TestFleet = Fleet.TestCase
TestFleet.settings = settings(max_examples=200, stateful_step_count=25, deadline=None)
