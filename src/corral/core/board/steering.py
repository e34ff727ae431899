"""Rules that steer running work: pause, resume, stop, report progress, acknowledge alerts."""

from collections.abc import Callable, Sequence
from typing import Any

from corral.core import text
from corral.core.board import commands as c
from corral.core.errors import NotFound, Refused
from corral.core.ids import ConvoyId
from corral.core.log import events as e
from corral.core.log.state import State
from corral.core.queue.events import QueuePaused, QueueResumed
from corral.core.queue.fold import trunk_of
from corral.core.session import rules as session_rules
from corral.core.session.verdict import Verdict

Decision = Sequence[e.Event]
_SAID = 500  # characters in a line of progress


def _pause(state: State, command: c.Pause, actor: str, now: int) -> Decision:
    reason = text.line(command.reason, "the reason", empty=True)
    convoy, events = command.convoy, list[e.Event]()
    sessions, landing = _meant(state, command)
    if sessions and convoy not in state.paused:
        events.append(e.WorkPaused(convoy=convoy, by=actor, reason=reason))
    if landing and not _held(state, convoy):
        events.append(QueuePaused(convoy=convoy, reason=reason or f"paused by {actor}"))
    if not events:
        said = f"{f'the convoy {convoy}' if convoy else 'everything'} is already paused"
        hint = f"corral resume --convoy {convoy}" if convoy else "corral resume"
        raise Refused(f"{said}; nothing was changed", hint, code="already_paused")
    return events


def _resume(state: State, command: c.Resume, actor: str, now: int) -> Decision:
    convoy, events = command.convoy, list[e.Event]()
    sessions, landing = _meant(state, command)
    if sessions and convoy in state.paused:
        events.append(e.WorkResumed(convoy=convoy))
    if landing and _held(state, convoy):
        events.append(QueueResumed(convoy=convoy))
    if not events:
        still = sorted({*state.paused, *(one for one in state.trunks if _held(state, one))})
        said = f" for all convoys (by name: {', '.join(still)})" if still and not convoy else ""
        what = f"the convoy {convoy} is not" if convoy else "nothing is"
        what += f" paused{said}; nothing was changed"
        raise Refused(what, f"corral resume --convoy {still[0]}" if said else "", code="not_paused")
    return events


def _meant(state: State, command: c.Pause | c.Resume) -> tuple[bool, bool]:
    """Say whether a command applies to starting sessions and to landing; by default to both."""
    if command.convoy and command.convoy not in state.convoys:
        said = text.printable(command.convoy)
        raise NotFound(f"there is no convoy {said!r}", "corral convoy list")
    both = command.sessions == command.landing
    return both or command.sessions, both or command.landing


def _held(state: State, convoy: ConvoyId) -> str:
    return trunk_of(state, convoy).paused if convoy else state.held


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
    c.Pause: _pause,
    c.Resume: _resume,
    c.StopSession: _stop,
    c.ReportProgress: _report,
    c.AcknowledgeAlert: _acknowledge,
}
