"""State = fold(log): one small function for each type of event, and no judgement.

An event in the log has happened, so the fold never refuses one. It changes the state in place,
because copying ten thousand tasks for each event would cost more than the event; the values inside
are frozen.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from msgspec.structs import replace

from corral.core.copies import filled
from corral.core.engine import fold as engine
from corral.core.engine.bill import Bill
from corral.core.ids import TaskId
from corral.core.log import events as e
from corral.core.log import state as s
from corral.core.log.state import State, Task, TaskState, overlap_name

Apply = Callable[[State, Any, int, int], None]


def apply(state: State, event: e.Event, seq: int, at: int) -> None:
    """Apply one event to the state."""
    (_APPLY.get(type(event)) or _of_concept(type(event)))(state, event, seq, at)
    state.seq = seq


def _of_concept(kind: type[e.Event]) -> Apply:
    """Load the fold of the concept that an event belongs to, which is beside its `events`."""
    fold = import_module(kind.__module__.replace(".events", ".fold"))
    _APPLY.update(fold.APPLY)
    return _APPLY[kind]


def _log_created(state: State, event: e.LogCreated, seq: int, at: int) -> None:
    state.log = event.log


def _convoy_created(state: State, event: e.ConvoyCreated, seq: int, at: int) -> None:
    state.convoys[event.convoy] = filled(s.Convoy, event, id=event.convoy, created_at=at)


def _task_added(state: State, event: e.TaskAdded, seq: int, at: int) -> None:
    state.tasks[event.task] = filled(
        Task,
        event,
        id=event.task,
        state=TaskState.TODO,
        added_at=at,
        changed_at=at,
        order=seq,
        brief_seq=seq if event.brief else 0,
    )
    convoy = state.convoys[event.convoy]
    number = int(event.task.rpartition("-")[2])
    state.convoys[event.convoy] = replace(convoy, last_number=max(convoy.last_number, number))


_EDITABLE = (
    *("title", "priority", "needs", "paths", "accept", "inputs", "engine"),
    *("run", "role", "spec", "reasons"),
)


def _task_edited(state: State, event: e.TaskEdited, seq: int, at: int) -> None:
    changes: dict[str, Any] = {
        name: value for name in _EDITABLE if (value := getattr(event, name)) is not None
    }
    if event.brief is not None:
        changes["brief_seq"] = seq if event.brief else 0
    if event.needs is not None and event.reasons is None:
        reasons = state.tasks[event.task].reasons
        changes["reasons"] = {need: reasons[need] for need in event.needs if need in reasons}
    _change(state, event.task, changed_at=at, **changes)


def _task_claimed(state: State, event: e.TaskClaimed, seq: int, at: int) -> None:
    task = state.tasks[event.task]
    state.tasks[event.task] = replace(
        task,
        state=TaskState.DOING,
        claim=s.Claim(event.holder, event.token, at, event.expires_at),
        attempts=task.attempts + 1,
        assignee="",  # a hand-off reserves only the next claim
        changed_at=at,
        reason="",
    )


def _task_renewed(state: State, event: e.TaskRenewed, seq: int, at: int) -> None:
    claim = state.tasks[event.task].claim
    if claim is not None:
        _change(state, event.task, claim=replace(claim, expires_at=event.expires_at))


def _task_retried(state: State, event: e.TaskRetried, seq: int, at: int) -> None:
    again = {"commit": "", "failures": 0, "not_before_at": 0}
    _move(state, event.task, TaskState.TODO, at, reason=event.reason, **again)


def _task_failed(state: State, event: e.TaskFailed, seq: int, at: int) -> None:
    covered_at = max(state.tasks[event.task].covered_at, at)
    _move(state, event.task, TaskState.FAILED, at, reason=event.reason, covered_at=covered_at)


def _task_delayed(state: State, event: e.TaskDelayed, seq: int, at: int) -> None:
    failures = state.tasks[event.task].failures + 1
    changes = {"failures": failures, "not_before_at": event.until_at}
    _move(state, event.task, TaskState.TODO, at, reason=event.reason, **changes)


def _task_landed(state: State, event: e.TaskLanded, seq: int, at: int) -> None:
    task = state.tasks[event.task]
    state.returned.pop(event.task, None)
    commit, covered_at = event.commit or task.commit, max(task.covered_at, at)
    _move(state, event.task, TaskState.DONE, at, commit=commit, covered_at=covered_at)


def _task_recurred(state: State, event: e.TaskRecurred, seq: int, at: int) -> None:
    again: dict[str, Any] = {"commit": "", "failures": 0, "before": ""}
    again |= {"not_before_at": event.date, "covered_at": event.date}
    _move(state, event.task, TaskState.TODO, at, **again)


def _lease_acquired(state: State, event: e.LeaseAcquired, seq: int, at: int) -> None:
    state.leases[event.resource] = s.Claim(event.holder, event.token, at, event.expires_at)


def _lease_renewed(state: State, event: e.LeaseRenewed, seq: int, at: int) -> None:
    lease = state.leases[event.resource]
    state.leases[event.resource] = replace(lease, expires_at=event.expires_at)


def _alert_raised(state: State, event: e.AlertRaised, seq: int, at: int) -> None:
    state.alerts[event.alert] = s.Alert(event.alert, event.kind, event.subject, event.text, at)


def _session_started(state: State, event: e.SessionStarted, seq: int, at: int) -> None:
    last = state.sessions.pop(state.tasks[event.task].session, None)
    _change(state, event.task, session=event.session)
    state.sessions[event.session] = filled(
        s.Session,
        event,
        id=event.session,
        started_at=at,
        progress_at=at,
        outputs_at=at,
        talk=last.talked if last and event.resume else Bill(),
        trunk=event.trunk or event.base,
    )


def _session_progressed(state: State, event: e.SessionProgressed, seq: int, at: int) -> None:
    session = state.sessions[event.session]
    state.sessions[event.session] = replace(
        session,
        progress=event.text,
        progress_at=at,
        outputs=event.outputs,
        outputs_at=at if event.outputs > session.outputs else session.outputs_at,
    )


def _session_ended(state: State, event: e.SessionEnded, seq: int, at: int) -> None:
    told = {"verdict": event.verdict, "detail": event.detail, "commit": event.commit}
    _change_session(state, event, ended_at=at, **told)
    engine.ended(state, event)
    if state.messages:
        from corral.core.message.fold import session_ended

        session_ended(state, event.session)


def _task_parked(state: State, event: e.TaskParked, seq: int, at: int) -> None:
    parks = state.tasks[event.task].parks + 1
    changes = {"not_before_at": event.until_at, "parks": parks}
    _move(state, event.task, TaskState.TODO, at, reason=event.reason, **changes)


def _chore_done(state: State, event: e.ChoreDone, seq: int, at: int) -> None:
    state.chores[event.chore] = s.Chore(event.chore, at, event.found, event.done)


def _traces_sent(state: State, event: e.TracesSent, seq: int, at: int) -> None:
    state.traced = event.upto


def _overlap_seen(state: State, event: e.OverlapSeen, seq: int, at: int) -> None:
    name = overlap_name(event.task, event.other)
    known = state.overlaps.get(name)
    since = known.since_at if known else at
    state.overlaps[name] = s.Overlap(event.task, event.other, event.paths, since)


def _alert_acknowledged(state: State, event: e.AlertAcknowledged, seq: int, at: int) -> None:
    alert = state.alerts.get(event.alert)
    if alert is not None:
        state.alerts[event.alert] = replace(alert, seen_by=event.by)


def _work_paused(state: State, event: e.WorkPaused, seq: int, at: int) -> None:
    state.paused[event.convoy] = s.SessionPause(event.by, event.reason, at)


def _move(
    board: State, task: TaskId, to: TaskState, at: int, reason: str = "", **changes: Any
) -> None:
    """Put a task into a state in which nobody holds it."""
    found = board.tasks[task]
    if to is not TaskState.REVIEW and task in board.changes:
        from corral.core.queue.fold import left

        left(board, task)  # it no longer waits to land
    changes = {"before": reason or found.before, "parks": 0, **changes}
    board.tasks[task] = replace(
        found, state=to, claim=None, changed_at=at, reason=reason, **changes
    )


def _change(board: State, task: TaskId, **changes: Any) -> None:
    board.tasks[task] = replace(board.tasks[task], **changes)


def _change_session(state: State, event: Any, **changes: Any) -> None:
    state.sessions[event.session] = replace(state.sessions[event.session], **changes)


_APPLY: dict[type[e.Event], Apply] = {
    e.LogCreated: _log_created,
    e.ConvoyCreated: _convoy_created,
    e.TaskAdded: _task_added,
    e.TaskEdited: _task_edited,
    e.TaskClaimed: _task_claimed,
    e.TaskRenewed: _task_renewed,
    e.TaskLapsed: lambda state, event, _, at: _move(
        state, event.task, TaskState.TODO, at, f"the claim of {event.holder} ran out"
    ),
    e.TaskSubmitted: lambda state, event, _, at: _move(
        state, event.task, TaskState.REVIEW, at, commit=event.commit
    ),
    e.TaskBlocked: lambda state, event, _, at: _move(
        state, event.task, TaskState.BLOCKED, at, event.reason
    ),
    e.TaskUnblocked: lambda state, event, _, at: _move(state, event.task, TaskState.TODO, at),
    e.TaskRetried: _task_retried,
    e.TaskCancelled: lambda state, event, _, at: _move(
        state, event.task, TaskState.CANCELLED, at, event.reason
    ),
    e.TaskHandedOff: lambda state, event, _, at: _move(
        state, event.task, TaskState.TODO, at, event.note, assignee=event.to
    ),
    e.TaskFailed: _task_failed,
    e.TaskDelayed: _task_delayed,
    e.TaskLanded: _task_landed,
    e.TaskRecurred: _task_recurred,
    e.TaskCommented: lambda state, event, seq, _: _change(
        state, event.task, comments=(*state.tasks[event.task].comments, seq)
    ),
    e.LeaseAcquired: _lease_acquired,
    e.LeaseRenewed: _lease_renewed,
    e.LeaseReleased: lambda state, event, *_: state.leases.pop(event.resource, None),
    e.LeaseLapsed: lambda state, event, *_: state.leases.pop(event.resource, None),
    e.AlertRaised: _alert_raised,
    e.AlertCleared: lambda state, event, *_: state.alerts.pop(event.alert, None),
    e.SessionStarted: _session_started,
    e.SessionProgressed: _session_progressed,
    e.SessionStopAsked: lambda state, event, *_: _change_session(
        state, event, stop=event.verdict, detail=event.reason
    ),
    e.SessionEnded: _session_ended,
    e.TaskParked: _task_parked,
    e.SessionEngaged: engine.engaged,
    e.SessionSpent: engine.spent,
    e.SessionLimited: engine.limited,
    e.SessionAsked: lambda state, event, *_: _change_session(
        state, event, asked=event.text, asked_call=event.call
    ),
    e.SessionAnswered: lambda state, event, *_: _change_session(
        state, event, asked="", asked_call=""
    ),
    e.SessionReacted: engine.reacted,
    e.ChoreDone: _chore_done,
    e.TracesSent: _traces_sent,
    e.OverlapSeen: _overlap_seen,
    e.OverlapOver: lambda state, event, *_: state.overlaps.pop(
        overlap_name(event.task, event.other), None
    ),
    e.AlertAcknowledged: _alert_acknowledged,
    e.WorkPaused: _work_paused,
    e.SettingsChanged: lambda *_: None,
    e.WorkResumed: lambda state, event, *_: state.paused.pop(event.convoy, None),
}
