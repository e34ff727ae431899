"""The deacon's decisions, one pure function for each of its chores.

They are made from the log and from what was seen on the machine *before* the log was read. A
session is in the log before its tree or its first process exists, so a tree or process that was
seen and whose session is not live now belongs to a session that has ended.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from msgspec import Struct

from corral.core.ids import SessionId, TaskId
from corral.core.log import events as e
from corral.core.log.state import Alert, Claim, State, Task, TaskState
from corral.core.redaction import redacted
from corral.core.session.rules import WHILE_IT_RUNS
from corral.core.text import LINE

Decision = Sequence[e.Event]

HOUR = 3_600_000
DAY = 24 * HOUR
# After a session's end, the witness gets this long to keep its work and clean its tree.
SETTLE = 15 * 60_000

# The alerts that each chore raises, and clears; other kinds belong to other roles.
KINDS = {
    "sessions": "lost-session",
    "processes": "stray-process",
    "trees": "orphan-tree",
    "rooms": "old-room",
    "kept": "kept-work",
    "checks": "old-check",
    "trash": "trash",
}
FAILED = "failed-chore"
_FINISHED = frozenset({TaskState.DONE, TaskState.CANCELLED})


class ChoreOutcome(Struct, frozen=True):
    """The outcome of one chore; `worries` are subjects and texts of what it could not do."""

    found: int = 0
    done: int = 0
    worries: Mapping[str, str] = {}
    error: str = ""


class Saved(Struct, frozen=True):
    """Work that is kept under a ref, with what decides about its age."""

    ref: str
    task: str
    at: int


def live(state: State) -> set[str]:
    return {session.id for session in state.sessions.values() if session.live}


def of_session(name: str) -> bool:
    """Say whether a name is that of a session, like AF-1.2; anything else is not Corral's."""
    task, dot, attempt = name.rpartition(".")
    return bool(dot and task and attempt.isascii() and attempt.isdigit())


def lapsed_claims(state: State, guarded: Collection[str], grace_s: int, now: int) -> Decision:
    """Take away expired claims; those of guarded sessions only after a grace period."""
    return [
        e.TaskLapsed(task=task.id, holder=claim.holder, token=claim.token)
        for task, claim in _claims(state)
        if now >= _lapses_at(state, task, claim, guarded, grace_s)
    ]


def lapsed_leases(state: State, now: int) -> Decision:
    return [
        e.LeaseLapsed(resource=name, holder=lease.holder, token=lease.token)
        for name, lease in state.leases.items()
        if lease.lapsed(now)
    ]


def holders(state: State, now: int) -> list[SessionId]:
    """Return the live sessions whose claims have expired."""
    return [
        task.session
        for task, claim in _claims(state)
        if claim.lapsed(now) and _session_holds(state, task, claim)
    ]


def orphans(state: State, names: Iterable[str], now: int, *, watched: bool) -> list[str]:
    """Return the trees whose session has ended and which the witness will not clean up itself.

    A witness cleans up after a session that it judged, and before another attempt at its task.
    """
    return [
        name
        for name in names
        if of_session(name) and (ended_at := _over_since(state, name)) is not None
        if not watched or (now - ended_at >= SETTLE and not _tried_again(state, name))
    ]


def stale_rooms(state: State, rooms: Mapping[str, int], keep_days: int, now: int) -> list[str]:
    """Return the rooms of sessions that ended before the retention; `rooms` says when each was
    last changed."""
    return [
        name
        for name, changed_at in rooms.items()
        if of_session(name) and (ended_at := _over_since(state, name)) is not None
        if now - max(ended_at, changed_at) > keep_days * DAY
    ]


def expired(state: State, saved: Iterable[Saved], keep_days: int, now: int) -> list[str]:
    """Return the refs of kept work past its retention, which begins when the convoy ends."""
    return [
        one.ref
        for one in saved
        if (since := _finished_at(state, one.task)) is not None
        if now - max(one.at, since) > keep_days * DAY
    ]


def settle(state: State, results: Mapping[str, ChoreOutcome], now: int) -> Decision:
    """Record a round of chores, and the alerts that it raises and clears."""
    cleared = [alert for alert in state.alerts.values() if not _holds(state, alert, results)]
    known = {(alert.kind, alert.subject) for alert in state.alerts.values()}
    raised = [worry for worry in _worries(results) if worry[:2] not in known]
    events: list[e.Event] = [e.AlertCleared(alert=alert.id) for alert in cleared]
    for kind, subject, text in raised:
        number = state.seq + len(events) + 1
        events.append(e.AlertRaised(alert=f"alert-{number}", kind=kind, subject=subject, text=text))
    recorded = {name for name, last in state.chores.items() if now - last.ran_at < HOUR}
    events += [
        e.ChoreDone(chore=name, found=result.found, done=result.done)
        for name, result in results.items()
        if not result.error and (result.done or name not in recorded)
    ]
    return events


def outdated(state: State) -> list[Alert]:
    """Return the alerts about running sessions whose session has ended."""
    running = live(state)
    return [
        alert
        for alert in state.alerts.values()
        if alert.kind in WHILE_IT_RUNS and of_session(alert.subject)
        if alert.subject not in running
    ]


def sweep_at(state: State, swept_at: int) -> int:
    """Return when to look at the machine again: after a session's end, and every hour."""
    times = [swept_at + HOUR]
    for ended_at in (session.ended_at for session in state.sessions.values() if session.ended_at):
        times += [at for at in (ended_at, ended_at + SETTLE) if at > swept_at]
    return min(times)


def wake_at(state: State, guarded: Collection[str], grace_s: int, swept_at: int, now: int) -> int:
    """Return when there is something to do, even if nothing happens until then."""
    claims = [_lapses_at(state, t, claim, guarded, grace_s) for t, claim in _claims(state)]
    # Whether a claim is guarded may change at the time at which it would have expired.
    claims += [claim.expires_at for _, claim in _claims(state) if claim.expires_at > now]
    leases = [lease.expires_at for lease in state.leases.values()]
    letters = [m.expires_at for m in state.messages.values() if not m.reader or m.read_at]
    return min([sweep_at(state, swept_at), *claims, *leases, *letters])


def _claims(state: State) -> list[tuple[Task, Claim]]:
    return [(task, task.claim) for task in state.tasks.values() if task.claim is not None]


def _lapses_at(
    state: State, task: Task, claim: Claim, guarded: Collection[str], grace_s: int
) -> int:
    guard = task.session in guarded and _session_holds(state, task, claim)
    return claim.expires_at + (grace_s * 1000 if guard else 0)


def _session_holds(state: State, task: Task, claim: Claim) -> bool:
    session = state.sessions.get(task.session)
    return session is not None and session.live and session.token == claim.token


def _over_since(state: State, name: str) -> int | None:
    """Return a time at which a session had certainly ended; None while it is live."""
    session = state.sessions.get(SessionId(name))
    if session is not None:
        return session.ended_at or None
    task = state.tasks.get(TaskId(name.rpartition(".")[0]))
    later = state.sessions.get(task.session) if task else None  # the state has only the last one
    return later.started_at if later else 0


def _tried_again(state: State, name: str) -> bool:
    task = state.tasks.get(TaskId(name.rpartition(".")[0]))
    return task is not None and task.state in (TaskState.TODO, TaskState.DOING)


def _finished_at(state: State, task_id: str) -> int | None:
    """Return when the convoy of a task ended; None if it is still open."""
    task = state.tasks.get(TaskId(task_id))
    if task is None:
        return 0
    tasks = [one for one in state.tasks.values() if one.convoy == task.convoy]
    if any(one.state not in _FINISHED for one in tasks):
        return None
    return max(one.changed_at for one in tasks)


def _holds(state: State, alert: Alert, results: Mapping[str, ChoreOutcome]) -> bool:
    """Say whether an alert still holds, as far as this round can tell."""
    if alert.kind == FAILED and alert.subject in results:
        return bool(results[alert.subject].error)
    for chore, kind in KINDS.items():
        if alert.kind == kind and chore in results and not results[chore].error:
            return alert.subject in results[chore].worries
    return alert not in outdated(state)


def _worries(results: Mapping[str, ChoreOutcome]) -> list[tuple[str, str, str]]:
    found = [
        (KINDS[name], subject, _plain(text))
        for name, result in results.items()
        for subject, text in result.worries.items()
    ]
    errors = {name: result.error for name, result in results.items() if result.error}
    return found + [(FAILED, name, _plain(error)) for name, error in errors.items()]


def _plain(text: str) -> str:
    """Make an error message, which may quote any path, safe to log."""
    return "".join(char if char.isprintable() else "?" for char in redacted(text))[:LINE]
