"""Each task as a trace: spans of time from the plan to the landing.

    task AF-1                             from being planned (or retried) to its end
      waiting                             until it was claimed, each time
      session AF-1.1   or  claim ana      while it was worked on
      queue                               from its submission until it landed or came back
        check R42
        landing R42

Traces are made from the log alone, and so are their ids: one that is sent twice is the same trace.
"""

from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from corral.core.engine.bill import NANO
from corral.core.ids import TaskId
from corral.core.log import events as e
from corral.core.queue import events as q

Value = str | int | float | bool
ENDS = frozenset({e.TaskLanded.type, e.TaskCancelled.type, e.TaskFailed.type})


class Span(Struct, frozen=True):
    id: int
    name: str
    began_at: int
    ended_at: int
    parent: int = 0  # 0: it is the root
    good: bool = True
    about: dict[str, Value] = {}


class Trace(Struct, frozen=True):
    """One round of a task: until it landed, failed or was cancelled."""

    id: int
    task: TaskId
    spans: tuple[Span, ...]


class Happened(NamedTuple):
    """An event with its number and time."""

    seq: int
    at: int
    event: e.Event


def traces(happened: Iterable[Happened], log: str, after: int) -> Iterator[Trace]:
    """Yield the traces that end after event `after`; `happened` must begin before they do."""
    rounds = _Rounds(log)
    for one in happened:
        found = rounds.feed(one)
        if found is not None and one.seq > after:
            yield found


class _Round:
    """One round of a task so far: the spans that have ended, and the open ones by kind."""

    def __init__(self, log: str, task: TaskId, seq: int, at: int, about: dict[str, Value]) -> None:
        self.task = task
        self.id = int.from_bytes(sha256(f"{log}/{task}/{seq}".encode()).digest()[:16])
        self._root = Span(self._number(""), f"task {task}", at, 0, about=about)
        self._open: dict[str, Span] = {}
        self._over: list[Span] = []
        self.begin("waiting", "waiting", at)

    def begin(self, kind: str, name: str, at: int, *, inside: str = "", **about: Value) -> None:
        self.end(kind, at)
        # Its name and when it began tell a span from all others of its task.
        number, parent = self._number(f"{name}/{at}"), self._open.get(inside, self._root).id
        self._open[kind] = Span(number, name, at, 0, parent, about=about)

    def note(self, kind: str, **about: Value) -> None:
        if kind in self._open:
            self._open[kind].about.update(about)

    def drop(self, kind: str) -> None:
        self._open.pop(kind, None)

    def end(self, kind: str, at: int, *, good: bool = True, **about: Value) -> None:
        """End the open span of this kind, if there is one."""
        found = self._open.pop(kind, None)
        if found is not None:
            told = {**found.about, **about}
            self._over.append(replace(found, ended_at=at, good=good, about=told))

    def whole(self, at: int, result: str, **about: Value) -> Trace:
        for kind in list(self._open):
            self.end(kind, at)
        told = {**self._root.about, "corral.result": result, **about}
        root = replace(self._root, ended_at=at, good=result == "landed", about=told)
        return Trace(self.id, self.task, (root, *self._over))

    def _number(self, key: str) -> int:
        return int.from_bytes(sha256(f"{self.id}/{key}".encode()).digest()[:8]) or 1


class _Rounds:
    def __init__(self, log: str) -> None:
        self._log = log
        self._rounds: dict[TaskId, _Round] = {}
        self._titles: dict[TaskId, dict[str, Value]] = {}
        self._members: dict[str, tuple[TaskId, ...]] = {}  # by check run

    def feed(self, one: Happened) -> Trace | None:
        """Apply an event; return the trace that it ends, if any."""
        event = one.event
        handler = _HANDLERS.get(type(event))
        if handler is not None:
            handler(self, one, event)
        if not isinstance(event, e.TaskLanded | e.TaskCancelled | e.TaskFailed):
            return None
        found = self._rounds.pop(event.task, None)
        if found is None:
            return None
        told = {"corral.commit": event.commit} if isinstance(event, e.TaskLanded) else {}
        if isinstance(event, e.TaskFailed | e.TaskCancelled) and event.reason:
            told["corral.reason"] = event.reason
        return found.whole(one.at, event.type.partition(".")[2], **told)

    def added(self, one: Happened, event: e.TaskAdded) -> None:
        self._titles[event.task] = {
            "corral.task": event.task,
            "corral.title": event.title,
            "corral.convoy": event.convoy,
        }
        self.begun(one, event)

    def begun(self, one: Happened, event: Any) -> None:
        """Begin a round, unless one is open: a retry from the queue belongs to it."""
        if event.task in self._rounds:
            self.waits(one, event)
        elif event.task in self._titles:
            about = self._titles[event.task]
            self._rounds[event.task] = _Round(self._log, event.task, one.seq, one.at, about)

    def claimed(self, one: Happened, event: e.TaskClaimed) -> None:
        for found in self._of(event.task):
            found.end("waiting", one.at)
            found.begin("claim", f"claim {event.holder}", one.at)

    def waits(self, one: Happened, event: Any) -> None:
        """Record that the task is back on the board, or cannot continue."""
        for found in self._of(event.task):
            found.end("claim", one.at, good=False)
            found.end("queue", one.at, good=False)
            found.begin("waiting", "waiting", one.at)

    def started(self, one: Happened, event: e.SessionStarted) -> None:
        for found in self._of(event.task):
            found.drop("claim")  # it is the session's own
            name, profile = f"session {event.session}", event.profile
            found.begin("session", name, one.at, **{"corral.engine": profile})

    def engaged(self, one: Happened, event: e.SessionEngaged) -> None:
        for found in self._of_session(event.session):
            found.note("session", **{"gen_ai.request.model": event.model})

    def spent(self, one: Happened, event: e.SessionSpent) -> None:
        told: dict[str, Value] = {
            "gen_ai.usage.input_tokens": event.fresh + event.cached,
            "gen_ai.usage.output_tokens": event.output,
            "corral.turns": event.turns,
        }
        if not event.unpriced:
            told["corral.cost_usd"] = event.nano_usd / NANO
        for found in self._of_session(event.session):
            found.note("session", **told)

    def ended(self, one: Happened, event: e.SessionEnded) -> None:
        told = {"corral.verdict": event.verdict}
        told |= {"corral.detail": event.detail} if event.detail else {}
        for found in self._of_session(event.session):
            found.end("session", one.at, good=event.verdict == "proved", **told)

    def submitted(self, one: Happened, event: e.TaskSubmitted) -> None:
        for found in self._of(event.task):
            found.end("claim", one.at)
            found.end("waiting", one.at)
            found.begin("queue", "queue", one.at, **{"corral.commit": event.commit})

    def check_started(self, one: Happened, event: q.CheckStarted) -> None:
        self._members[event.run] = event.members
        about: dict[str, Value] = {"corral.stack": len(event.members), "corral.check": event.kind}
        for found in self._of(*event.members):
            found.begin(event.run, f"check {event.run}", one.at, inside="queue", **about)

    def check_ended(self, one: Happened, event: q.CheckEnded) -> None:
        about: dict[str, Value] = {"corral.result": event.result}
        if event.command:
            about["corral.command"] = event.command
        for found in self._of(*self._members.pop(event.run, ())):
            found.end(event.run, one.at, good=event.result == "green", **about)

    def landing_begun(self, one: Happened, event: q.LandingBegun) -> None:
        self._members[f"landing {event.run}"] = event.tasks
        for found in self._of(*event.tasks):
            found.begin("landing", f"landing {event.run}", one.at, inside="queue")

    def landing_ended(self, one: Happened, event: q.LandingEnded) -> None:
        for found in self._of(*self._members.pop(f"landing {event.run}", ())):
            found.end("landing", one.at, good=event.landed)

    def _of(self, *tasks: TaskId) -> list[_Round]:
        return [self._rounds[task] for task in tasks if task in self._rounds]

    def _of_session(self, session: str) -> list[_Round]:
        return self._of(TaskId(session.rpartition(".")[0]))


_HANDLERS: dict[type[e.Event], Callable[[_Rounds, Happened, Any], None]] = {
    e.TaskAdded: _Rounds.added,
    e.TaskRetried: _Rounds.begun,
    e.TaskRecurred: _Rounds.begun,
    e.TaskClaimed: _Rounds.claimed,
    e.TaskLapsed: _Rounds.waits,
    e.TaskHandedOff: _Rounds.waits,
    e.TaskDelayed: _Rounds.waits,
    e.TaskParked: _Rounds.waits,
    e.TaskBlocked: _Rounds.waits,
    q.ChangeReturned: _Rounds.waits,
    e.TaskSubmitted: _Rounds.submitted,
    e.SessionStarted: _Rounds.started,
    e.SessionEngaged: _Rounds.engaged,
    e.SessionSpent: _Rounds.spent,
    e.SessionEnded: _Rounds.ended,
    q.CheckStarted: _Rounds.check_started,
    q.CheckEnded: _Rounds.check_ended,
    q.LandingBegun: _Rounds.landing_begun,
    q.LandingEnded: _Rounds.landing_ended,
}
