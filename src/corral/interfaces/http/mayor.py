"""Conversations with the mayor over HTTP: what was said, and saying something.

The engine is run by the same command that people use (`corral mayor …`), as a process of its own:
it may take minutes. Whoever asked is answered once the question stands in the log, or is refused;
what comes of it is in the log. If the command fails after that, an alert says why.
"""

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar
from typing import Annotated as A

import msgspec
from msgspec import Meta, Struct

from corral.core.access import Principal
from corral.core.board import commands as c
from corral.core.engine.bill import NANO
from corral.core.errors import AlreadyDone, BadInput, CorralError, Failed, NotFound, Refused
from corral.core.log.codec import Stored, decode, event_of
from corral.core.log.requests import keyed as by_key
from corral.core.log.requests import refuse_again
from corral.core.log.state import State
from corral.core.mayor import events as m
from corral.core.mayor import rules as mayor_rules
from corral.core.mayor.state import MayorConversation
from corral.core.plan.apply import keyed
from corral.core.plan.edges import Edge
from corral.core.plan.order import Critical
from corral.core.plan.prompt import words_of
from corral.core.plan.report import of_plan
from corral.core.plan.schema import Plan
from corral.core.show.rows import Cost
from corral.core.text import LINE, cut, line
from corral.interfaces.http.dashboard import BoardQuery, moment
from corral.interfaces.http.exchange import Call, Reply, asked, ok, request_key, wanted
from corral.interfaces.http.routes import Route
from corral.store.port import Request

if TYPE_CHECKING:
    from corral.interfaces.http.api import Api

_BEGINS_S = 20.0  # a question stands in the log by then
_KNOWN_S = 2.0  # what a command that is over has written is seen here by then
_TEXT = 100_000
_SEQ = 1 << 53  # more than any log has
_KINDS: dict[int, type[CorralError]] = {1: Failed, 2: BadInput, 4: NotFound}  # by exit code


class Body(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: ClassVar[str] = ""


class StartMayor(Body, frozen=True, kw_only=True):
    """Begin a conversation about a goal; without one, go on with the one that there is."""

    name = "mayor start"
    goal: A[str, Meta(max_length=_TEXT, description="what is to be done")] = ""
    engine: A[str, Meta(description="the profile that makes the plan")] = ""
    replan: A[str, Meta(description="on_failure: it is asked again by itself")] = ""


class AskMayor(Body, frozen=True, kw_only=True):
    """Ask, or say what is to change in the plan."""

    name = "mayor ask"
    text: A[str, Meta(min_length=1, max_length=_TEXT, description="what to say")]


class ApprovePlan(Body, frozen=True, kw_only=True):
    """Put the plan on the board that was looked at."""

    name = "mayor approve"
    proposal: A[int, Meta(ge=1, le=_SEQ, description="the event that proposed it: proposed_seq")]


class RejectPlan(Body, frozen=True, kw_only=True):
    """Reject the proposed plan."""

    name = "mayor reject"
    reason: A[str, Meta(max_length=LINE, description="why, in one line")] = ""


class StopMayor(Body, frozen=True, kw_only=True):
    """End the conversation and its engine."""

    name = "mayor stop"
    reason: A[str, Meta(max_length=LINE, description="why, in one line")] = ""


class Spoken(Struct, frozen=True):
    """A question or an answer."""

    seq: int
    at: int
    actor: str
    kind: str  # asked or answered
    text: str
    words: str = ""  # of a question: what a person said
    cause: str = ""  # of a question: goal, question, failure, wrong, again
    profile: str = ""  # who is asked
    task: str = ""  # that the question is about
    problems: tuple[str, ...] = ()  # of an answer: why it cannot be used
    trouble: str = ""  # why there is no answer
    wrote: tuple[str, ...] = ()
    cost: Cost = Cost()


class Proposal(Struct, frozen=True):
    """A plan, with the needs that follow from it."""

    seq: int
    at: int
    pending: bool
    plan: Plan
    edges: tuple[Edge, ...]
    waves: tuple[tuple[str, ...], ...]
    critical: Critical | None
    cancel: tuple[str, ...]
    tasks: dict[str, str]  # those that are on the board, by key


class Conversation(Struct, frozen=True):
    id: str
    goal: str
    said: list[Spoken]
    proposal: Proposal | None  # the newest one


class MayorNow(Struct, frozen=True):
    """How the conversation stands after what was asked for."""

    id: str
    state: str
    turns: int
    pending: bool
    convoy: str


async def conversation(api: "Api", call: Call) -> Reply:
    state, _ = await moment(api, asked(call, BoardQuery))
    mayor = state.mayors.get(call.params["mayor"])
    if mayor is None:
        raise NotFound("there is no such conversation", "GET /api/board")
    return ok(await asyncio.to_thread(_conversation, api, state, mayor))


def _conversation(api: "Api", state: State, mayor: MayorConversation) -> Conversation:
    goal = event_of(decode(_stored(api, mayor.goal_seq).line))
    return Conversation(
        id=mayor.id,
        goal=str(getattr(goal, "goal", "")),
        said=[_spoken(_stored(api, seq)) for seq in mayor.said],
        proposal=_proposal(api, state, mayor) if mayor.proposed_seq else None,
    )


def _stored(api: "Api", seq: int) -> Stored:
    return next(api.feed.store.read(seq - 1, 1))


def _spoken(stored: Stored) -> Spoken:
    record = decode(stored.line)
    event = event_of(record)
    about = (stored.seq, record.at, record.actor)
    if isinstance(event, m.MayorAsked):
        return Spoken(
            *(*about, "asked", event.message, words_of(event.message), event.cause),
            profile=event.profile,
            task=event.task,
        )
    assert isinstance(event, m.MayorAnswered)
    cost = Cost(event.fresh, event.cached, event.output, event.nano_usd / NANO, event.unpriced)
    return Spoken(
        *about,
        "answered",
        event.text,
        problems=event.problems,
        trouble=event.trouble,
        wrote=event.wrote,
        cost=cost,
    )


def _proposal(api: "Api", state: State, mayor: MayorConversation) -> Proposal:
    stored = _stored(api, mayor.proposed_seq)
    record = decode(stored.line)
    event = event_of(record)
    assert isinstance(event, m.PlanProposed)
    plan = msgspec.json.decode(event.plan, type=Plan)
    report = of_plan(plan)
    known = keyed(state, mayor.convoy) if mayor.convoy else {}
    return Proposal(
        seq=stored.seq,
        at=record.at,
        pending=mayor.pending,
        plan=plan,
        edges=report.graph.edges if report.graph else (),
        waves=report.waves,
        critical=report.critical,
        cancel=event.cancel,
        tasks={key: task.id for key, task in known.items()},
    )


async def start(api: "Api", call: Call) -> Reply:
    found, key = await _asked(call, StartMayor)
    if found.engine and found.engine not in api.config.engine:
        raise BadInput(f"there is no engine profile {found.engine!r}", "GET /api/health")
    if found.replan not in ("", "on_failure"):
        raise BadInput("replan is on_failure, or nothing")
    words = ["start"]
    if not api.config.engine:
        raise NotFound("no engine is configured that could make a plan", "corral engine list")
    if found.goal.strip():
        words += ["--task=-"]
        words += [f"--engine={found.engine}"] * bool(found.engine)
        words += [f"--replan={found.replan}"] * bool(found.replan)
    return await api.mayors.tell(call.principal, words, found.goal, key=key)


async def ask(api: "Api", call: Call) -> Reply:
    found, key = await _asked(call, AskMayor)
    mayor_rules.current(api.feed.state)
    return await api.mayors.tell(call.principal, ["ask", "-"], found.text, key=key)


async def approve(api: "Api", call: Call) -> Reply:
    found, key = await _asked(call, ApprovePlan)
    who, seq = call.principal, found.proposal
    rows = await asyncio.to_thread(lambda: list(api.feed.store.read(seq - 1, 1)))
    proposal = event_of(decode(rows[0].line)) if rows else None
    if not isinstance(proposal, m.PlanProposed):
        raise Refused(f"event {seq} does not propose a plan", "GET /api/board")
    base = api.repository.branch()

    def decide(state: State, now: int) -> mayor_rules.Decision:
        return mayor_rules.approve(state, proposal, seq, base=base, actor=who.name, now=now)

    def answer(state: State, stored: Sequence[Stored]) -> tuple[int, MayorNow]:
        return stored[-1].seq, _now(state.mayors[proposal.mayor])

    try:
        last, standing = await api.ask(Request(who.name, decide, answer, key))
    except AlreadyDone as done:
        await api.feed.reach(done.seq)
        return ok(_now(api.feed.state.mayors[proposal.mayor]))
    await api.feed.reach(last)
    return ok(standing)


async def reject(api: "Api", call: Call) -> Reply:
    found, key = await _asked(call, RejectPlan)
    return await api.mayors.tell(call.principal, ["reject", _because(found.reason)], key=key)


async def stop(api: "Api", call: Call) -> Reply:
    found, key = await _asked(call, StopMayor)
    return await api.mayors.tell(call.principal, ["stop", _because(found.reason)], key=key)


def _because(reason: str) -> str:
    return f"--reason={line(reason, 'the reason', empty=True)}"


async def _asked(call: Call, kind: type[Any]) -> tuple[Any, str]:
    """Return what is wanted, and the key of the request as it is stored."""
    found = await wanted(call, kind)
    return found, by_key(request_key(call), found)


def _now(mayor: MayorConversation) -> MayorNow:
    return MayorNow(mayor.id, mayor.state, mayor.turn, mayor.pending, mayor.convoy)


class Mayors:
    """The commands that run for somebody who asked over HTTP."""

    def __init__(self, api: "Api") -> None:
        self._api = api
        self._running: dict[asyncio.Task[None], Process] = {}

    def stop(self) -> None:
        """End the commands; the conversation goes on when somebody asks for it."""
        for task, process in list(self._running.items()):
            task.cancel()
            if process.returncode is None:
                process.terminate()

    async def tell(
        self, who: Principal, words: list[str], text: str = "", *, key: str = ""
    ) -> Reply:
        """Run a command, and answer once it has an effect, is over, or is refused.

        One that was carried out before, by its key, is answered with how things stand now.
        """
        await self._api.caught_up()
        state = self._api.feed.state
        try:
            if key:
                refuse_again(state, who.name, key)
        except AlreadyDone:
            return ok(_now(mayor_rules.current(state)))
        before = mayor_rules.newest(state) if text else mayor_rules.current(state)
        process = await self._start(who, words, key)
        ended = asyncio.ensure_future(process.communicate(text.encode()))
        watched = asyncio.ensure_future(self._changed(before))
        task = asyncio.ensure_future(self._see_through(who, ended, process, watched))
        self._running[task] = process
        task.add_done_callback(self._running.pop)
        await asyncio.wait((ended, watched), timeout=_BEGINS_S, return_when=asyncio.FIRST_COMPLETED)
        if ended.done():
            error = _error(process, ended.result()[0])
            if error is not None:
                watched.cancel()
                raise error
            await asyncio.wait((watched,), timeout=_KNOWN_S)
            watched.cancel()
        elif not watched.done():
            watched.cancel()
            process.terminate()
            raise Refused("the mayor's command did not begin in time; it was ended")
        return ok(_now(mayor_rules.current(self._api.feed.state)))

    async def _start(self, who: Principal, words: list[str], key: str) -> Process:
        place = self._api.repository.worktree
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "corral", "--json", f"--repo={place}", f"--as={who.name}"),
            *("mayor", *words),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            start_new_session=True,
            cwd="/",
            env=os.environ | {"CORRAL_REQUEST": key},
        )

    async def _changed(self, before: MayorConversation | None) -> None:
        while mayor_rules.newest(self._api.feed.state) == before:
            await self._api.feed.tick.wait()

    async def _see_through(
        self,
        who: Principal,
        ended: "asyncio.Future[tuple[bytes, bytes]]",
        process: Process,
        watched: "asyncio.Future[None]",
    ) -> None:
        """Raise an alert if a command fails after it was answered for."""
        said, _ = await asyncio.shield(ended)
        error = _error(process, said)
        if error is not None and watched.done() and not watched.cancelled():
            told = c.RaiseAlert(kind="mayor", subject="mayor", text=cut(error.message, LINE))
            await self._api.perform(who, told)


class _Answer(Struct):
    ok: bool = False
    error: dict[str, str] = msgspec.field(default_factory=dict)


def _error(process: Process, said: bytes) -> CorralError | None:
    """Return what a command refused with."""
    if process.returncode == 0:
        return None
    try:
        told = msgspec.json.decode(said.strip().rpartition(b"\n")[2], type=_Answer).error
    except msgspec.MsgspecError:
        told = {}
    if told.get("code") == AlreadyDone.code:
        return None  # by the same request, which was asked twice at once
    message = told.get("message", f"the mayor's command ended with {process.returncode}")
    kind = _KINDS.get(process.returncode or 0, Refused)
    return kind(message, told.get("hint", ""), code=told.get("code") or "mayor_failed")


def _write(path: str, summary: str, handler: Any, body: type[Struct]) -> Route:
    return Route(
        method="POST",
        path=path,
        summary=summary,
        handler=handler,
        body=body,
        answer=MayorNow,
        people_only=True,
        keyed=True,
    )


ROUTES = (
    Route(
        method="GET",
        path="/api/mayors/{mayor}",
        summary="what was said in a conversation with the mayor, and its newest plan",
        handler=conversation,
        answer=Conversation,
        query=BoardQuery,
        people_only=True,
    ),
    _write("/api/mayor/start", "have a plan made, or go on with it", start, StartMayor),
    _write("/api/mayor/ask", "ask, or say what is to change", ask, AskMayor),
    _write("/api/mayor/approve", "put the proposed plan on the board", approve, ApprovePlan),
    _write("/api/mayor/reject", "do not take the proposed plan", reject, RejectPlan),
    _write("/api/mayor/stop", "end the conversation and its engine", stop, StopMayor),
)
