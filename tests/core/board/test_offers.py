"""The ordered board offers exactly what a walk over the whole board would."""

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from corral.core.board import commands as c
from corral.core.board.claims import next_offer
from corral.core.board.offers import Ordered, index
from corral.core.errors import CorralError
from corral.core.ids import TaskId
from corral.core.log import events as e
from corral.core.log.state import State
from tests.core.memory_board import Board

ACTORS = ["ana", "bo"]
MOVES = [c.RetryTask, c.CancelTask, c.UnblockTask, c.LandTask]


class Offers(RuleBasedStateMachine):
    """Two boards with the same history: one in order, one that is walked over."""

    @initialize()
    def begin(self) -> None:
        self.board = Board()
        for _ in range(4):
            self.board.task()
        index(self.board.state)

    def do(self, command: c.Command, actor: str = "ana") -> None:
        try:
            self.board.do(command, actor)
        except CorralError:
            return

    @rule(
        needs=st.lists(st.integers(1, 8), max_size=2),
        priority=st.integers(0, 2),
        assignee=st.sampled_from(["", "", *ACTORS]),
    )
    def add(self, needs: list[int], priority: int, assignee: str) -> None:
        wanted = tuple(TaskId(f"AF-{number}") for number in needs)
        self.do(c.AddTask(title="T", needs=wanted, priority=priority, assignee=assignee))

    @rule(actor=st.sampled_from(ACTORS), ttl_s=st.integers(1, 5))
    def claim_next(self, actor: str, ttl_s: int) -> None:
        self.do(c.ClaimTask(ttl_s=ttl_s), actor)

    @rule(number=st.integers(1, 8), kind=st.sampled_from(MOVES))
    def move(self, number: int, kind: type[c.Command]) -> None:
        self.do(kind(**{"task": f"AF-{number}"}))

    @rule(number=st.integers(1, 8), to=st.sampled_from(["", *ACTORS]))
    def hand_off(self, number: int, to: str) -> None:
        self.do(c.HandOffTask(task=TaskId(f"AF-{number}"), to=to, force=True))

    @rule(number=st.integers(1, 8), priority=st.integers(0, 3), drop=st.integers(1, 8))
    def edit(self, number: int, priority: int, drop: int) -> None:
        self.do(c.EditTask(task=TaskId(f"AF-{number}"), priority=priority))
        self.do(c.EditTask(task=TaskId(f"AF-{number}"), drop_needs=(TaskId(f"AF-{drop}"),)))

    @rule(number=st.integers(1, 8), what=st.sampled_from(["submit", "renew", "rest", "land"]))
    def end(self, number: int, what: str) -> None:
        task = self.board.state.tasks.get(TaskId(f"AF-{number}"))
        if task is None or task.claim is None:
            return
        if what == "renew":
            self.do(c.RenewTask(task=task.id, token=task.claim.token, ttl_s=3))
        elif what == "rest":
            until = self.board.now + 2000
            self.board.add(e.TaskDelayed(task=task.id, reason="r", until_at=until))
        else:
            self.do(c.SubmitTask(task=task.id, token=task.claim.token))
            if what == "land":
                self.do(c.LandTask(task=task.id))

    @rule(seconds=st.sampled_from([0.001, 1, 2, 5]))
    def wait(self, seconds: float) -> None:
        self.board.wait(seconds)

    @invariant()
    def both_offer_the_same(self) -> None:
        if not hasattr(self, "board"):
            return
        state = self.board.state
        assert isinstance(state.tasks, Ordered)
        plain: State = msgspec.structs.replace(state, tasks=dict(state.tasks))
        for actor in [*ACTORS, "cy"]:
            expected = next_offer(plain, self.board.now, actor)
            assert next_offer(state, self.board.now, actor) == expected, actor
        assert msgspec.msgpack.encode(state) == msgspec.msgpack.encode(plain)


TestOffers = Offers.TestCase
TestOffers.settings = settings(max_examples=100, stateful_step_count=40, deadline=None)
