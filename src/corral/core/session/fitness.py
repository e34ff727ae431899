"""Whether the machine is ready for sessions: faults that are not the fault of any task.

Such a fault is one open alert. While it is open, nothing of its kind is started, and no attempt is
used up. The subject of the alert is an engine profile, its program, the set-up, or the checks.
"""

from corral.core.board.claims import Obstacle
from corral.core.log.state import Alert, State, Task
from corral.core.session.verdict import Verdict

UNFIT = "unfit"  # the kind of the alert
SETUP, CHECKS = "set-up", "checks"
_PROGRAM = "program of "


def program_of(profile: str) -> str:
    """Return the subject of an alert about the program of a profile."""
    return f"{_PROGRAM}{profile}"


def profile_of(subject: str) -> str:
    return subject.removeprefix(_PROGRAM)


def unfit(state: State) -> list[Alert]:
    return [alert for alert in state.alerts.values() if alert.kind == UNFIT]


def obstacle(state: State, task: Task, profile: str) -> Obstacle | None:
    """Return the fault that keeps a task from being started.

    A failed set-up is tried again by one task at a time, of those that have met it.
    """
    for alert in unfit(state):
        if alert.subject == SETUP and _tries(state, task):
            continue
        own = alert.subject == program_of(profile) and not task.run
        if alert.subject in (SETUP, CHECKS, profile) or own:
            return Obstacle(
                "unfit",
                f"{task.id} waits, because this machine is not ready: {alert.text}",
                "fix that; the witness notices, and goes on"
                if alert.subject != CHECKS
                else f"fix that, then: corral alert clear {alert.id}",
            )
    return None


def _tries(state: State, task: Task) -> bool:
    last = state.sessions.get(task.session)
    if last is None or last.verdict != Verdict.UNFIT:
        return False
    sessions = state.sessions.values()
    return not any(other.live and state.tasks[other.task].parks for other in sessions)
