"""The operations behind the routes: commands go to one writer, views come from the feed."""

import asyncio
import os
import sys
import traceback
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import msgspec

from corral.core.access import SESSION_PREFIX, Principal, admitted
from corral.core.board.commands import COMMANDS, ClaimTask, Command
from corral.core.board.offers import index
from corral.core.config import Config
from corral.core.errors import AlreadyDone, CorralError, NotYours
from corral.core.log.state import State
from corral.core.show.queries import status
from corral.interfaces.http import assets, dashboard, details, logbook, mayor, pages
from corral.interfaces.http import exchange as x
from corral.interfaces.http.exchange import Call, Reply, Send, asked, failed, ok
from corral.interfaces.http.feed import Feed
from corral.interfaces.http.guard import LOGIN, Guard
from corral.interfaces.http.history import History
from corral.interfaces.http.live import LiveData, LiveQuery, LiveStreams
from corral.interfaces.http.routes import Route, Router, for_people
from corral.interfaces.http.stream import EventsQuery, Streams
from corral.roles.secrets import Secrets
from corral.store import service
from corral.store.port import Request, events_of
from corral.store.writer import Writer
from corral.world.clock import now
from corral.world.repository import Repository

if TYPE_CHECKING:
    from corral.interfaces.http.agents import Agents

MCP = "/mcp"


@dataclass(eq=False)
class Api:
    """What the handlers work with."""

    feed: Feed
    writer: Writer
    guard: Guard
    repository: Repository
    config: Config
    url: str

    def __post_init__(self) -> None:
        feed, repository = self.feed, self.repository
        self.clock = now
        self.streams = Streams(feed)
        self.assets = assets.Assets()
        self.history = History(feed)
        self.use(self.config)
        self.live = LiveStreams(feed, self.streams, repository.folder, self.hide)
        self.mayors = mayor.Mayors(self)
        self.looking = asyncio.Lock()  # only one request at a time starts git to look at something
        self.answered: dict[int, int] = {}  # by HTTP status
        self._acknowledged = 0
        self._status: tuple[int, bytes] = (-1, b"")

    def use(self, config: Config) -> None:
        """Take over the settings; those of the server itself apply when it starts."""
        self.config = config
        self.secrets = Secrets(config, os.environ)
        self._defaults = service.Defaults(config.board.claim_ttl_s, self.repository.branch)

    def hide(self, text: str) -> str:
        """Return a text without the secrets of the settings as they are now."""
        return self.secrets.hide(text)

    async def caught_up(self) -> None:
        """Wait until views include everything that anybody has acknowledged."""
        await self.feed.reach(self._acknowledged)  # also if the log could not be sealed
        await self.feed.up_to_date()

    def status(self, who: Principal) -> bytes:
        """Return the whole status in its envelope; the one for people is made once per event."""
        if who.session:
            return ok(status(self.feed.state, who)).body
        if self._status[0] != self.feed.state.seq:
            self._status = (self.feed.state.seq, ok(status(self.feed.state, who)).body)
        return self._status[1]

    async def perform(self, who: Principal, command: Command, key: str = "") -> dict[str, Any]:
        """Carry out a command for a caller, through the one writer."""

        def admit(state: State, asked: Command) -> Command:
            if isinstance(asked, ClaimTask):
                index(state)
            return admitted(state, who, asked)

        request = service.request(command, who.name, key=key, defaults=self._defaults, admit=admit)
        try:
            data: dict[str, Any] = await self.ask(request)
        except AlreadyDone as done:
            await self.feed.reach(done.seq)
            data = request.answer(self.feed.state, events_of(self.feed.store, done.seq))
        self._acknowledged = max(self._acknowledged, data.get("seq", 0))
        return data

    async def ask(self, request: Request[Any]) -> Any:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()

        def told(said: Any) -> None:
            loop.call_soon_threadsafe(_settle, future, said)

        self.writer.submit(request, told)
        return await future


def _settle(future: "asyncio.Future[Any]", said: Any) -> None:
    if future.cancelled():
        return
    if isinstance(said, BaseException):
        future.set_exception(said)
    else:
        future.set_result(said)


async def command(api: Api, call: Call) -> Reply:
    """Carry out the command that the address names."""
    name = call.path.removeprefix("/api/").replace("/", " ")
    found: Command = await x.wanted(call, COMMANDS[name])
    return ok(await api.perform(call.principal, found, x.request_key(call)))


class Ticket(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Nothing is asked for."""


class Link(msgspec.Struct, frozen=True):
    url: str


async def ticket(api: Api, call: Call) -> Reply:
    await x.wanted(call, Ticket)
    return ok(Link(f"{api.url}{LOGIN}?ticket={api.guard.ticket()}"))


class LoginQuery(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    ticket: str


async def login(api: Api, call: Call) -> Reply:
    query: LoginQuery = asked(call, LoginQuery)
    cookie = api.guard.cookie(api.guard.redeem(query.ticket))
    return Reply(b"", 303, ((b"location", b"/"), (b"set-cookie", cookie)), b"text/plain")


async def openapi(api: Api, call: Call) -> Reply:
    from corral.interfaces.http.openapi import document

    return Reply(document(ROUTER.routes))


async def metrics(api: Api, call: Call) -> Reply:
    from corral.interfaces.http.metrics import exposition

    return Reply(exposition(api), kind=b"text/plain; version=0.0.4; charset=utf-8")


async def _streamed(api: Api, call: Call) -> Reply:
    raise AssertionError("streams are served by their own code")


COMMAND_ROUTES = [
    Route(
        f"/api/{name.replace(' ', '/')}",
        " ".join((kind.__doc__ or "").split()),
        command,
        body=kind,
        keyed=True,
    )
    for name, kind in COMMANDS.items()
]
EVENTS = Route(
    "/api/events",
    "the log as Server-Sent Events; Last-Event-ID continues after an event",
    _streamed,
    query=EventsQuery,
    kind="text/event-stream",
)
LIVE = for_people(
    "/api/live",
    "the board, then what changes, as Server-Sent Events (see `LiveData`)",
    _streamed,
    LiveData,
    LiveQuery,
    kind="text/event-stream",
)
ROUTER = Router(
    [
        *COMMAND_ROUTES,
        *pages.VIEWS,
        *logbook.ROUTES,
        *dashboard.ROUTES,
        *details.ROUTES,
        *mayor.ROUTES,
        EVENTS,
        LIVE,
        for_people("/api/tickets", "a link that opens a browser, once", ticket, Link, body=Ticket),
        Route("/api/openapi.json", "this document", openapi, kind="application/json"),
        for_people("/metrics", "figures for Prometheus", metrics, kind="text/plain"),
        Route(
            LOGIN,
            "change the ticket of a one-time link for a cookie",
            login,
            query=LoginQuery,
            kind="text/plain",
        ),
    ]
)


class Application:
    """The ASGI application: the guard, then the route, then the envelope."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._agents: Agents | None = None
        self._loading = asyncio.Lock()

    async def stop(self) -> None:
        if self._agents is not None:
            await self._agents.stop()

    async def _load_agents(self) -> "Agents":
        """Import what agents need when the first of them calls, without blocking others."""
        async with self._loading:
            if self._agents is None:
                module = await asyncio.to_thread(import_module, "corral.interfaces.http.agents")
                self._agents = module.Agents(self._api)
        return self._agents

    async def __call__(self, scope: x.Scope, receive: x.Receive, send: Send) -> None:
        call = Call(scope, receive)
        started = False

        async def sending(message: Any) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                status = message["status"]
                self._api.answered[status] = self._api.answered.get(status, 0) + 1
            await send(message)

        try:
            reply = await self._handle(call, sending)
        except CorralError as error:
            if not started:  # the rest of a refused body is not read
                refused = assets.refusal if assets.wants_page(call) else failed
                await x.answer(sending, refused(error), close=error.http_status in (408, 413))
            return
        except Exception as error:  # a border: the caller is told, and the server goes on
            traceback.print_exception(error, file=sys.stderr)
            if started:
                raise
            reply = failed(CorralError("something unexpected happened", code="unexpected"))
        if reply is not None:
            await x.answer(sending, reply)

    async def _handle(self, call: Call, send: Send) -> Reply | None:
        api = self._api
        api.guard.check_place(call)
        if call.method == "GET" or SESSION_PREFIX in call.header(b"authorization"):
            await api.caught_up()  # the log also says which sessions there are
        if call.path != LOGIN:
            call.principal = api.guard.identify(call, api.feed.state)
        if call.path == MCP:
            api.guard.check_body(call)
            received = await call.received() if call.method == "POST" else call.receive
            agents = self._agents or await self._load_agents()
            await agents.serve(call, received, send)
            return None
        if api.assets.serves(call) and not call.principal.session:
            return await api.assets.reply(call)
        route = ROUTER.find(call)
        if route.people_only and call.principal.session:
            raise NotYours("this is for people only")
        api.guard.check_body(call)
        if route.kind == "text/event-stream":
            await (api.live if route is LIVE else api.streams).serve(call, send)
            return None
        if route.query.__struct_fields__ == ():
            asked(call, route.query)
        return await route.handler(api, call)
