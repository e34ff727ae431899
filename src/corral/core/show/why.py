"""Why a task is where it is, explained by the predicates that the rules use."""

from msgspec import Struct

from corral.core.board.claims import Obstacle, obstacles, reverted_alert
from corral.core.board.columns import column
from corral.core.board.graph import dependents
from corral.core.board.moves import moves_of
from corral.core.board.recurrence import recurs
from corral.core.config import Config
from corral.core.engine import governor
from corral.core.log.state import State, Task, TaskState
from corral.core.session.fitness import not_begun
from corral.core.session.profiles import limits_of
from corral.core.session.slots import CANNOT_OPEN, Limits, TakenSlots
from corral.core.show.queries import overlaps
from corral.core.show.queue import waits
from corral.core.show.views import OverlapView
from corral.core.text import shown


class Explanation(Struct, frozen=True):
    task: str
    state: TaskState
    column: str
    summary: str
    obstacles: list[Obstacle]
    waiting_for_it: list[str]
    moves: list[str]
    session: str = ""  # the last one
    met: list[str] = []  # what happened to that session besides its work
    overlaps: list[OverlapView] = []  # the work that it would conflict with as it is now


_SUMMARY = {
    TaskState.TODO: "is ready: anyone can claim it",
    TaskState.DOING: "is being worked on",
    TaskState.BLOCKED: "is blocked and needs help",
    TaskState.REVIEW: "was submitted and waits to land",
    TaskState.DONE: "has landed",
    TaskState.FAILED: "failed and is not retried automatically",
    TaskState.CANCELLED: "was cancelled",
}


_HELD = {  # by the code of its first obstacle
    "paused": " and waits for sessions to be resumed",
    "no_slot": " and waits for a slot",
    "pool_full": " and waits for a slot",
    "account_limited": " and waits for its engine's account",
    "no_money": ", but a budget is used up",
    "unfit": ", but this machine is not",
    "overlap": ", but is held back: it would run into a conflict",
}


def explained(state: State, task: Task, now: int, config: Config) -> Explanation:
    """Explain a task by the same facts that the witness decides on."""
    limits = limits_of(config)
    engine = config.engine.get(governor.profile_for(state, task, limits.accounts, now))
    return explain(state, task, now, limits, engine.pool if engine else "")


def explain(
    state: State, task: Task, now: int, limits: Limits | None = None, pool: str = ""
) -> Explanation:
    """Explain a task; given `limits`, also whether it waits for a slot, an account or a budget."""
    found = obstacles(state, task, now) + not_begun(state, task)
    if limits and not found:
        taken = TakenSlots(state)
        profile = governor.profile_for(state, task, limits.accounts, now)
        waits = taken.obstacle(task, pool, limits) or taken.held_up(task, profile, limits, now)
        found += [waits] if waits else _not_opened(state, task)
    return Explanation(
        task=task.id,
        state=task.state,
        column=column(state, task),
        summary=f"{task.id} {_summary(state, task, now, found)}",
        obstacles=found,
        waiting_for_it=[
            other.id
            for other in dependents(state, task.id)
            if other.state == TaskState.TODO and task.state != TaskState.DONE
        ],
        moves=[move.name for move in moves_of(task)],
        session=task.session,
        met=_met(state, task),
        overlaps=overlaps(state, task.id),
    )


def _not_opened(state: State, task: Task) -> list[Obstacle]:
    """Return why the witness could not start a session for a task that is ready."""
    alerts = [
        a.text for a in state.alerts.values() if (a.kind, a.subject) == (CANNOT_OPEN, task.id)
    ]
    hint = "fix that; the witness keeps trying"
    return [Obstacle(CANNOT_OPEN, f"{task.id} cannot be started: {said}", hint) for said in alerts]


def _met(state: State, task: Task) -> list[str]:
    """Return what happened to the last session of a task besides its work."""
    session = state.sessions.get(task.session)
    if session is None:
        return []
    found = list(session.reactions)
    if session.live:
        found += [f"asks: {session.asked}"] if session.asked else []
        asked = state.messages.get(session.waits)
        found += [f"waits for an answer to {asked.id}: {shown(asked.text)[:200]}"] if asked else []
        found += [f"is being stopped as {session.stop}: {session.detail}"] if session.stop else []
        found += [f"continues the conversation {session.resume}"] if session.resume else []
    return found


def _summary(state: State, task: Task, now: int, found: list[Obstacle]) -> str:
    if task.state is TaskState.REVIEW:
        return f"{_SUMMARY[TaskState.REVIEW]}: {waits(state, task)}"
    if task.state is TaskState.TODO and task.id in state.returned and not found:
        return f"came back from the queue and is ready for another attempt ({task.reason})"
    if task.claim is not None and task.claim.lapsed(now):
        return f"was held by {task.claim.holder}, whose claim has lapsed: anyone can take it over"
    if found and found[0].code in _HELD:
        return f"is ready{_HELD[found[0].code]}"
    if task.state == TaskState.TODO and found:
        return "cannot start yet"
    if task.state == TaskState.TODO and task.assignee:
        return f"is ready and waits for {task.assignee}, to whom it was handed off"
    if reverted_alert(state, task):
        return "has landed, and its work was reverted since"
    if task.state == TaskState.FAILED and recurs(task):
        return "failed and is retried at its next date"
    return _SUMMARY[task.state]
