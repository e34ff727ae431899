"""Decisions about sessions: who may start, what an end leads to. For the roles, not by hand."""

from collections.abc import Sequence

from corral.core import events as e
from corral.core import ids, text
from corral.core.backoff import Patience
from corral.core.claims import obstacles
from corral.core.errors import NotFound, Refused
from corral.core.ids import SessionId, TaskId, Token
from corral.core.slots import Limits, Taken
from corral.core.state import Session, State, Task
from corral.core.verdict import Judgement, Verdict

Decision = Sequence[e.Event]

WITNESS = "witness"  # by this name, tasks can be handed off to whoever starts sessions
# What another attempt cannot mend by itself: somebody has to change the task or stop asking.
_FINAL = {Verdict.STOPPED}
# Alerts about a session that runs; once it has ended, its verdict says the rest.
_WHILE_IT_RUNS = {"silent", "barren", "bad_result", "not_judged"}


def find_session(state: State, session: str) -> Session:
    found = state.sessions.get(SessionId(session)) or state.sessions.get(SessionId(session.upper()))
    if found is None:
        raise NotFound(f"there is no session {text.printable(session)!r}", "corral session list")
    return found


def start(
    state: State,
    task_id: TaskId,
    *,
    profile: str,
    pool: str,
    base: str,
    trunk: str = "",
    limits: Limits,
    ttl_s: int,
    wall_s: int,
    now: int,
    ports: Sequence[int] = (),
    ports_wanted: int = 0,
) -> Decision:
    """Claim a task for a new session and give it a slot and its ports, or refuse all of it.

    `ports` are numbers that nobody listens on; those that are leased are passed over here.
    """
    task = state.tasks[task_id]
    session = ids.session_id(task.id, task.attempts + 1)
    found = obstacles(state, task, now, WITNESS)
    slot = Taken(state).obstacle(task, pool, limits)
    for obstacle in [*found, *([slot] if slot else [])]:
        raise Refused(obstacle.text, obstacle.hint, code=obstacle.code)
    _refuse_second(state, task)
    events: list[e.Event] = []
    if task.claim is not None:
        events.append(e.TaskLapsed(task=task.id, holder=task.claim.holder, token=task.claim.token))
    token = Token(str(state.seq + len(events) + 1))
    expires_at = now + ttl_s * 1000
    begun: list[e.Event] = [
        *events,
        e.TaskClaimed(task=task.id, holder=session, token=token, expires_at=expires_at),
        e.SessionStarted(
            session=session,
            task=task.id,
            token=token,
            profile=profile,
            branch=f"convoy/{task.convoy}/{task.id}",
            base=base,
            pool=pool,
            wall_s=wall_s,
            trunk=trunk,
        ),
    ]
    leases = _leases(
        state,
        session,
        ports,
        wanted=ports_wanted,
        before=len(begun),
        expires_at=expires_at,
        now=now,
    )
    return [*begun, *leases]


def port_leases(state: State, session: Session) -> list[str]:
    """Return the ports that a session was given when it started, in order."""
    given = [
        (int(lease.token), name)
        for name, lease in state.leases.items()
        if lease.holder == session.id and lease.since_at == session.started_at
    ]
    return [name for _, name in sorted(given) if name.startswith("port:")]


def renew(state: State, sessions: Sequence[SessionId], ttl_s: int, now: int) -> Decision:
    """Keep the claims of sessions that run, with their ports; who lost its claim is left out."""
    expires_at = now + ttl_s * 1000
    events: list[e.Event] = []
    for session in (state.sessions[name] for name in sessions if name in state.sessions):
        task = _held(state, session)
        if task is None or not session.live:
            continue
        events.append(e.TaskRenewed(task=task.id, token=session.token, expires_at=expires_at))
        events += [
            e.LeaseRenewed(resource=name, token=state.leases[name].token, expires_at=expires_at)
            for name in port_leases(state, session)
        ]
    return events


def progress(state: State, session: SessionId, said: str, outputs: int) -> Decision:
    found = find_session(state, session)
    if not found.live or (found.progress, found.outputs) == (said, outputs):
        return []
    return [e.SessionProgressed(session=session, text=said, outputs=outputs)]


def ask_stop(state: State, session: str, why: str, reason: str) -> Decision:
    """Ask a session to end; `why` is the verdict that this means, unless it handed in a result."""
    found = find_session(state, session)
    if not found.live:
        raise Refused(
            f"{found.id} has ended ({found.verdict}); nothing was changed",
            f"corral session show {found.id}",
            code="session_ended",
        )
    if found.stop:
        return []
    return [e.SessionStopAsked(session=found.id, verdict=why, reason=reason)]


def end(
    state: State,
    session: SessionId,
    judgement: Judgement,
    *,
    commit: str,
    code: int | None,
    signal: int | None,
    patience: Patience,
    now: int,
) -> Decision:
    """End a session, and carry its task on: to the queue, to a rest, or to a person."""
    found = find_session(state, session)
    if not found.live:
        return []
    ended = e.SessionEnded(
        session=session,
        verdict=judgement.verdict,
        detail=judgement.detail,
        commit=commit,
        code=code,
        signal=signal,
    )
    events: list[e.Event] = [ended, *_given_back(state, found)]
    task = _held(state, found)
    if task is None:  # the task went to somebody else meanwhile: this result comes too late
        return events
    if judgement.verdict is Verdict.PROVED:
        events.append(e.TaskSubmitted(task=task.id, token=found.token, commit=commit))
        if commit == found.base:  # an observer's work is its report: there is nothing to merge
            events.append(e.TaskLanded(task=task.id, commit=commit))
        return events
    return [*events, _failed(task, found, judgement, patience, now)]


def _given_back(state: State, session: Session) -> list[e.Event]:
    """Release what an ended session held, and clear what was said about its running."""
    leases = [
        e.LeaseReleased(resource=name, token=lease.token)
        for name, lease in state.leases.items()
        if lease.holder == session.id
    ]
    alerts = [
        e.AlertCleared(alert=alert.id)
        for alert in state.alerts.values()
        if alert.subject == session.id and alert.kind in _WHILE_IT_RUNS
    ]
    return [*leases, *alerts]


def _refuse_second(state: State, task: Task) -> None:
    """Refuse a session for a task whose last one has not ended: kill before spawn."""
    last = state.sessions.get(task.session)
    if last is not None and last.live:
        raise Refused(
            f"{last.id} still runs for {task.id}; nothing was changed",
            f"corral session stop {last.id}",
            code="session_runs",
        )


def _leases(
    state: State,
    session: SessionId,
    ports: Sequence[int],
    *,
    wanted: int,
    before: int,
    expires_at: int,
    now: int,
) -> list[e.Event]:
    events: list[e.Event] = []
    for port in ports:
        if not wanted:
            break
        name = f"port:{port}"
        lease = state.leases.get(name)
        if lease is not None and not lease.lapsed(now):
            continue
        if lease is not None:
            events.append(e.LeaseLapsed(resource=name, holder=lease.holder, token=lease.token))
        token = Token(str(state.seq + before + len(events) + 1))
        events.append(
            e.LeaseAcquired(resource=name, holder=session, token=token, expires_at=expires_at)
        )
        wanted -= 1
    if wanted:
        raise Refused(
            f"{session} needs {wanted} more free ports; nothing was changed",
            "corral lease list",
            code="no_port",
        )
    return events


def _failed(
    task: Task, session: Session, judgement: Judgement, patience: Patience, now: int
) -> e.Event:
    """Let a task rest for another attempt, or give it to a person."""
    reason = f"{judgement.verdict}: {judgement.detail}" if judgement.detail else judgement.verdict
    failures = task.failures + 1
    if judgement.verdict in _FINAL or failures >= patience.attempts:
        return e.TaskFailed(task=task.id, reason=reason)
    rest_s = patience.rest_s(failures, session.id)
    return e.TaskDelayed(task=task.id, reason=reason, until_at=now + int(rest_s * 1000))


def _held(state: State, session: Session) -> Task | None:
    task = state.tasks[session.task]
    held = task.claim is not None and task.claim.token == session.token
    return task if held else None
