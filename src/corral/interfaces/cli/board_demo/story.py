"""What happens to the claimers while they work, told from the log as it grows.

A claimer is struck while it works on a hard task. Before that the demo comments on the task: when
the comment is granted, the claimer has let go of the log's lock, which it must not take along into
a stop.
"""

import time

from corral.core.board import commands as c
from corral.core.board.claims import column
from corral.core.errors import Failed
from corral.core.ids import TaskId
from corral.core.log import events as e
from corral.core.log.codec import Record, decode, event_of
from corral.core.show.views import COLUMNS
from corral.interfaces.cli.board_demo.board import ACTOR, Plan
from corral.interfaces.cli.board_demo.claimer import REFUSED
from corral.interfaces.cli.board_demo.crew import Crew
from corral.interfaces.cli.board_demo.screen import Progress, Screen
from corral.store.port import Store, perform

_BEAT_S = 0.1
_PATIENCE_S = 30


class Story:
    """Begins after the event `begin`, the last one before the crew was started."""

    def __init__(self, store: Store, crew: Crew, plan: Plan, screen: Screen, begin: int) -> None:
        self._store = store
        self._crew = crew
        self._plan = plan
        self._screen = screen
        self._seen = self._begin = begin
        self._began = self._heard = time.monotonic()
        self._holders: dict[TaskId, str] = {}  # of the hard tasks, before they were struck
        self._lapsed: dict[TaskId, str] = {}

    @property
    def elapsed_s(self) -> float:
        return time.monotonic() - self._began

    def tell(self) -> None:
        """Follow the log until every claimer has ended."""
        alive = True
        while alive:
            alive = self._crew.alive() > 0
            for stored in self._store.read(self._seen):
                self._seen, self._heard = stored.seq, time.monotonic()
                self._hear(decode(stored.line))
            self._screen.show(self._progress())
            if time.monotonic() > self._heard + _PATIENCE_S:
                raise Failed(f"the claimers have not done anything for {_PATIENCE_S} s")
            time.sleep(_BEAT_S)

    def _hear(self, record: Record) -> None:
        match event_of(record):
            case e.TaskClaimed(task=task, holder=holder):
                if task in self._lapsed:
                    self._taken_over(task, holder, self._lapsed.pop(task))
                elif task in self._plan.hard and task not in self._holders:
                    self._holders[task] = holder
                    self._strike(task, holder)
            case e.TaskLapsed(task=task, holder=holder):
                self._lapsed[task] = holder
            case e.TaskCommented(text=text) if text.startswith(REFUSED):
                said = text.removeprefix(REFUSED)
                self._screen.note("refused", f"{record.actor} came late: {said}")

    def _strike(self, task: TaskId, holder: str) -> None:
        stops = task == self._plan.stopped
        what, means = ("stopped", "SIGSTOP") if stops else ("killed", "kill -9")
        comment = c.CommentTask(task=task, text=f"{holder} is {what} here ({means})")
        perform(self._store, comment, ACTOR, lambda state, stored: None)
        strike = self._crew.stop if stops else self._crew.kill
        strike(holder)
        self._screen.note(what, f"{holder}, in the middle of {task} ({means})")

    def _taken_over(self, task: TaskId, holder: str, before: str) -> None:
        self._screen.note("takeover", f"{holder} has {task}: the claim of {before} ran out")
        if task == self._plan.stopped and before == self._holders[task]:
            self._crew.wake(before, task)
            self._screen.note("woken", f"{before}, which submits {task} as if nothing had happened")

    def _progress(self) -> Progress:
        state = self._store.state()
        board = dict.fromkeys(COLUMNS, 0)
        for task in state.tasks.values():
            board[column(state, task)] += 1
        events = state.seq - self._begin
        return Progress(board, self._crew.alive(), state.seq, events / max(0.01, self.elapsed_s))
