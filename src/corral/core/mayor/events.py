"""Events of a conversation with the mayor, an engine that makes plans.

Each *question* to the engine (the goal, problems with its last answer, a person's question, a
failed task) gets one *answer*. Only a plan that passed the checks is proposed, and only a proposed
plan can be approved. `core/log/events` says how events may change.
"""

from corral.core.ids import ConvoyId, TaskId
from corral.core.log.events import Event


class MayorStarted(Event, frozen=True, kw_only=True):
    """A conversation about a goal began; `replan` says when to ask the engine automatically."""

    type = "mayor.started"
    mayor: str
    goal: str
    engine: str
    replan: str = ""  # or on_failure


class MayorAsked(Event, frozen=True, kw_only=True):
    """The engine was asked something; `prompt` is the full text, if it is more than `message`."""

    type = "mayor.asked"
    mayor: str
    turn: int
    cause: str  # goal, question, failure; wrong and again repeat the same question
    message: str
    profile: str
    prompt: str = ""
    resume: str = ""  # the engine's conversation to resume
    task: TaskId = TaskId("")  # the one that failed


class MayorAnswered(Event, frozen=True, kw_only=True):
    """A run of the engine ended: with an answer, an answer with problems, or an error."""

    type = "mayor.answered"
    mayor: str
    turn: int
    text: str = ""
    problems: tuple[str, ...] = ()
    trouble: str = ""  # why there is no answer
    used_up: bool = False  # whether it used up one of the attempts
    thread: str = ""
    place: str = ""  # the tree; some engines can resume only there
    model: str = ""
    account: str = ""  # the one that hit a limit
    until_at: int = 0
    wrote: tuple[str, ...] = ()  # paths it changed against the rules; the changes are kept
    fresh: int = 0
    cached: int = 0
    output: int = 0
    nano_usd: int = 0
    unpriced: int = 0


class MayorEnded(Event, frozen=True, kw_only=True):
    """A conversation ended, or (`unanswered`) one of its questions was given up."""

    type = "mayor.ended"
    mayor: str
    how: str  # stopped, gave_up, unanswered
    reason: str = ""


class PlanProposed(Event, frozen=True, kw_only=True):
    """A checked plan waits for approval: the plan as JSON, and the tasks to cancel."""

    type = "plan.proposed"
    mayor: str
    plan: str
    tasks: int
    cancel: tuple[TaskId, ...] = ()


class PlanApproved(Event, frozen=True, kw_only=True):
    """A proposed plan was put on the board, by the events just before this one."""

    type = "plan.approved"
    mayor: str
    proposal: int  # the number of the event that proposed it
    convoy: ConvoyId


class PlanRejected(Event, frozen=True, kw_only=True):
    """A proposed plan was rejected."""

    type = "plan.rejected"
    mayor: str
    proposal: int
    reason: str = ""
