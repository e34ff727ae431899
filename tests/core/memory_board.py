"""A board in memory for tests of the core: the real rules and the real fold, with a movable clock.

It also knows how to bring a task into any state by commands alone, as a user would.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec
import pytest

from corral.core.board import commands as c
from corral.core.board.rules import decide
from corral.core.errors import CorralError
from corral.core.ids import TaskId, Token
from corral.core.log import events as e
from corral.core.log.codec import encode
from corral.core.log.fold import apply
from corral.core.log.state import State, Task, TaskState
from corral.core.session import rules as session_rules
from corral.core.session.slots import Limits

Ev = TypeVar("Ev", bound=e.Event)

START = 1_700_000_000_000
TTL_S = 60


class Board:
    def __init__(self) -> None:
        self.state = State()
        self.now = START
        self.log: list[bytes] = []

    def do(self, command: c.Command, actor: str = "ana") -> Sequence[e.Event]:
        """Decide and fold; the state is untouched if the command is refused."""
        return self.record(decide(self.state, command, actor, self.now), actor)

    def record(self, events: Sequence[e.Event], actor: str = "witness") -> Sequence[e.Event]:
        """Fold what was decided elsewhere: by the rules of sessions."""
        for event in events:
            self.add(event, actor)
        return events

    def one(self, kind: type[Ev], command: c.Command, actor: str = "ana") -> Ev:
        """Do a command whose last event is of this kind, and return it."""
        event = self.do(command, actor)[-1]
        assert isinstance(event, kind)
        return event

    def add(self, event: e.Event, actor: str = "ana") -> None:
        seq = self.state.seq + 1
        self.log.append(encode(seq, self.now, actor, event))
        apply(self.state, event, seq, self.now)

    def refusal(self, command: c.Command, actor: str = "ana") -> CorralError:
        """Return the error of a command that must fail and must leave no trace."""
        before = encoded(self.state)
        with pytest.raises(CorralError) as caught:
            self.do(command, actor)
        assert encoded(self.state) == before
        return caught.value

    def wait(self, seconds: float) -> None:
        self.now += int(seconds * 1000)

    def convoy(self, title: str = "Auth fix") -> str:
        return self.one(e.ConvoyCreated, c.CreateConvoy(title=title)).convoy

    def task(self, *needs: str, title: str = "Fix login", assignee: str = "") -> TaskId:
        """Add a task, and a convoy if there is none yet."""
        if not self.state.convoys:
            self.convoy()
        wanted = tuple(TaskId(need) for need in needs)
        command = c.AddTask(title=title, needs=wanted, assignee=assignee)
        return self.one(e.TaskAdded, command).task

    def claim(self, task: TaskId | None, actor: str = "ana") -> Token:
        command = c.ClaimTask(task=task, ttl_s=TTL_S)
        return self.one(e.TaskClaimed, command, actor).token

    def land(self, task: TaskId) -> None:
        token = self.claim(task)
        self.do(c.SubmitTask(task=task, token=token))
        self.do(c.LandTask(task=task))

    def get(self, task: str) -> Task:
        return self.state.tasks[TaskId(task)]

    def bring(self, task: TaskId, to: TaskState) -> Token:
        """Bring a new task into a state; return the token of its claim, if it has one."""
        token = Token("")
        if to in (TaskState.DOING, TaskState.REVIEW, TaskState.DONE, TaskState.FAILED):
            token = self.claim(task)
        for command in _WAYS[to](task, token):
            self.do(command)
        assert self.get(task).state == to
        return token if to is TaskState.DOING else Token("")


_WAYS: dict[TaskState, Callable[[TaskId, Token], list[c.Command]]] = {
    TaskState.TODO: lambda task, token: [],
    TaskState.DOING: lambda task, token: [],
    TaskState.BLOCKED: lambda task, token: [c.BlockTask(task=task)],
    TaskState.REVIEW: lambda task, token: [c.SubmitTask(task=task, token=token)],
    TaskState.DONE: lambda task, token: [
        c.SubmitTask(task=task, token=token),
        c.LandTask(task=task),
    ],
    TaskState.FAILED: lambda task, token: [c.FailTask(task=task, token=token)],
    TaskState.CANCELLED: lambda task, token: [c.CancelTask(task=task)],
}


def started(state: State, task: TaskId, now: int, takes: str = "") -> Sequence[e.Event]:
    """Return what gives a task to a new session, as the witness does."""
    return session_rules.start(
        state,
        task,
        profile="default",
        pool="",
        base="0" * 40,
        limits=Limits(100),
        ttl_s=TTL_S,
        wall_s=600,
        now=now,
        takes=takes,
    )


def encoded(state: State) -> bytes:
    return msgspec.msgpack.encode(state)
