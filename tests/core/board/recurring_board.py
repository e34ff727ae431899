"""A board with one recurring task."""

from datetime import UTC, datetime
from typing import Any

from corral.core.board import commands as c
from corral.core.board.recurrence import decide
from corral.core.ids import TaskId
from corral.core.log import events as e
from corral.core.log.codec import decode, event_of
from corral.core.log.fold import apply
from corral.core.log.state import State, Task, TaskState
from corral.core.show.why import explain
from tests.core.memory_board import Board

BEAT_S = 900
BEAT = BEAT_S * 1000
TASK = TaskId("AF-1")
OPEN = (TaskState.TODO, TaskState.DOING, TaskState.BLOCKED, TaskState.REVIEW)


def ms(*when: int) -> int:
    return int(datetime(*when, tzinfo=UTC).timestamp()) * 1000  # type: ignore[arg-type,misc]  # a date


class Recurring(Board):
    """A board with one task that comes back, at a moment that is easy to count from."""

    def __init__(self, now: int = ms(2026, 3, 2, 12, 5), **schedule: Any) -> None:
        super().__init__()
        self.now = now
        self.convoy("Auth fix")
        self.do(c.AddTask(title="Audit", **schedule))

    @property
    def task(self) -> Task:  # type: ignore[override]  # here there is only one
        return self.get(TASK)

    def tend(self) -> list[int]:
        """Do what the witness does; return the dates that it used."""
        events = decide(self.state, self.now, BEAT_S)
        for event in events:
            self.add(event, "witness")
        return [event.date for event in events if isinstance(event, e.TaskRecurred)]

    def until(self, *when: int) -> list[int]:
        self.now = ms(*when)
        return self.tend()

    def restart(self) -> None:
        """Forget everything but the log."""
        self.state = State()
        for line in self.log:
            record = decode(line)
            apply(self.state, event_of(record), record.seq, record.at)

    def why(self) -> str:
        found = explain(self.state, self.task, self.now)
        return " / ".join([found.summary, *(obstacle.text for obstacle in found.obstacles)])
