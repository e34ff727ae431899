"""The progress of a run: a tree of tasks on a terminal, otherwise one line for each step."""

import os
import sys
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from typing import Any

from corral.core.engine.money import total
from corral.core.ids import ConvoyId, TaskId
from corral.core.log.state import State, Task, TaskState
from corral.core.refs import trunk_branch
from corral.core.show.outlook import Lot, Outlook
from corral.core.text import counted
from corral.core.text import shown as safe
from corral.interfaces.cli.output import STATE_STYLE, columns, cut, paint, span, width

_BADGES = {
    TaskState.TODO: "·",
    TaskState.DOING: "▶",
    TaskState.BLOCKED: "!",
    TaskState.REVIEW: "⧗",
    TaskState.DONE: "✔",
    TaskState.FAILED: "✘",
    TaskState.CANCELLED: "-",
}
_STUCK = {
    Lot.FAILED: "failed or cannot start",
    Lot.PERSON: "waiting for a person",
    Lot.MONEY: "over budget",
}
_NOTES = 5
_LONGEST = 200  # characters of a sentence; other commands show the rest
_DEEPEST = 4
_TITLE = 40
_NARROWEST_TITLE = 16
_TELLING = [TaskState.FAILED, TaskState.BLOCKED, TaskState.DOING, TaskState.REVIEW]
_TELLING += [TaskState.TODO, TaskState.DONE]

Span = tuple[str, str]  # a text and its style
Line = Sequence[Span]


class Progress:
    """Redraws itself in place: a line for each task, then sessions, checks, cost and what is left.

    It never takes more lines or columns than the terminal has, because that would make it scroll.
    """

    def __init__(self, convoy: ConvoyId) -> None:
        self._convoy = convoy
        self._drawn: list[str] = []
        self._notes: deque[str] = deque(maxlen=_NOTES)

    def note(self, text: str) -> None:
        """Show a line among the newest ones when the screen is drawn next."""
        self._notes.append(safe(text))

    def draw(self, state: State, found: Outlook, now: int) -> None:
        wide, high = columns() - 1, _lines()
        lines = [_fitted(line, wide) for line in self._lines(state, found, now, wide, high)]
        if lines == self._drawn:
            return
        up = f"\x1b[{len(self._drawn)}A\r" if self._drawn else ""
        # One write, each line over the old one, so that nothing is ever blank.
        sys.stdout.write(up + "".join(f"{line}\x1b[K\n" for line in lines) + "\x1b[J")
        sys.stdout.flush()
        self._drawn = lines

    def _lines(
        self, state: State, found: Outlook, now: int, wide: int, high: int
    ) -> Iterator[Line]:
        tasks = _tree([task for task in state.tasks.values() if task.convoy == self._convoy])
        done = sum(task.state is TaskState.DONE for task, _ in tasks)
        yield [(f"{state.convoys[self._convoy].title}: {done} of {len(tasks)} landed", "bold")]
        shown = _most_telling(tasks, max(1, high - _NOTES - 4))
        for task, depth in shown:
            yield _row(state, task, depth, now, wide)
        if len(shown) < len(tasks):
            yield [(f"  … and {len(tasks) - len(shown)} more", "dim")]
        yield [(_figures(state, self._convoy, found), "")]
        yield from ([(note, "dim")] for note in self._notes)


def _lines() -> int:
    try:
        return os.get_terminal_size(sys.stdout.fileno()).lines or 24
    except OSError:
        return 24


def _fitted(line: Line, most: int) -> str:
    """Paint as many spans of a line as fit."""
    shown = ""
    for text, style in line:
        short = cut(text, most)
        most -= width(short)
        shown += paint(short, style) if style and short else short
    return shown


def _tree(tasks: list[Task]) -> list[tuple[Task, int]]:
    """Put each task below the last one that it needs, and return it with its depth."""
    known = {task.id for task in tasks}
    below: dict[TaskId, list[Task]] = {}
    for task in tasks:
        above = [need for need in (*task.needs, task.parent) if need in known]
        below.setdefault(above[-1] if above else TaskId(""), []).append(task)
    found: list[tuple[Task, int]] = []
    ahead = [(task, 0) for task in reversed(below.get(TaskId(""), []))]
    while ahead:
        task, depth = ahead.pop()
        found.append((task, min(depth, _DEEPEST)))
        ahead += [(child, depth + 1) for child in reversed(below.get(task.id, []))]
    return found


def _most_telling(tasks: list[tuple[Task, int]], most: int) -> list[tuple[Task, int]]:
    """Return as many tasks as fit on a screen: those in trouble or in progress come first."""
    if len(tasks) <= most:
        return tasks
    rank = {state: place for place, state in enumerate(_TELLING)}
    chosen = sorted(tasks, key=lambda one: rank.get(one[0].state, len(rank)))[:most]
    kept = {task.id for task, _ in chosen}
    return [one for one in tasks if one[0].id in kept]


def _row(state: State, task: Task, depth: int, now: int, wide: int) -> Line:
    indent = "  " * (depth + 1)
    name = f"{task.id:<8} "
    room = max(_NARROWEST_TITLE, min(_TITLE, wide // 2 - len(indent) - len(name)))
    title = cut(safe(task.title), room)
    badge = _BADGES[task.state]
    padding = " " * (room - width(title) + 1)
    doing = safe(_doing(state, task, now))
    style = "dim" if task.state in (TaskState.DONE, TaskState.TODO) else ""
    return [
        (f"{indent}{badge} ", STATE_STYLE[task.state]),
        (f"{name}{title}{padding if doing else ''}", style),
        (doing, "dim"),
    ]


def _doing(state: State, task: Task, now: int) -> str:
    session = state.sessions.get(task.session)
    if session is not None and session.live:
        time = span(now - session.started_at)
        again = f" again: {session.relaunched[-1]}" if session.relaunched else ""
        return f"{session.id} {time}{again} {_without_time(session.progress)}".rstrip()
    if task.state is TaskState.REVIEW:
        runs = [c.run for c in state.checks.values() if c.live and task.id in c.members]
        return f"checked in {' '.join(runs)}" if runs else "in the queue"
    if task.state is TaskState.TODO and task.needs:
        waits = [n for n in task.needs if state.tasks[n].state is not TaskState.DONE]
        return f"after {' '.join(waits)}" if waits else task.reason
    return "" if task.state is TaskState.DONE else task.reason


def _without_time(progress: str) -> str:
    """Drop the time with which an agent begins its report: it is recent anyway."""
    time, dash, text = progress.partition(" - ")
    return text if dash and time[:1].isdigit() else progress


def _figures(state: State, convoy: ConvoyId, found: Outlook) -> str:
    live = sum(session.live for session in state.sessions.values())
    checks = sum(check.live for check in state.checks.values())
    queued = sum(change.convoy == convoy for change in state.changes.values())
    bill = total(e for e in state.ledger.values() if state.tasks[e.task].convoy == convoy)
    cost = f"${bill.nano_usd / 1e9:.2f}{'' if bill.usd is not None else '+'}"
    parts = [
        f"{found.count(Lot.WORKING)} left",
        f"{live} running",
        f"{queued} queued",
        counted(checks, "check"),
        *([cost] if bill.tokens else []),
        *(f"{number} {words}" for lot, words in _STUCK.items() if (number := found.count(lot))),
    ]
    return " · ".join(parts)


# How the work of a convoy reached its base branch; the name of the trunk follows.
FINISHED = {
    "left": "is on the branch",
    "merged": "was merged from the branch",
    "fast_forwarded": "was fast-forwarded from the branch",
    "asked": "is in a pull request from the branch",
}
_SENTENCES = {
    "session.started": "{session} starts on {task} with {profile}",
    "session.ended": "{session} ended: {verdict}: {detail}",
    "session.limited": "{session} hit a limit ({trouble})",
    "session.asked": "{session} asks: {text}",
    "session.reacted": "{session}: {action} ({cause})",
    "task.parked": "{task} waits without using up an attempt: {reason}",
    "task.delayed": "{task} is retried: {reason}",
    "task.failed": "{task} failed: {reason}",
    "task.blocked": "{task} is blocked: {reason}",
    "task.landed": "{task} landed as {commit:.12}",
    "check.started": "{run} checks {members} on {tip:.12}",
    "check.ended": "{run} is {result}: {detail}",
    "change.returned": "{task} came back from the queue: {why}, {detail}",
    "mayor.asked": "{mayor} asks {profile}: {cause} {task}",
    "mayor.answered": "{mayor} answered: {trouble}",
    "plan.proposed": "{mayor} proposes a plan (tasks: {tasks})",
    "plan.approved": "the plan of {mayor} is on the board: {convoy}",
    "convoy.finished": "{convoy} is complete, and its work {how} {trunk}: {note}",
    "alert.raised": "{subject}: {text}",
    "settings.changed": "the {role} uses the changed settings",
}


def sentence(kind: str, data: dict[str, Any]) -> str:
    """Describe an event in one line; empty for events that people need not see."""
    known = {name: " ".join(v) if isinstance(v, list) else v for name, v in data.items()}
    if kind == "convoy.finished":
        known |= {"how": FINISHED[data["how"]], "trunk": trunk_branch(data["convoy"])}
    said = " ".join(_SENTENCES.get(kind, "").format_map(defaultdict(str, known)).split())
    return cut(safe(said.partition("; its last words:")[0].rstrip(": ")), _LONGEST)
