"""Decisions about conversations with the mayor, for its commands and its engine runs."""

from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

from corral.core import text
from corral.core.board import commands as c
from corral.core.board.rules import decide
from corral.core.engine.bill import DAY_MS, NANO, Bill, nano
from corral.core.engine.money import Budgets, Sums
from corral.core.errors import BadInput, NotFound, Refused
from corral.core.ids import ConvoyId, TaskId
from corral.core.log import events as e
from corral.core.log.state import State, Task, TaskState
from corral.core.mayor import events as m
from corral.core.mayor.state import MayorConversation, MayorState
from corral.core.plan.amend import MayorReply
from corral.core.plan.apply import applied, find_convoy, unstarted
from corral.core.plan.schema import Plan

_PROBLEMS = 50

Decision = Sequence[e.Event]


def newest(state: State) -> MayorConversation | None:
    return next(reversed(state.mayors.values()), None)


def current(state: State) -> MayorConversation:
    """Return the conversation that commands are about: the newest one."""
    found = newest(state)
    if found is None:
        said = "there is no conversation with the mayor yet"
        raise NotFound(said, 'corral mayor start --task "…"')
    return found


def of_convoy(state: State, convoy: ConvoyId) -> MayorConversation | None:
    """Return the newest conversation that a convoy comes from."""
    found = (one for one in reversed(state.mayors.values()) if one.convoy == convoy)
    return next(found, None)


def wish(said: str) -> str:
    """Return what a person wants of the mayor; refuse a text with nothing in it."""
    if not said.strip():
        raise BadInput("the text is empty: say what is wanted")
    return text.prose(said.strip(), "the text", text.BRIEF)


def start(state: State, goal: str, engine: str, replan: str) -> Decision:
    """Begin a conversation, unless another one is still open."""
    if replan not in ("", "on_failure"):
        raise BadInput("replan must be on_failure or empty")
    last = newest(state)
    if last is not None and (last.busy or last.state is MayorState.PROPOSED):
        raise Refused(
            f"{last.id} is {last.state}: one conversation at a time; nothing was changed",
            "corral mayor status, then mayor start without --task, approve, reject or stop",
            code="mayor_busy",
        )
    said = text.prose(goal, "the goal", text.BRIEF)
    name = f"mayor-{len(state.mayors) + 1}"
    return [m.MayorStarted(mayor=name, goal=said, engine=engine, replan=replan)]


def ask(state: State, mayor: str, asked: m.MayorAsked) -> Decision:
    """Ask a question, unless the engine is busy with another one."""
    found = state.mayors[mayor]
    if found.state is MayorState.ASKING or found.over:
        raise Refused(f"{mayor} is {found.state}; nothing was asked", code="mayor_busy")
    return [replace(asked, mayor=mayor, turn=found.turn + 1)]


def answer(
    state: State, answered: m.MayorAnswered, reply: MayorReply | None, attempts: int
) -> Decision:
    """Record how a run of the engine ended, and what follows from it."""
    found = state.mayors[answered.mayor]
    if found.turn != answered.turn or found.answered_seq > found.asked_seq:
        return []  # another process has recorded it
    if found.over:
        return [replace(answered, trouble="stopped")]  # its cost still counts
    told = tuple(str(problem) for problem in reply.problems[:_PROBLEMS]) if reply else ()
    made: list[e.Event] = [replace(answered, problems=told)]
    if reply is not None and reply.plan is not None:
        made.append(_proposal(answered.mayor, reply.plan, reply.cancel))
    elif (told or answered.trouble) and found.used + answered.used_up >= attempts:
        how = "gave_up" if found.cause == "goal" else "unanswered"
        why = told[0] if told else f"{answered.trouble}: {answered.text}"
        said = f"no usable plan after {text.counted(attempts, 'attempt')}: {why}"
        reason = text.cut(said, text.LINE)
        made.append(m.MayorEnded(mayor=answered.mayor, how=how, reason=reason))
    return made


def _proposal(mayor: str, plan: Plan, cancel: tuple[TaskId, ...]) -> m.PlanProposed:
    written = msgspec.json.encode(plan).decode()
    return m.PlanProposed(mayor=mayor, plan=written, tasks=len(plan.tasks), cancel=cancel)


def approve(
    state: State, proposal: m.PlanProposed, seq: int, *, base: str, actor: str, now: int
) -> Decision:
    """Put a proposed plan on the board: add its tasks, cancel what it drops, approve it."""
    mayor = proposal.mayor
    found = state.mayors[mayor]
    if found.state is not MayorState.PROPOSED or found.proposed_seq != seq:
        raise Refused(f"no plan of {mayor} waits for approval", "corral mayor status")
    plan = msgspec.json.decode(proposal.plan, type=Plan)
    convoy = replace(plan.convoy, slug=found.convoy or plan.convoy.slug)
    plan = replace(plan, convoy=replace(convoy, base=convoy.base or base))
    events = list(applied(state, plan, actor, now))
    for name in proposal.cancel:
        task = state.tasks[name]
        if not unstarted(task) and task.state is not TaskState.FAILED:
            raise Refused(
                f"{name} is now in state {task.state} and cannot be cancelled; nothing was changed",
                'corral mayor ask "make a new plan"',
                code="plan_outdated",
            )
        command = c.CancelTask(task=name, reason=f"the plan of {mayor} no longer includes it")
        events += decide(state, command, actor, now)
    known = find_convoy(state, plan)
    made = [one.convoy for one in events if isinstance(one, e.ConvoyCreated)]
    (convoy_id,) = made or ([known.id] if known else [])
    return [*events, m.PlanApproved(mayor=mayor, proposal=seq, convoy=convoy_id)]


def reject(state: State, mayor: str, reason: str) -> Decision:
    found = state.mayors[mayor]
    if found.state is not MayorState.PROPOSED:
        raise Refused(f"no plan of {mayor} waits for approval", "corral mayor status")
    said = text.line(reason, "the reason", empty=True)
    return [m.PlanRejected(mayor=mayor, proposal=found.proposed_seq, reason=said)]


def stop(state: State, mayor: str, reason: str) -> Decision:
    found = state.mayors[mayor]
    if found.over:
        raise Refused(f"{mayor} has ended", "corral mayor status")
    said = text.line(reason, "the reason", empty=True)
    return [m.MayorEnded(mayor=mayor, how="stopped", reason=said)]


def over(state: State, mayor: MayorConversation, running: Bill, budgets: Budgets, now: int) -> str:
    """Return which budget is used up; a conversation counts as a task and towards its convoy."""
    sums = Sums(state, now)
    new = running.nano_usd
    convoy = sums.convoys.get(mayor.convoy, 0) if mayor.convoy else mayor.bill.nano_usd
    limits = (
        (budgets.of_task(mayor.profile or mayor.engine), "the mayor", mayor.bill.nano_usd),
        (budgets.convoy_usd, f"the convoy {mayor.convoy}".strip(), convoy),
        (budgets.day_usd, "today", state.days.get(now // DAY_MS, Bill()).nano_usd),
    )
    for usd, name, spent in limits:
        if usd > 0 and spent + new >= nano(usd):
            return f"{name} has cost ${(spent + new) / NANO:.4f} of ${usd:g}"
    return ""


def untold(state: State, mayor: MayorConversation, most: int) -> Task | None:
    """Return a task that has failed for good and that the mayor was not asked about yet."""
    if mayor.over or len(mayor.told) >= most:
        return None
    tasks = (task for task in state.tasks.values() if task.convoy == mayor.convoy)
    failed = (task for task in tasks if task.state is TaskState.FAILED)
    # A task that exceeded its budget is not planned again: that would cost even more.
    found = (t for t in failed if t.id not in mayor.told and not t.reason.startswith("over_budget"))
    return next(found, None)


def standing(tasks: Iterable[Task]) -> list[str]:
    """Return a line about the state of each task, for the engine that may change it."""
    return [text.cut(f"{task.key or task.id} ({task.id}): {_now(task)}", 300) for task in tasks]


def _now(task: Task) -> str:
    if unstarted(task):
        return "not started"
    return f"{task.state}{': ' if task.reason else ''}{task.reason}"
