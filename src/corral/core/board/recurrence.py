"""Recurring tasks: every n beats, or at the dates of a cron line.

A date is a moment (milliseconds, UTC): the beginning of a beat or of a minute. It is used at most
once, and never while the task is open, because everything is decided from `covered_at` and the
state inside the log's transaction. A run covers all dates that pass while the task is open: nothing
piles up. `missed` says what to do about dates that passed while the task was finished and no
witness ran: `once` runs the newest of them, `skip` waits for the next.

Beats are counted from 1970, and the n of `every` from the beat in which the task was added; the
first run is immediate. A task with a cron line waits on the board for its first date.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from corral.core.errors import BadInput
from corral.core.log import events as e
from corral.core.log.state import State, Task, TaskState
from corral.core.text import TITLE, line, number, printable

if TYPE_CHECKING:
    from corral.core.board.commands import AddTask
    from corral.core.board.cron import Cron

ONCE, SKIP = "once", "skip"
_MOST_BEATS = 10_000
_FINISHED = (TaskState.DONE, TaskState.FAILED)


def recurs(task: Task) -> bool:
    return bool(task.every or task.cron)


def asked(command: "AddTask") -> dict[str, Any]:
    """Return the checked schedule of a new task, as fields of its event."""
    every = number(command.every, "the number of beats", 0, _MOST_BEATS)
    cron = " ".join(line(command.cron, "the cron line", TITLE, empty=True).split())
    if every and cron:
        raise BadInput("a task recurs by --every or by --cron, not by both")
    if command.missed not in ("", ONCE, SKIP):
        raise BadInput(f"--missed is {printable(command.missed)!r}: use {ONCE} or {SKIP}")
    if not every and not cron:
        if command.missed:
            raise BadInput("--missed is only for recurring tasks: add --every or --cron")
        return {}
    if command.parent:
        said = "a task below another one cannot recur: the budget is for one run"
        raise BadInput(said, "leave out --parent")
    if cron:
        _parsed(cron)
    return {"every": every, "cron": cron, "missed": command.missed or ONCE}


def first(added: e.TaskAdded, now: int) -> list[e.Event]:
    """Return the event that makes a new task wait for the first date of its cron line, if any."""
    date = _parsed(added.cron).after(now) if added.cron else None
    return [] if date is None else [e.TaskRecurred(task=added.task, date=date)]


def due(state: State, now: int, beat_s: int) -> list[tuple[Task, int]]:
    """Return the tasks to put on the board, each with the date that the run is for."""
    return [
        (task, date)
        for task in _recurring(state)
        if (date := _due(task, now, beat_s * 1000)) is not None
    ]


def decide(state: State, now: int, beat_s: int) -> Sequence[e.Event]:
    return [e.TaskRecurred(task=task.id, date=date) for task, date in due(state, now, beat_s)]


def next_at(state: State, now: int, beat_s: int) -> int | None:
    """Return when `due` will next return something, if nothing else happens before."""
    beat = beat_s * 1000
    times = (_next(task, now, beat) for task in _recurring(state))
    return min((max(now, at) for at in times if at is not None), default=None)


def starts_over(state: State, task: Task) -> bool:
    """Say whether the next session is the first for a new date: it starts from the trunk, not from
    what the previous run left on the branch."""
    last = state.sessions.get(task.session)
    return recurs(task) and last is not None and last.started_at < task.covered_at


def outlook(task: Task, now: int) -> str:
    """Say when a finished task recurs. The length of a beat is not known here."""
    if not task.cron:
        return f"it recurs every {'beat' if task.every == 1 else f'{task.every} beats'}"
    from corral.core.board.cron import shown

    since = _covered(task) if task.missed == ONCE else max(_covered(task), now)
    date = _parsed(task.cron).after(since)
    if date is None:
        return "it has no further date"
    if date <= now:
        return f"it has been due since {shown(date)}: the witness will put it on the board"
    return f"it recurs at {shown(date)}"


def _recurring(state: State) -> Iterator[Task]:
    return (task for task in state.tasks.values() if task.every or task.cron)


def _due(task: Task, now: int, beat: int) -> int | None:
    late = max(beat, 60_000)  # a date that was not used for this long counts as missed
    if task.state in _FINISHED:
        date = _last(task, now, beat)
        if date is None or date <= _covered(task):
            return None
        return None if task.missed == SKIP and now - date >= late else date
    if _waits_to_skip(task) and now - task.covered_at >= late:
        return _first(task, now, beat)
    return None


def _next(task: Task, now: int, beat: int) -> int | None:
    if task.state in _FINISHED:
        if _due(task, now, beat) is not None:
            return now
        return _first(task, max(_covered(task), now), beat)
    return task.covered_at + max(beat, 60_000) if _waits_to_skip(task) else None


def _waits_to_skip(task: Task) -> bool:
    """Say whether a task was never started and must not be started late."""
    never = task.state == TaskState.TODO and not task.attempts
    return never and bool(task.cron) and task.missed == SKIP


def _covered(task: Task) -> int:
    return max(task.covered_at, task.added_at)


def _last(task: Task, now: int, beat: int) -> int | None:
    """Return the task's last date up to now."""
    if task.cron:
        return _parsed(task.cron).until(now)
    begin = task.added_at // beat
    turns = (now // beat - begin) // task.every
    return (begin + turns * task.every) * beat


def _first(task: Task, after: int, beat: int) -> int | None:
    """Return the task's first date later than `after`."""
    if task.cron:
        return _parsed(task.cron).after(after)
    begin = task.added_at // beat
    turns = (after // beat - begin) // task.every + 1
    return (begin + turns * task.every) * beat


def _parsed(cron: str) -> "Cron":
    from corral.core.board.cron import parse  # few tasks need it, and commands should start fast

    return parse(cron)
