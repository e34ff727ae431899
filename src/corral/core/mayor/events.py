"""What can happen in a conversation with the mayor: an engine that makes plans.

A *question* goes to the engine (the goal, what was wrong with its answer, what a person asked, a
task that failed), one *answer* comes back. Only a plan that was checked is proposed, and only a
proposed one is approved. Like all events these are facts; `core/log/events` says how they may grow.
"""

from corral.core.ids import ConvoyId, TaskId
from corral.core.log.events import Event


class MayorStarted(Event, frozen=True, kw_only=True):
    """A conversation about a goal began; `replan` says when it is asked again by itself."""

    type = "mayor.started"
    mayor: str
    goal: str
    engine: str
    replan: str = ""  # or on_failure


class MayorAsked(Event, frozen=True, kw_only=True):
    """The engine is asked something; `prompt` is all that it is told, if that is more."""

    type = "mayor.asked"
    mayor: str
    turn: int
    cause: str  # goal, question, failure; wrong and again are about the same question
    message: str
    profile: str
    prompt: str = ""
    resume: str = ""  # the engine's conversation that goes on
    task: TaskId = TaskId("")  # that has failed


class MayorAnswered(Event, frozen=True, kw_only=True):
    """A run of the engine is over: with an answer, with what is wrong with it, or in trouble."""

    type = "mayor.answered"
    mayor: str
    turn: int
    text: str = ""
    problems: tuple[str, ...] = ()
    trouble: str = ""  # why there is no answer
    used_up: bool = False  # one of the attempts
    thread: str = ""
    place: str = ""  # the tree: some engines find a conversation only where it was
    model: str = ""
    account: str = ""  # that was limited
    until_at: int = 0
    wrote: tuple[str, ...] = ()  # paths that it changed although it must not; all of it is kept
    fresh: int = 0
    cached: int = 0
    output: int = 0
    nano_usd: int = 0
    unpriced: int = 0


class MayorEnded(Event, frozen=True, kw_only=True):
    """A conversation is over, or (unanswered) one question of it is given up."""

    type = "mayor.ended"
    mayor: str
    how: str  # stopped, gave_up, unanswered
    reason: str = ""


class PlanProposed(Event, frozen=True, kw_only=True):
    """A plan that was checked waits for approval: all of it as JSON, and the tasks to cancel."""

    type = "plan.proposed"
    mayor: str
    plan: str
    tasks: int
    cancel: tuple[TaskId, ...] = ()


class PlanApproved(Event, frozen=True, kw_only=True):
    """A proposed plan was put on the board; the events of that stand before this one."""

    type = "plan.approved"
    mayor: str
    proposal: int  # the event that has it
    convoy: ConvoyId


class PlanRejected(Event, frozen=True, kw_only=True):
    """A proposed plan is not wanted."""

    type = "plan.rejected"
    mayor: str
    proposal: int
    reason: str = ""
