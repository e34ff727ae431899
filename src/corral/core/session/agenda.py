"""When the witness must look again even if nothing happens, and which results wait too long."""

from collections.abc import Iterator

from corral.core.board.claims import ready
from corral.core.engine.governor import wakes
from corral.core.ids import ConvoyId
from corral.core.log.state import State, Task, TaskState

UNATTENDED_BEATS = 3
_LONGEST_S = 60  # with nothing to do
_LOOK_S = 15  # while sessions run: a shim killed together with its keeper causes no event
_STOPPING_S = 2  # while a stop or a judgement is being carried out


def resting(state: State, now: int, claimer: str, *, failed_only: bool = False) -> int | None:
    """Return when the next delayed task may be tried; with `failed_only`, tried again."""
    times = [
        task.not_before_at
        for task in state.tasks.values()
        if task.not_before_at > now
        and (task.failures or task.parks or not failed_only)
        and task.state is TaskState.TODO
        and ready(state, task, task.not_before_at, claimer)
    ]
    return min(times, default=None)


def unattended(state: State, now: int, beat_s: int) -> list[Task]:
    """Return the submitted tasks that nobody has acted on for some beats."""
    return [task for task, at in _unattended_at(state, beat_s) if at <= now]


def _unattended_at(state: State, beat_s: int) -> Iterator[tuple[Task, int]]:
    """Yield each submitted task, and the time at which it has waited too long.

    A queued task counts as acted on while its convoy is checked, at most until the run's deadline.
    """
    acted: dict[ConvoyId, int] = {}
    for check in state.checks.values():
        until = check.ended_at or check.started_at + check.deadline_s * 1000
        acted[check.convoy] = max(until, acted.get(check.convoy, 0))
    for task in state.tasks.values():
        if task.state is TaskState.REVIEW:
            checked_at = acted.get(task.convoy, 0) if task.id in state.changes else 0
            yield task, max(task.changed_at, checked_at) + UNATTENDED_BEATS * beat_s * 1000


def next_look(state: State, now: int, beat_s: int, claimer: str) -> int:
    """Return when to look again if nothing happens until then."""
    times = [now + _LONGEST_S * 1000]
    rest = resting(state, now, claimer)
    times += [] if rest is None else [rest]
    times += wakes(state, now)
    times += [at for _, at in _unattended_at(state, beat_s) if at > now]
    live = [session for session in state.sessions.values() if session.live]
    if live:
        times.append(now + min(_LOOK_S * 1000, beat_s * 250))
    in_trouble = {alert.subject for alert in state.alerts.values() if alert.kind == "not_judged"}
    if any(session.stop or session.id in in_trouble for session in live):
        times.append(now + _STOPPING_S * 1000)
    return min(times)
