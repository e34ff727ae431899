"""What a run shows while it goes on: a tree of tasks on a terminal, else a line for each step."""

import sys
from collections import deque
from collections.abc import Iterator
from typing import Any

from corral.core.ids import ConvoyId
from corral.core.state import State, Task, TaskState
from corral.core.whole import Lot, Outlook
from corral.interfaces.cli.output import STATE_STYLE, columns, cut, paint, span

_BADGES = {
    TaskState.TODO: "·",
    TaskState.DOING: "▶",
    TaskState.BLOCKED: "!",
    TaskState.REVIEW: "⧗",
    TaskState.DONE: "✔",
    TaskState.FAILED: "✘",
    TaskState.CANCELLED: "-",
}
_ROWS = 40
_NOTES = 4


class Progress:
    """Draws over itself: one line for each task, then sessions, checks, cost and what is left."""

    def __init__(self, convoy: ConvoyId) -> None:
        self._convoy = convoy
        self._height = 0
        self._notes: deque[str] = deque(maxlen=_NOTES)

    def note(self, text: str) -> None:
        self._notes.append(text)

    def draw(self, state: State, found: Outlook, now: int) -> None:
        width = columns()
        lines = [cut(line, width) for line in self._lines(state, found, now)]
        up = f"\x1b[{self._height}A" if self._height else ""
        sys.stdout.write(up + "".join(f"\x1b[2K{line}\n" for line in lines) + "\x1b[J")
        sys.stdout.flush()
        self._height = len(lines)

    def _lines(self, state: State, found: Outlook, now: int) -> Iterator[str]:
        tasks = [task for task in state.tasks.values() if task.convoy == self._convoy]
        done = sum(task.state is TaskState.DONE for task in tasks)
        yield paint(f"{state.convoys[self._convoy].title}: {done} of {len(tasks)} landed", "bold")
        shown = _most_telling(tasks)
        for task in shown:
            yield _row(state, task, now)
        if len(shown) < len(tasks):
            yield paint(f"  … and {len(tasks) - len(shown)} more", "dim")
        live = sum(session.live for session in state.sessions.values())
        checks = [check.run for check in state.checks.values() if check.live]
        named = f" ({' '.join(checks)})" if checks else ""
        yield (
            f"{live} sessions, {len(checks)} checks{named},"
            f" {len(state.changes)} in the queue, {found.count(Lot.WORKING)} tasks to go"
        )
        yield from (paint(text, "yellow") for text in self._notes)


def _most_telling(tasks: list[Task]) -> list[Task]:
    """Return as many tasks as fit on a screen: what moves or is in trouble before what rests."""
    if len(tasks) <= _ROWS:
        return tasks
    order = [TaskState.FAILED, TaskState.BLOCKED, TaskState.DOING, TaskState.REVIEW]
    ranked = sorted(tasks, key=lambda t: order.index(t.state) if t.state in order else 9)
    chosen = {task.id for task in ranked[:_ROWS]}
    return [task for task in tasks if task.id in chosen]


def _row(state: State, task: Task, now: int) -> str:
    badge = paint(_BADGES[task.state], STATE_STYLE[task.state])
    return f"  {badge} {task.id:<8} {cut(task.title, 40):<40} {_doing(state, task, now)}".rstrip()


def _doing(state: State, task: Task, now: int) -> str:
    session = state.sessions.get(task.session)
    if task.state is TaskState.DOING and session is not None and session.live:
        time = span(now - session.started_at)
        return f"{session.id} {session.profile} {time} {session.progress}".rstrip()
    if task.state is TaskState.REVIEW:
        runs = [c.run for c in state.checks.values() if c.live and task.id in c.members]
        return f"checked in {' '.join(runs)}" if runs else "in the queue"
    if task.state is TaskState.TODO and task.needs:
        waits = [n for n in task.needs if state.tasks[n].state is not TaskState.DONE]
        return f"after {' '.join(waits)}" if waits else task.reason
    return "" if task.state is TaskState.DONE else task.reason


_SENTENCES = {
    "session.started": "{session} starts on {task} with {profile}",
    "session.ended": "{session} ended: {verdict} {detail}",
    "session.limited": "{session} was limited ({trouble})",
    "session.asked": "{session} asks: {text}",
    "session.reacted": "{session} {action}: {cause}",
    "task.parked": "{task} waits, without using up an attempt: {reason}",
    "task.delayed": "{task} is tried again: {reason}",
    "task.failed": "{task} failed: {reason}",
    "task.blocked": "{task} is blocked: {reason}",
    "task.landed": "{task} landed as {commit:.12}",
    "check.started": "{run} checks {members} on {tip:.12}",
    "check.ended": "{run} is {result} {detail}",
    "change.returned": "{task} came back from the queue: {why}",
    "mayor.asked": "{mayor} asks {profile}: {cause} {task}",
    "mayor.answered": "{mayor} has an answer {trouble}",
    "plan.proposed": "{mayor} proposes a plan of {tasks} tasks",
    "plan.approved": "the plan of {mayor} is on the board: {convoy}",
    "convoy.finished": "{convoy} is finished: {how} {note}",
    "alert.raised": "{subject}: {text}",
}


def sentence(kind: str, data: dict[str, Any]) -> str:
    """Say one event in a line; nothing for those that a person need not see."""
    form = _SENTENCES.get(kind)
    if form is None:
        return ""
    known = {name: " ".join(v) if isinstance(v, list) else v for name, v in data.items()}
    said = form.format_map(_Forgiving(known)).strip()
    return cut(said, 300)


class _Forgiving(dict[str, Any]):
    def __missing__(self, key: str) -> str:
        return ""
