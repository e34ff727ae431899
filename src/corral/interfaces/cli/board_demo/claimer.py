"""One claimer: a process that takes tasks off the board until all of them have landed.

It knows nothing of the other claimers, nor of what the demo does to them: all it has is the log.
"""

import os
import select
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from random import Random

from corral.core.board import commands as c
from corral.core.board.claims import next_offer
from corral.core.errors import NotFound, Refused
from corral.core.ids import TaskId, Token
from corral.core.log import events as e
from corral.core.log.codec import Stored, decode, event_of
from corral.core.log.state import State, Task, TaskState
from corral.store.port import perform
from corral.store.sqlite import SqliteStore
from corral.world.clock import now

TTL_S = 2
REFUSED = "refused: "  # begins the comment of a claimer whose write came too late

Gates = Mapping[TaskId, int]


class Claimer:
    """`gates` are pipes, one for each hard task: who first claims it is busy until that closes."""

    def __init__(self, store: SqliteStore, name: str, gates: Gates, chance: Random) -> None:
        self._store = store
        self._name = name
        self._gates = gates
        self._chance = chance
        self._parent = os.getppid()

    def run(self) -> None:
        while os.getppid() == self._parent:
            state = self._store.state()
            if all(task.state is TaskState.DONE for task in state.tasks.values()):
                return
            if next_offer(state, now(), self._name):
                self._take_one()
            else:
                self._store.wait(state.seq, _until_a_claim_lapses(state))

    def _take_one(self) -> None:
        try:
            task, token = perform(self._store, c.ClaimTask(ttl_s=TTL_S), self._name, taken)
        except NotFound:  # somebody was faster
            return
        try:
            self._work(task, token)
            self._do(c.SubmitTask(task=task.id, token=token))
            self._do(c.LandTask(task=task.id))
        except Refused as refusal:
            self._do(c.CommentTask(task=task.id, text=f"{REFUSED}{refusal.message}"))

    def _work(self, task: Task, token: Token) -> None:
        if task.id in self._gates and task.attempts == 1:
            select.select([self._gates[task.id]], [], [])
            return
        self._be_busy()
        if self._sometimes(0.2):
            self._do(c.RenewTask(task=task.id, token=token, ttl_s=TTL_S))
        if self._sometimes(0.1):
            self._do(c.CommentTask(task=task.id, token=token, text="half of it is done"))
        if self._sometimes(0.2):
            with self._lease(f"file:{task.paths[0]}"):
                self._be_busy()

    @contextmanager
    def _lease(self, resource: str) -> Iterator[None]:
        token = self._acquired(resource)
        try:
            yield
        finally:
            self._do(c.ReleaseLease(resource=resource, token=token))

    def _acquired(self, resource: str) -> Token:
        """Wait for the turn at a resource that others hold for a moment only."""
        command = c.AcquireLease(resource=resource, ttl_s=TTL_S)
        while True:
            seen = self._store.state().seq
            try:
                return perform(self._store, command, self._name, _leased)
            except Refused:
                self._store.wait(seen, TTL_S)

    def _do(self, command: c.Command) -> None:
        perform(self._store, command, self._name, lambda state, stored: None)

    def _be_busy(self) -> None:
        time.sleep(self._chance.uniform(0.005, 0.04))

    def _sometimes(self, share: float) -> bool:
        return self._chance.random() < share


def _until_a_claim_lapses(state: State) -> float:
    """Return the seconds until a task could become ready though nothing is written."""
    first = min((t.claim.expires_at for t in state.tasks.values() if t.claim), default=0)
    return min(max(0.01, (first - now()) / 1000), TTL_S)


def taken(state: State, stored: Sequence[Stored]) -> tuple[Task, Token]:
    """Answer a claim with its task and token."""
    event = event_of(decode(stored[-1].line))
    assert isinstance(event, e.TaskClaimed)
    return state.tasks[event.task], event.token


def _leased(state: State, stored: Sequence[Stored]) -> Token:
    event = event_of(decode(stored[-1].line))
    assert isinstance(event, e.LeaseAcquired)
    return event.token
