"""What went wrong with each task and how Corral absorbed it, from the log alone."""

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from corral.core.engine.fold import RESUME
from corral.core.ids import SessionId, TaskId
from corral.core.log import events as e
from corral.core.log.codec import Record, event_of
from corral.core.queue import events as q
from corral.core.session.rules import WITNESS
from corral.core.session.verdict import Verdict
from corral.core.text import counted
from corral.interfaces.cli.commands.run import ROLE_ENDED

LEFT = "left behind"  # processes that a session had started and did not end
_SHOWN = 110
_SAID: dict[str, str] = {
    Verdict.DIRTY: "it claimed to be done but had not committed ",
    Verdict.OUT_OF_SCOPE: "it changed files outside its scope: ",
    Verdict.LIMITED: "its account hit a rate limit: ",
}


class DemoTrouble(Struct):
    """One thing that went wrong; `absorbed` is empty until the log says how."""

    kind: str  # a verdict, the reason why work came back, or what happened to a role
    subject: str  # the session, the task or the role
    happened: str
    absorbed: str = ""
    look: str = ""
    task: TaskId | None = None


class DemoAccount:
    """Reads the log from the start, event by event."""

    def __init__(self, records: Iterable[Record]) -> None:
        self.troubles: list[DemoTrouble] = []
        self._tasks: dict[SessionId, TaskId] = {}
        self._live: set[SessionId] = set()
        self._waiting: dict[TaskId, DemoTrouble] = {}  # troubles whose next step is not known yet
        self._ended: DemoTrouble | None = None  # of a role
        for record in records:
            self._take(record)
        for trouble in self.troubles:
            trouble.look = trouble.look or self._closer(trouble)

    def kinds(self) -> set[str]:
        return {trouble.kind for trouble in self.troubles}

    def _take(self, record: Record) -> None:
        if record.actor == WITNESS and self._ended is not None:
            self._ended.absorbed = "the sessions kept running, and the next witness took them over"
            self._ended = None
        match event_of(record):
            case e.SessionStarted(session=session, task=task):
                self._tasks[session] = task
                self._live.add(session)
                self._go_on(task, session)
            case e.SessionReacted(session=session, cause=cause, action=action, text=text):
                self._reacted(session, cause, action, text)
            case e.SessionEnded() as ended:
                self._session_ended(ended)
            case e.TaskParked(task=task):
                self._next(task, "without using up an attempt")
            case e.TaskDelayed(task=task):
                self._next(task, "after a delay")
            case q.ChangeReturned() as returned:
                self._returned(returned)
            case e.AlertRaised(kind=kind, text=text) if kind == ROLE_ENDED:
                self._role_ended(text)

    def _reacted(self, session: SessionId, cause: str, action: str, text: str) -> None:
        if cause in set(Verdict):
            how = " with its conversation" if action == RESUME else ""
            absorbed = f"its program was restarted in the same worktree{how}"
            self._add(cause, session, _short(text), absorbed, task=self._tasks[session])

    def _session_ended(self, ended: e.SessionEnded) -> None:
        task = self._tasks[ended.session]
        self._live.discard(ended.session)
        if ended.killed:
            left = counted(ended.killed, "process", "processes")
            happened = f"it ended but left {left} running"
            absorbed = "stopped before its work was judged"
            self._add(LEFT, ended.session, happened, absorbed, task=task)
        if ended.verdict != Verdict.PROVED:
            detail = f"{_SAID.get(ended.verdict, '')}{_short(ended.detail)}"
            self._waiting[task] = self._add(ended.verdict, ended.session, detail, task=task)

    def _returned(self, returned: q.ChangeReturned) -> None:
        task, run = returned.task, returned.run
        happened = f"its work came back from the queue: {_short(returned.detail)}"
        told = "both sides" if returned.why == "conflict" else "the failure"
        absorbed = f"with the trunk and {told}"
        look = f"corral queue show {run}" if run else ""
        self._waiting[task] = self._add(returned.why, task, happened, absorbed, look, task=task)

    def _role_ended(self, text: str) -> None:
        running = len(self._live)
        here = f"{counted(running, 'session')} running at that moment"
        happened = f"{_short(text)}; {here}"
        self._ended = self._add(ROLE_ENDED, WITNESS, happened, look="corral session list")

    def _next(self, task: TaskId, how: str) -> None:
        if task in self._waiting:
            self._waiting[task].absorbed = how

    def _go_on(self, task: TaskId, session: SessionId) -> None:
        if (waiting := self._waiting.pop(task, None)) is not None:
            waiting.absorbed = f"{session} took over {waiting.absorbed}".rstrip()

    def _closer(self, trouble: DemoTrouble) -> str:
        """Return the command that shows more: only a task's last session is remembered."""
        last = next((s for s, task in reversed(self._tasks.items()) if task == trouble.task), None)
        if trouble.subject == last:
            return f"corral session show {last}"
        return f"corral log --task {trouble.task}"

    def _add(self, *told: Any, **more: Any) -> DemoTrouble:
        self.troubles.append(DemoTrouble(*told, **more))
        return self.troubles[-1]


def _short(text: str) -> str:
    """Leave out the program's last words: a command shows them."""
    said = text.partition("; its last words")[0]
    return said if len(said) <= _SHOWN else f"{said[: _SHOWN - 1]}…"
