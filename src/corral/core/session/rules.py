"""Decisions about sessions: which may start, and what an end leads to. Only roles call these."""

from collections.abc import Collection, Sequence

from msgspec.structs import asdict

from corral.core import ids
from corral.core.board.claims import obstacles
from corral.core.engine import governor
from corral.core.engine.bill import Bill
from corral.core.engine.fold import MESSAGE, QUESTION, RESUME, WAIT
from corral.core.errors import Refused
from corral.core.ids import SessionId, TaskId, Token
from corral.core.log import events as e
from corral.core.log.state import Session, State, Task, TaskState
from corral.core.message import rules as messages
from corral.core.message.events import MessageTaken
from corral.core.refs import task_branch
from corral.core.session.backoff import Patience
from corral.core.session.slots import Limits, TakenSlots
from corral.core.session.verdict import Again, Judgement, Verdict, after
from corral.core.text import cut

Decision = Sequence[e.Event]

_NONE = governor.Accounts()
WITNESS = "witness"  # tasks are handed off to this name for a new session to take
# Alerts about a running session; once it has ended, its verdict replaces them. The end clears them,
# and the deacon clears those that were raised at that very moment.
WHILE_IT_RUNS = {
    *("silent", "barren", "bad_result", "not_judged", "asked", "question", "looping"),
    *("unpriced", "unread"),
}

find_session = messages.session_of


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
    takes: str = "",
) -> Decision:
    """Claim a task for a new session and give it a slot and its ports, or refuse.

    `ports` are numbers that nothing listens on; leased ones are skipped here.
    """
    task = state.tasks[task_id]
    session = ids.session_id(task.id, task.attempts + 1)
    found = obstacles(state, task, now, WITNESS)
    taken = TakenSlots(state)
    slot = taken.obstacle(task, pool, limits) or taken.held_up(task, profile, limits, now)
    for obstacle in [*found, *([slot] if slot else [])]:
        raise Refused(obstacle.text, obstacle.hint, code=obstacle.code)
    _refuse_second(state, task)
    claim, expires_at = task.claim, now + ttl_s * 1000
    lapsed = [e.TaskLapsed(task=task.id, holder=claim.holder, token=claim.token)] if claim else []
    token = Token(str(state.seq + len(lapsed) + 1))
    begun: list[e.Event] = [
        *lapsed,
        e.TaskClaimed(task=task.id, holder=session, token=token, expires_at=expires_at),
        e.SessionStarted(
            session=session,
            task=task.id,
            token=token,
            profile=profile,
            branch=task_branch(task.convoy, task.id),
            base=base,
            pool=pool,
            wall_s=wall_s,
            trunk=trunk,
            account=limits.accounts.of.get(profile, ""),
            resume=_conversation(state, task, profile),
            takes=takes,
        ),
        *messages.take_first(state, task, session, now),
    ]
    first = state.seq + len(begun) + 1
    return begun + _leases(
        state, session, ports, wanted=ports_wanted, first=first, expires_at=expires_at, now=now
    )


def _conversation(state: State, task: Task, profile: str) -> str:
    """Return the engine's conversation that a new session continues, if there is one."""
    last = state.sessions.get(task.session)
    if last is None or not last.verdict or last.profile != profile or last.verdict not in _KNOWN:
        return ""
    if task.brief_seq > int(last.token):
        return ""  # its brief has changed since, and the conversation does not know that
    returned = state.returned.get(task.id)
    if returned is not None and last.verdict == Verdict.PROVED:
        # Returned work goes to the conversation that made it, and after that to a new one.
        return last.thread if returned.times == 1 else ""
    return last.thread if after(Verdict(last.verdict)).goes_on else ""


_KNOWN = frozenset(Verdict)


def interrupted(state: State) -> list[SessionId]:
    """Return the ended sessions whose conversations will continue, or have just done so."""
    found = []
    for task in state.tasks.values():
        last = state.sessions.get(task.session)
        if last is None:
            continue
        if last.live and last.launches == 1 and last.conversation:
            found.append(ids.session_before(last.id))
        elif task.state is TaskState.TODO and _conversation(state, task, last.profile):
            found.append(last.id)
    return found


def port_leases(state: State, session: Session) -> list[str]:
    """Return the leases of a session's ports, in order."""
    given = [
        (int(lease.token), name)
        for name, lease in state.leases.items()
        if lease.holder == session.id and lease.since_at == session.started_at
    ]
    return [name for _, name in sorted(given) if name.startswith("port:")]


def renew(state: State, sessions: Sequence[SessionId], ttl_s: int, now: int) -> Decision:
    """Renew the claims and ports of running sessions; those that lost their claim are skipped."""
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
    """Ask a session to end; `why` is the resulting verdict, unless it has handed in a result."""
    found = find_session(state, session)
    if not found.live:
        raise ended(found)
    if found.stop:
        return []
    return [e.SessionStopAsked(session=found.id, verdict=why, reason=reason)]


def ended(session: Session) -> Refused:
    said = f"{session.id} has ended ({session.verdict}); nothing was changed"
    return Refused(said, f"corral session show {session.id}", code="session_ended")


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
    killed: int = 0,
    parked: str = "",
    accounts: governor.Accounts = _NONE,
) -> Decision:
    """End a session, and move its task on: to the queue, to a retry, or to a person.

    `parked` says why the task is put back without using up an attempt, whatever the verdict.
    """
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
        killed=killed,
    )
    events: list[e.Event] = [ended, *_given_back(state, found)]
    task = _held(state, found)
    if task is None:  # somebody else has the task by now, so this result comes too late
        return events
    if judgement.verdict is Verdict.PROVED:
        events.append(e.TaskSubmitted(task=task.id, token=found.token, commit=commit))
        if commit == found.base:  # an observer's work is its report, so there is nothing to merge
            events.append(e.TaskLanded(task=task.id, commit=commit))
        return events
    if parked:
        return [*events, e.TaskParked(task=task.id, reason=parked, until_at=now)]
    then = _carried_on(state, found, judgement, patience=patience, accounts=accounts, now=now)
    return [*events, then]


def _given_back(state: State, session: Session) -> list[e.Event]:
    """Release the leases of an ended session, and clear the alerts about its run."""
    leases = [
        e.LeaseReleased(resource=name, token=lease.token)
        for name, lease in state.leases.items()
        if lease.holder == session.id
    ]
    alerts = [
        e.AlertCleared(alert=alert.id)
        for alert in state.alerts.values()
        if alert.subject == session.id and alert.kind in WHILE_IT_RUNS
    ]
    return [*leases, *alerts, *messages.give_back(state, session)]


def _refuse_second(state: State, task: Task) -> None:
    """Refuse a session for a task whose last one has not ended yet: kill before spawn."""
    last = state.sessions.get(task.session)
    if last is not None and last.live:
        said = f"{last.id} still runs for {task.id}; nothing was changed"
        raise Refused(said, f"corral session stop {last.id}", code="session_runs")


def _leases(
    state: State,
    session: SessionId,
    ports: Sequence[int],
    *,
    wanted: int,
    first: int,
    expires_at: int,
    now: int,
) -> list[e.Event]:
    """Lease the ports that are wanted; `first` is the number of the first event about them."""
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
        token = Token(str(first + len(events)))
        events.append(
            e.LeaseAcquired(resource=name, holder=session, token=token, expires_at=expires_at)
        )
        wanted -= 1
    if wanted:
        said = f"{session} needs {wanted} more free ports; nothing was changed"
        raise Refused(said, "corral lease list", code="no_port")
    return events


def _carried_on(
    state: State,
    session: Session,
    judgement: Judgement,
    *,
    patience: Patience,
    accounts: governor.Accounts,
    now: int,
) -> e.Event:
    """Park a task, delay its next attempt, or give it to a person."""
    task, then = state.tasks[session.task], after(judgement.verdict)
    reason = f"{judgement.verdict}: {judgement.detail}" if judgement.detail else judgement.verdict
    if not then.counts and task.parks < then.most:
        until = now
        if then.again is Again.REST:
            until += int(patience.rest_s(task.parks + 1, session.id) * 1000)
        elif then.again is Again.FREE:
            until = governor.staggered(_free_at(state, session, accounts, now), now, session.id)
        return e.TaskParked(task=task.id, reason=reason, until_at=until)
    if then.again is Again.BLOCKED:
        return e.TaskBlocked(task=task.id, reason=reason)
    failures = task.failures + 1
    if then.again is Again.NEVER or failures >= patience.attempts:
        return e.TaskFailed(task=task.id, reason=reason)
    rest_s = patience.rest_s(failures, session.id)
    return e.TaskDelayed(task=task.id, reason=reason, until_at=now + int(rest_s * 1000))


def _free_at(state: State, session: Session, accounts: governor.Accounts, now: int) -> int:
    """Return when a rate-limited task can continue: at once, if another profile can take it."""
    profile = governor.profile_for(state, state.tasks[session.task], accounts, now)
    own = profile == session.profile
    account = state.accounts.get(session.account if own else accounts.of.get(profile, ""))
    return max(now, account.until_at if account else 0)


def holds(session: Session, task: Task) -> bool:
    """Say whether a task is still claimed by this session."""
    return task.claim is not None and task.claim.token == session.token


def _held(state: State, session: Session) -> Task | None:
    task = state.tasks[session.task]
    return task if holds(session, task) else None


def engaged(state: State, session: SessionId, thread: str, model: str, version: str) -> Decision:
    """Record the engine's id of its conversation, and its model, when they are new."""
    found = find_session(state, session)
    known = thread in ("", found.thread) and model in ("", found.model)
    if known or not found.live:
        return []
    return [e.SessionEngaged(session=session, thread=thread, model=model, version=version)]


def spent(state: State, session: SessionId, bill: Bill, turns: int, model: str) -> Decision:
    """Record what a session has spent so far, if that is more than is known."""
    found = find_session(state, session)
    if not found.live or (bill == found.bill and turns == found.turns):
        return []
    if bill.tokens < found.bill.tokens:
        return []  # a part of its output is gone, so the recorded sum stands
    return [e.SessionSpent(session=session, model=model, turns=turns, **asdict(bill))]


def limited(
    state: State,
    session: SessionId,
    trouble: str,
    said: str,
    *,
    reset_at: int | None,
    retry_s: float | None,
    now: int,
    final: bool = False,
) -> Decision:
    """Record a limit that a session hit, or (`final`) that ended it, if that is news."""
    found = find_session(state, session)
    if not found.live or not found.account:
        return []
    account = state.accounts.get(found.account)
    until_at = governor.free_at(account, reset_at=reset_at, retry_s=retry_s, now=now)
    if found.limited and account is not None:
        lasts = account.until_at > now and until_at <= account.until_at + _LATER_MS
        brief = until_at - now < _LATER_MS and now - account.limited_at < _LATER_MS
        if lasts or (brief and not final):
            return []  # an engine that retries every second must not fill the log
    return [
        e.SessionLimited(
            session=session, account=found.account, trouble=trouble, until_at=until_at, text=said
        )
    ]


_LATER_MS = 60_000


def asked(
    state: State,
    session: SessionId,
    said: str,
    options: tuple[str, ...] = (),
    *,
    call: str = "",
    answer: str = "",
    now: int,
) -> Decision:
    """Record that an engine waits for an answer; a configured answer is sent at once."""
    found = find_session(state, session)
    if not found.live or (found.asked, found.asked_call) == (said, call):
        return []
    waits = e.SessionAsked(session=session, text=said, options=options, call=call)
    if not answer:
        return [waits]
    reacted = react(state, session, "asked", "answered", cut(answer, 500))
    return [messages.by_policy(state, session, answer, call, now), waits, *reacted]


def answered(state: State, session: SessionId) -> Decision:
    """Record that an engine no longer waits for an answer."""
    found = find_session(state, session)
    return [e.SessionAnswered(session=session)] if found.live and found.asked else []


def relaunch(
    state: State,
    session: SessionId,
    cause: str,
    action: str,
    said: str,
    *,
    again: Collection[str],
    now: int,
) -> Decision:
    """Start a session's program again, with the waiting messages in its prompt.

    `again` are the messages that were handed to the last launch and did not arrive.
    """
    found = find_session(state, session)
    if not found.live:
        return []
    launch = found.launches + 1
    missed = [m for m in messages.handed(state, session) if m.id in again]
    return [
        *react(state, session, cause, action, said),
        *(MessageTaken(message=m.id, session=session, launch=launch) for m in missed),
        *messages.take(state, session, now, launch=launch),
    ]


def go_on(
    state: State, session: SessionId, *, again: Collection[str], answer_s: int, now: int
) -> Decision:
    """Let a session whose program has ended well continue with messages that came in meanwhile.

    If it waits for an answer, it is left alone for `answer_s`. No events: it can be judged.
    """
    found = find_session(state, session)
    if not found.live or _held(state, found) is None or found.relaunched.count(MESSAGE) >= _TURNS:
        return []
    missed = any(message.id in again for message in messages.handed(state, session))
    if missed or any(True for _ in messages.waiting(state, session, now)):
        said = "there are messages for it"
        return relaunch(state, session, MESSAGE, RESUME, said, again=again, now=now)
    if found.waits and not found.idle_at and answer_s:
        return react(state, session, QUESTION, WAIT, found.waits)
    return []


def idle(session: Session, task: Task, answer_s: int, now: int) -> bool:
    """Say whether a session whose program has ended only waits for an answer."""
    waits = bool(session.idle_at and session.waits) and not session.stop
    return waits and holds(session, task) and now < session.idle_at + answer_s * 1000


_TURNS = 100  # at most this many extra turns because of messages


def react(state: State, session: SessionId, cause: str, action: str, said: str) -> Decision:
    """Record what was done about a session."""
    found = find_session(state, session)
    reacted = e.SessionReacted(session=session, cause=cause, action=action, text=said)
    return [reacted] if found.live else []
