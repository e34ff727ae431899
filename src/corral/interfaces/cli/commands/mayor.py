"""`corral mayor …`: have an engine make a plan, talk about it, approve it."""

import gc
import sys
from typing import Any

import msgspec

from corral.core.errors import BadInput, Refused
from corral.core.ids import ConvoyId
from corral.core.mayor import commands as c
from corral.core.mayor import events as m
from corral.core.mayor import rules as mayor_rules
from corral.core.mayor.state import MayorConversation, MayorState
from corral.core.plan.report import of_plan
from corral.core.plan.schema import Plan
from corral.core.text import counted, shown
from corral.interfaces.cli import output
from corral.interfaces.cli.commands import plans
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.output import paint
from corral.interfaces.cli.parser import Options
from corral.roles.mayor.conversation import Talk

_NOBODY = "corral mayor approve, or corral mayor reject"


def talk_of(context: Context) -> Talk:
    def say(text: str) -> None:
        if not context.as_json:  # a program reads only the answer
            output.warn(text)

    place, config = context.repository, context.config
    return Talk(context.writable, place, config, actor=context.actor, say=say)


def start(context: Context, options: Options) -> None:
    """Have a plan made for a goal, or continue the current conversation."""
    goal = "" if options.task is None else _wish(context, options.task)
    command = c.StartMayor(goal=goal, engine=options.engine or "", replan=options.replan or "")
    _converse(context, command, yes=options.yes or options.headless)


def ask(context: Context, options: Options) -> None:
    """Continue the conversation with a question or a wish; the answer may change the plan."""
    _converse(context, c.AskMayor(text=_wish(context, options.text)), yes=options.yes)


def replan(context: Context, options: Options) -> None:
    """Ask about the tasks of a convoy that have failed for good, each once."""
    gc.enable()
    talk = talk_of(context)
    told = talk.replan(ConvoyId(options.convoy), yes=options.yes)
    mayor = talk.look()
    context.answer(_data(talk, mayor) | {"told": told}, lambda: _human(talk, mayor))


def approve(context: Context, options: Options) -> None:
    talk = talk_of(context)
    _answer(context, talk, talk.perform(c.ApprovePlan(proposal=talk.look().proposed_seq)))


def reject(context: Context, options: Options) -> None:
    talk = talk_of(context)
    _answer(context, talk, talk.perform(c.RejectPlan(reason=options.reason)))


def stop(context: Context, options: Options) -> None:
    talk = talk_of(context)
    mayor = talk.perform(c.StopMayor(reason=options.reason))
    context.answer(_data(talk, mayor), lambda: f"{mayor.id} was stopped")


def status(context: Context, options: Options) -> None:
    talk = talk_of(context)
    _answer(context, talk, talk.look())


def tail(context: Context, options: Options) -> None:
    """Show the last questions and answers; long texts are cut."""
    talk = talk_of(context)
    said = list(talk.said(talk.look()))[-max(0, options.turns) * 2 :]
    data = [{"type": one.type, **msgspec.to_builtins(one)} for one in said]
    context.answer(data, lambda: "\n\n".join(_spoken(one) for one in said))


def continued(context: Context, goal: str) -> ConvoyId | None:
    """Return the convoy of the newest plan, if it is for this goal and was approved."""
    known = mayor_rules.newest(context.store.state())
    same = known is not None and known.convoy and talk_of(context).goal(known) == goal
    return known.convoy if known is not None and same else None


def planned(context: Context, goal: str, options: Options) -> ConvoyId:
    """Return the convoy of the plan approved for a goal; have a plan made if there is none."""
    if (known := continued(context, goal)) is not None:
        return known
    talk = talk_of(context)
    ask = not options.yes and not options.headless
    if ask:
        plans.must_be_able_to_ask("corral run GOAL --yes")  # before a plan is paid for
    engine, replan = options.engine or "", options.replan or ""
    mayor = talk.perform(c.StartMayor(goal=goal, engine=engine, replan=replan))
    _must_have_plan(mayor)
    if mayor.state is MayorState.PROPOSED:
        if ask:
            plans.confirm(drawn(talk, mayor), "Run this?", "corral mayor approve or reject")
        mayor = talk.perform(c.ApprovePlan(proposal=mayor.proposed_seq))
    return mayor.convoy


def drawn(talk: Talk, mayor: MayorConversation) -> str:
    """Return a drawing of the plan that waits for approval, and the tasks that it cancels."""
    proposal = talk.proposal(mayor)
    if proposal is None:
        return ""
    cancel = f"\ncancelled: {', '.join(proposal.cancel)}" if proposal.cancel else ""
    return plans.drawn(of_plan(msgspec.json.decode(proposal.plan, type=Plan))) + cancel


def _converse(context: Context, command: c.MayorCommand, *, yes: bool) -> None:
    """See a conversation through, put an approved plan on the board, and say how it stands."""
    gc.enable()  # unlike other commands, this one stays
    talk = talk_of(context)
    mayor = talk.perform(command)
    _must_have_plan(mayor)
    if mayor.state is MayorState.PROPOSED and (yes or _wanted(context, talk, mayor)):
        mayor = talk.perform(c.ApprovePlan(proposal=mayor.proposed_seq))
    _answer(context, talk, mayor)


def _answer(context: Context, talk: Talk, mayor: MayorConversation) -> None:
    context.answer(_data(talk, mayor), lambda: _human(talk, mayor))


def _wanted(context: Context, talk: Talk, mayor: MayorConversation) -> bool:
    if context.as_json or not sys.stdin.isatty():
        return False  # there is nobody to ask: the plan waits
    output.say(drawn(talk, mayor))
    return plans.answered_yes("Put this on the board?")


def _must_have_plan(mayor: MayorConversation) -> None:
    if mayor.state is MayorState.GAVE_UP:
        said = f"{mayor.id} gave up, and nothing was created: {mayor.reason}"
        raise BadInput(said, "corral mayor tail shows what was said", code="bad_plan")
    if mayor.state is MayorState.STOPPED:
        raise Refused(f"{mayor.id} was stopped", 'corral mayor start --task "…"', code="mayor_over")


def _wish(context: Context, text: str) -> str:
    return mayor_rules.wish(context.read_text("-") if text == "-" else text)


def _data(talk: Talk, mayor: MayorConversation) -> dict[str, Any]:
    proposal = talk.proposal(mayor)
    return {
        "id": mayor.id,
        "state": mayor.state,
        "goal": talk.goal(mayor),
        "engine": mayor.engine,
        "replan": mayor.replan,
        "turns": mayor.turn,
        "convoy": mayor.convoy or None,
        "reason": mayor.reason,
        "answer": _last_answer(talk, mayor),
        "plan": msgspec.json.decode(proposal.plan) if proposal else None,
        "cancel": proposal.cancel if proposal else (),
        "pending": mayor.pending,
        "cost_usd": mayor.bill.usd,
        "tokens": mayor.bill.tokens,
    }


def _last_answer(talk: Talk, mayor: MayorConversation) -> str:
    last = [one for one in talk.said(mayor) if isinstance(one, m.MayorAnswered)]
    return last[-1].text if last else ""


def _human(talk: Talk, mayor: MayorConversation) -> str:
    cost = "" if not mayor.bill.tokens else ", cost unknown"
    cost = f", ${mayor.bill.usd:.4f}" if mayor.bill.usd else cost
    turns = counted(mayor.turn, "turn")
    lines = [f"{paint(mayor.id, 'bold')} {mayor.state}: {turns} with {mayor.engine}{cost}"]
    if mayor.pending:
        lines += [drawn(talk, mayor), f"waits for approval: {_NOBODY}"]
    elif mayor.convoy:
        lines.append(f"its plan is the convoy {mayor.convoy}: corral run {mayor.convoy}")
    if mayor.state is MayorState.IDLE and mayor.cause != "goal":
        lines.append(_text(_last_answer(talk, mayor), 4_000))
    if mayor.reason:
        lines.append(shown(mayor.reason))
    return "\n".join(line for line in lines if line)


def _spoken(one: m.MayorAsked | m.MayorAnswered) -> str:
    if isinstance(one, m.MayorAsked):
        return f"{paint(f'asked {one.profile} ({one.cause})', 'bold')}\n{_text(one.message)}"
    lines = [paint(f"answered {one.trouble}".strip(), "bold"), _text(one.text)]
    lines += [f"problem: {shown(problem)}" for problem in one.problems]
    if one.wrote:
        lines.append(f"changed files, which were discarded: {', '.join(map(shown, one.wrote))}")
    return "\n".join(lines)


def _text(text: str, most: int = 2_000) -> str:
    cut = text if len(text) <= most else f"{text[:most]} …"
    return "\n".join(shown(line.expandtabs()) for line in cut.split("\n"))
