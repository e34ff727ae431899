"""Whether the machine is ready for sessions: faults that are not the fault of any task.

Such a fault is one open alert. While it is open, nothing of its kind is started, and no attempt is
used up. The subject of the alert is an engine profile, its program, the set-up, or what acceptance
commands need.
"""

from corral.core import faults
from corral.core.board.claims import Obstacle
from corral.core.log.state import Alert, State, Task, TaskState
from corral.core.session.brief import changes_nothing
from corral.core.session.verdict import Verdict

UNFIT = "unfit"  # the kind of the alert
NOT_READY = (
    "not_ready"  # the kind of an alert about a convoy that waits for a check before it begins
)
SETUP = "set-up"
_PROGRAM, _CHECKS = "program of ", "checks with "


def program_of(profile: str) -> str:
    """Return the subject of an alert about the program of a profile."""
    return f"{_PROGRAM}{profile}"


def profile_of(subject: str) -> str:
    return subject.removeprefix(_PROGRAM)


def check_subject(about: str) -> str:
    """Return the subject of an alert about what acceptance commands need (`core/faults`)."""
    return f"{_CHECKS}{about}"


def about_check(subject: str) -> str:
    """Return what acceptance commands need; empty if the alert is about something else."""
    return subject.removeprefix(_CHECKS) if subject.startswith(_CHECKS) else ""


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
        about = about_check(alert.subject)
        needs = bool(about) and any(faults.concerns(about, command) for command in task.accept)
        if alert.subject in (SETUP, profile) or own or needs:
            said = f"{task.id} waits, because this machine is not ready: {alert.text}"
            return Obstacle("unfit", said, "fix that; the witness notices, and goes on")
    return None


def not_begun(state: State, task: Task) -> list[Obstacle]:
    """Return what was found by the check that comes before the first session of a convoy."""
    alerts = state.alerts.values()
    return [
        Obstacle(
            NOT_READY, f"{task.convoy} has not begun: {one.text}", "fix that, or: corral check"
        )
        for one in alerts
        if (one.kind, one.subject) == (NOT_READY, task.convoy) and task.state is TaskState.TODO
    ]


def _tries(state: State, task: Task) -> bool:
    last = state.sessions.get(task.session)
    if last is None or last.verdict != Verdict.UNFIT:
        return False
    sessions = state.sessions.values()
    return not any(other.live and state.tasks[other.task].parks for other in sessions)


def is_unjudged(task: Task) -> bool:
    """Say whether there is work that could not be judged, because an acceptance command failed by
    the machine: it is judged again before an agent is paid for more."""
    begins = tuple(f"{Verdict.UNFIT}: {command}: " for command in task.accept)
    return task.before.startswith(begins) and not changes_nothing(task)
