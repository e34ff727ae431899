"""Steering what runs: pause and resume, stop a session, say where one is, take on an alert."""

from collections.abc import Callable, Sequence
from typing import Any

from corral.core import text
from corral.core.board import commands as c
from corral.core.errors import NotFound, Refused
from corral.core.ids import ConvoyId
from corral.core.log import events as e
from corral.core.log.state import State
from corral.core.queue import rules as queue_rules
from corral.core.queue.fold import trunk_of
from corral.core.session import rules as session_rules
from corral.core.session.verdict import Verdict

Decision = Sequence[e.Event]
_SAID = 500  # characters of a line of progress


def _pause(state: State, command: c.PauseWork, actor: str, now: int) -> Decision:
    reason = text.line(command.reason, "the reason", empty=True)
    _known(state, command.convoy)
    if command.convoy in state.paused:
        raise Refused(
            f"{_what(command.convoy)} is paused already; nothing was changed",
            "corral convoy resume",
            code="already_paused",
        )
    return [e.WorkPaused(convoy=command.convoy, by=actor, reason=reason)]


def _resume(state: State, command: c.ResumeWork, actor: str, now: int) -> Decision:
    _known(state, command.convoy)
    if command.convoy not in state.paused:
        raise Refused(
            f"{_what(command.convoy)} is not paused; nothing was changed", code="not_paused"
        )
    return [e.WorkResumed(convoy=command.convoy)]


def _pause_all(state: State, command: c.Pause, actor: str, now: int) -> Decision:
    _known(state, command.convoy)
    events: list[e.Event] = []
    if command.convoy not in state.paused:
        work = c.PauseWork(convoy=command.convoy, reason=command.reason)
        events += _pause(state, work, actor, now)
    if not _queue_paused(state, command.convoy):
        queue = c.PauseQueue(convoy=command.convoy, reason=command.reason)
        events += queue_rules.pause(state, queue, actor, now)
    if not events:
        what = _what(command.convoy)
        raise Refused(
            f"{what} is paused already; nothing was changed", "corral resume", code="already_paused"
        )
    return events


def _resume_all(state: State, command: c.Resume, actor: str, now: int) -> Decision:
    _known(state, command.convoy)
    events: list[e.Event] = []
    if command.convoy in state.paused:
        events.append(e.WorkResumed(convoy=command.convoy))
    if _queue_paused(state, command.convoy):
        queue = c.ResumeQueue(convoy=command.convoy)
        events += queue_rules.resume(state, queue, actor, now)
    if not events:
        what = _what(command.convoy)
        raise Refused(f"{what} is not paused; nothing was changed", code="not_paused")
    return events


def _queue_paused(state: State, convoy: ConvoyId) -> str:
    return trunk_of(state, convoy).paused if convoy else state.held


def _known(state: State, convoy: str) -> None:
    if convoy and convoy not in state.convoys:
        raise NotFound(f"there is no convoy {text.printable(convoy)!r}", "corral convoy list")


def _what(convoy: str) -> str:
    return f"the convoy {convoy}" if convoy else "everything"


def _stop(state: State, command: c.StopSession, actor: str, now: int) -> Decision:
    reason = text.line(command.reason, "the reason")
    return session_rules.ask_stop(state, command.session, Verdict.STOPPED, reason)


def _report(state: State, command: c.ReportProgress, actor: str, now: int) -> Decision:
    said = text.line(command.text, "the text", _SAID)
    session = session_rules.find_session(state, command.session)
    if not session.live:
        raise Refused(f"{session.id} has ended; nothing was changed", code="session_ended")
    outputs = session.outputs if command.outputs is None else command.outputs
    text.number(outputs, "the number of outputs", 0, 1_000_000)
    return [e.SessionProgressed(session=session.id, text=said, outputs=outputs)]


def _acknowledge(state: State, command: c.AcknowledgeAlert, actor: str, now: int) -> Decision:
    alert = state.alerts.get(command.alert)
    if alert is None:
        raise NotFound(f"no alert {text.printable(command.alert)!r} is open", "corral alert list")
    return [] if alert.seen_by == actor else [e.AlertAcknowledged(alert=alert.id, by=actor)]


RULES: dict[type[c.Command], Callable[[State, Any, str, int], Decision]] = {
    c.PauseWork: _pause,
    c.ResumeWork: _resume,
    c.Pause: _pause_all,
    c.Resume: _resume_all,
    c.StopSession: _stop,
    c.ReportProgress: _report,
    c.AcknowledgeAlert: _acknowledge,
}
