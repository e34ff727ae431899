"""Conversations with the mayor over HTTP: what was said, and saying something.

`roles/mayor` carries out what is asked for, in a thread of its own, because an engine may take
minutes. The caller is answered once the question stands in the log, or is refused; everything that
follows is in the log. If the work fails later, an alert says why. The engine does not depend on the
server: if the server is killed, the next one takes over the run.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from threading import Event
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from corral.core.access import Principal
from corral.core.board.commands import RaiseAlert
from corral.core.copies import filled
from corral.core.engine.bill import NANO
from corral.core.errors import AlreadyDone, BadInput, CorralError, NotFound, Refused
from corral.core.log.codec import Stored, decode, event_of
from corral.core.log.requests import keyed as by_key
from corral.core.log.requests import refuse_again
from corral.core.log.state import State
from corral.core.mayor import commands as c
from corral.core.mayor import events as m
from corral.core.mayor import rules as mayor_rules
from corral.core.mayor.state import MayorConversation, MayorState
from corral.core.plan.apply import keyed
from corral.core.plan.edges import Edge
from corral.core.plan.order import Critical
from corral.core.plan.prompt import words_of
from corral.core.plan.report import of_plan
from corral.core.plan.schema import Plan
from corral.core.show.rows import Cost
from corral.core.text import LINE, cut
from corral.interfaces.http.dashboard import BoardQuery, moment
from corral.interfaces.http.exchange import Call, Reply, asked, ok, request_key, wanted
from corral.interfaces.http.routes import Route, for_people
from corral.store.sqlite import SqliteStore
from corral.world import settings

if TYPE_CHECKING:
    from corral.interfaces.http.api import Api
    from corral.roles.mayor.conversation import Talk

_ACTOR = Principal("mayor")
_THREADS = 4  # one works, and others wait for their turn or are refused
_BEGINS_S = 20.0  # within this time a question stands in the log
_ENDING_S = 15.0  # for engines to be stopped when the server stops


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
    seq: int


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
        asked = ("asked", event.message, words_of(event.message), event.cause)
        return Spoken(*about, *asked, profile=event.profile, task=event.task)
    assert isinstance(event, m.MayorAnswered)
    cost = Cost(event.fresh, event.cached, event.output, event.nano_usd / NANO, event.unpriced)
    spoken = Spoken(*about, "answered", event.text, cost=cost, problems=event.problems)
    return replace(spoken, trouble=event.trouble, wrote=event.wrote)


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


def _now(state: State) -> Reply:
    mayor = mayor_rules.current(state)
    return ok(filled(MayorNow, mayor, turns=mayor.turn, seq=state.seq))


class Mayors:
    """The work for callers over HTTP, one thread for each command."""

    def __init__(self, api: "Api") -> None:
        self._api = api
        self._threads = ThreadPoolExecutor(_THREADS, "corral-mayor")
        self._working: dict[asyncio.Future[int], Event] = {}
        self._later: set[asyncio.Future[None]] = set()

    async def perform(self, who: Principal, command: c.MayorCommand, key: str) -> Reply:
        """Answer once a command has had an effect, is over, or is refused.

        A command that was carried out before, by its key, is answered with how things stand now.
        """
        await self._api.caught_up()
        state = self._api.feed.state
        try:
            if key:
                refuse_again(state, who.name, key)
        except AlreadyDone:
            return _now(state)
        seen = asyncio.ensure_future(self._changed(mayor_rules.newest(state)))
        work = self._begin(who, command, key)
        try:
            await asyncio.wait((work, seen), timeout=_BEGINS_S, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                await self._api.feed.reach(work.result())
            elif not seen.done():
                self._working[work].set()
                raise Refused("the mayor did not start in time and was stopped")
        finally:
            seen.cancel()
            if not work.done():
                self._see_through(work)
        return _now(self._api.feed.state)

    def take_over(self) -> None:
        """Go on with a run of an engine if the process that waited for it was killed."""
        mayor = mayor_rules.newest(self._api.feed.state)
        if mayor is not None and mayor.state is MayorState.ASKING:
            self._see_through(self._begin(_ACTOR, None, ""))

    async def stop(self) -> None:
        """End the work and its engine; the conversation goes on when somebody asks for that."""
        for stopping in self._working.values():
            stopping.set()
        if self._later:
            await asyncio.wait(self._later, timeout=_ENDING_S)

    def _begin(
        self, who: Principal, command: c.MayorCommand | None, key: str
    ) -> "asyncio.Future[int]":
        loop, stopping = asyncio.get_running_loop(), Event()
        work = loop.run_in_executor(
            self._threads, self._carry_out, who.name, command, key, stopping
        )
        self._working[work] = stopping
        work.add_done_callback(self._working.pop)
        return work

    def _carry_out(
        self, actor: str, command: c.MayorCommand | None, key: str, stopping: Event
    ) -> int:
        """Work in a thread, on a store of its own; return how long the log is then."""
        kind = import_module("corral.roles.mayor.conversation").Talk
        place, store = self._api.repository, SqliteStore(self._api.repository.folder)
        config = settings.of_repository(place)
        try:
            talk: Talk = kind(
                store, place, config, actor=actor, say=lambda _: None, key=key, stopping=stopping
            )
            if command is not None:
                talk.perform(command)
            elif talk.unattended():
                talk.go_on()
        except (AlreadyDone, KeyboardInterrupt):
            pass  # the same request came twice at once, or the work was to end
        finally:
            seq = store.state().seq
            store.close()
        return seq

    async def _changed(self, before: MayorConversation | None) -> None:
        while mayor_rules.newest(self._api.feed.state) == before:
            await self._api.feed.tick.wait()

    def _see_through(self, work: "asyncio.Future[int]") -> None:
        task = asyncio.ensure_future(self._ended(work))
        self._later.add(task)
        task.add_done_callback(self._later.discard)

    async def _ended(self, work: "asyncio.Future[int]") -> None:
        """Raise an alert if work fails after its caller was answered."""
        try:
            await work
        except CorralError as error:
            told = RaiseAlert(kind="mayor", subject="mayor", text=cut(error.message, LINE))
            await self._api.perform(_ACTOR, told)


async def command(api: "Api", call: Call) -> Reply:
    """Carry out the command that the address names."""
    kind = next(route.body for route in ROUTES if route.path == call.path and route.body)
    found: c.MayorCommand = await wanted(call, kind)
    if isinstance(found, c.StartMayor) and found.engine not in ("", *api.config.engine):
        raise BadInput(f"there is no engine profile {found.engine!r}", "GET /api/health")
    return await api.mayors.perform(call.principal, found, by_key(request_key(call), found))


def _write(kind: type[c.MayorCommand], summary: str) -> Route:
    path = f"/api/{kind.name.replace(' ', '/')}"
    return for_people(path, summary, command, MayorNow, body=kind, keyed=True)


ROUTES = (
    for_people(
        "/api/mayors/{mayor}",
        "what was said in a conversation with the mayor, and its newest plan",
        conversation,
        Conversation,
        BoardQuery,
    ),
    _write(c.StartMayor, "have a plan made, or continue the conversation"),
    _write(c.AskMayor, "ask, or say what is to change"),
    _write(c.ApprovePlan, "put the proposed plan on the board"),
    _write(c.RejectPlan, "reject the proposed plan"),
    _write(c.StopMayor, "end the conversation and its engine"),
)
