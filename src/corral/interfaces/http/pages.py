"""The views over HTTP: each handler asks one query of the state at one moment, and encodes it."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any
from typing import Annotated as A

from msgspec import Meta, Struct

from corral.core import access
from corral.core.access import Principal, visible
from corral.core.board.rules import find_convoy
from corral.core.copies import filled
from corral.core.engine import money
from corral.core.errors import NotFound
from corral.core.ids import SessionId
from corral.core.log.state import Session, State
from corral.core.show import details, queries, reasons
from corral.core.show import views as v
from corral.core.show.overview import Overview, overview
from corral.core.show.queue import QueueView, queue
from corral.core.show.why import Explanation, explained
from corral.interfaces.http.exchange import Call, Headers, Reply, asked, has_already, ok
from corral.interfaces.http.routes import Route, for_people
from corral.roles.locks import taken
from corral.roles.records import earlier
from corral.store.port import record_at
from corral.world import settings

if TYPE_CHECKING:
    from corral.interfaces.http.api import Api

ROLES = ("server", "witness", "refinery", "deacon")


class TasksQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    state: A[str, Meta(description="only tasks in this column")] = ""
    convoy: A[str, Meta(description="only tasks of this convoy")] = ""
    ready: A[bool, Meta(description="only tasks that could be claimed now")] = False
    after: A[str, Meta(description="only tasks after this one")] = ""
    limit: A[int, Meta(ge=1, le=details.MOST, description="at most this many")] = 1000


class WhyQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    of: A[str, Meta(description="a task, session, convoy, check run, lease, message or alert")]


class OutputQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    lines: A[int, Meta(ge=0, le=10_000, description="the last lines, at most this many")] = 100
    before: A[str, Meta(description="instead: the text before this place")] = ""
    after: A[str, Meta(description="instead: the text after this place")] = ""
    bytes: A[int, Meta(ge=1024, le=1 << 20, description="of that text, at most this many")] = 65_536


class OutputPage(Struct, frozen=True):
    """The last lines; or a page of the text, with the places where it begins and ends."""

    lines: list[str]
    text: str = ""
    begin: str = ""
    end: str = ""
    restarted: bool = False  # some text between the place in the query and `begin` is gone


class Running(Struct, frozen=True):
    name: str
    runs: bool


class Jobs(Struct, frozen=True):
    roles: list[Running]
    chores: list[v.JobView]


class WhoAmI(Struct, frozen=True):
    name: str
    session: str
    task: str


def marked(api: "Api", call: Call) -> Headers:
    """Return the entity tag of what the caller sees at this event."""
    state = api.feed.state
    mark = f'"{state.log}-{state.seq}-{call.principal.session}"'.encode()
    return ((b"etag", mark),)


def unchanged(api: "Api", call: Call) -> Reply | None:
    """Answer 304 if the client already has this."""
    headers = marked(api, call)
    return Reply(b"", 304, headers) if has_already(call, headers[0][1]) else None


async def status(api: "Api", call: Call) -> Reply:
    return unchanged(api, call) or Reply(api.status(call.principal), headers=marked(api, call))


async def glance(api: "Api", call: Call) -> Reply:
    return ok(overview(api.feed.state, api.clock()))


def _view(
    path: str, summary: str, query: Callable[[State, Principal], Any], answer: Any, **more: Any
) -> Route:
    """Return the route of a view that depends on nothing but the state and who asks."""

    async def view(api: "Api", call: Call) -> Reply:
        reply = unchanged(api, call)
        return reply or ok(query(api.feed.state, call.principal), marked(api, call))

    return Route(path, summary, view, answer, **more)


async def convoy(api: "Api", call: Call) -> Reply:
    name = _own_convoy(api, call, call.params["convoy"])
    found = details.convoy(api.feed.state, name, call.principal)
    return unchanged(api, call) or ok(found, marked(api, call))


def _own_convoy(api: "Api", call: Call, name: str) -> str:
    """Return a convoy that the caller may see; the existence of others is not even revealed."""
    state, who = api.feed.state, call.principal
    if who.session and access.still_holds(state, who).convoy != name:
        raise NotFound("there is no such convoy", "GET /api/convoys")
    return find_convoy(state, name).id


async def tasks(api: "Api", call: Call) -> Reply:
    query: TasksQuery = asked(call, TasksQuery)
    state, who = api.feed.state, call.principal
    found = details.tasks(
        state,
        who,
        where=query.state,
        convoy=_own_convoy(api, call, query.convoy) if query.convoy else "",
        ready_at=api.clock() if query.ready else None,
        after=access.seen(state, who, query.after).order if query.after else 0,
        limit=query.limit + 1,
    )
    more = found[query.limit - 1].id if len(found) > query.limit else ""
    return ok(details.TasksPage(found[: query.limit], more, state.seq))


async def task(api: "Api", call: Call) -> Reply:
    found = access.seen(api.feed.state, call.principal, call.params["task"])
    reply, headers = unchanged(api, call), marked(api, call)
    if reply is not None:
        return reply
    numbers = [*([found.brief_seq] if found.brief_seq else []), *found.comments]
    records = await asyncio.to_thread(
        lambda: {seq: record_at(api.feed.store, seq) for seq in numbers}
    )
    return ok(details.task(api.feed.state, found, records.__getitem__), headers)


async def why(api: "Api", call: Call) -> Reply:
    state = api.feed.state
    found = access.seen(state, call.principal, call.params["task"])
    return ok(explained(state, found, api.clock(), api.config))


async def _because(explain: Callable[..., Any], api: "Api", call: Call) -> Reply:
    query: WhyQuery = asked(call, WhyQuery)
    state, name = api.feed.state, query.of
    session = await asyncio.to_thread(earlier.replaced, api.feed.store, state, name)
    config = settings.of_repository(api.repository)  # it may have changed since the server started
    return ok(explain(state, name, api.clock(), config, session))


async def session(api: "Api", call: Call) -> Reply:
    found = await session_of(api, call)
    return unchanged(api, call) or ok(v.session_view(found), marked(api, call))


async def session_of(api: "Api", call: Call) -> Session:
    """Return a session that the caller may see."""
    state, name = api.feed.state, call.params["session"].upper()
    if call.principal.session and not visible(state, call.principal, name.rpartition(".")[0]):
        raise NotFound("there is no such session", "GET /api/sessions")
    newest = state.sessions.get(SessionId(name))
    if newest is not None:
        return newest
    # Finding an earlier one reads the whole log, and must not block the loop.
    return await asyncio.to_thread(earlier.find, api.feed.store, state, name)


async def jobs(api: "Api", call: Call) -> Reply:
    chores = api.feed.state.chores.values()
    return ok(Jobs(running(api), [filled(v.JobView, chore) for chore in chores]))


def running(api: "Api") -> list[Running]:
    return [Running(role, taken(api.repository.folder, role)) for role in ROLES]


async def whoami(api: "Api", call: Call) -> Reply:
    who = call.principal
    task = access.still_holds(api.feed.state, who).id if who.session else ""
    return ok(WhoAmI(who.name, who.session, task))


VIEWS = (
    Route("/api/status", "the whole board", status, queries.Status),
    for_people(
        "/api/overview",
        "what `corral status` shows: the first rows of everything",
        glance,
        Overview,
    ),
    _view("/api/convoys", "all convoys", queries.convoys, list[v.ConvoyView]),
    Route("/api/convoys/{convoy}", "one convoy and its tasks", convoy, details.ConvoyPage),
    Route("/api/tasks", "the tasks, page by page", tasks, details.TasksPage, TasksQuery),
    Route("/api/tasks/{task}", "one task, with its brief and comments", task, details.TaskPage),
    Route("/api/tasks/{task}/why", "why a task is where it is", why, Explanation),
    for_people(
        "/api/why",
        "why anything is as it is, by its name",
        partial(_because, reasons.reason),
        reasons.Reason,
        WhyQuery,
    ),
    for_people(
        "/api/explanation",
        "what `corral why` shows: an Explanation of a task, a Reason for anything else",
        partial(_because, reasons.why),
        query=WhyQuery,
    ),
    _view(
        "/api/queue",
        "what waits to land and what is checked",
        lambda state, _: queue(state),
        QueueView,
        people_only=True,
    ),
    _view(
        "/api/cost",
        "what was spent: tokens and money",
        lambda state, _: money.report(state),
        money.CostReport,
        people_only=True,
    ),
    _view(
        "/api/sessions",
        "the newest session of each task",
        queries.board_sessions,
        list[v.SessionView],
    ),
    Route("/api/sessions/{session}", "one session", session, v.SessionView),
    _view("/api/leases", "the leases and their holders", queries.leases, list[v.LeaseView]),
    _view("/api/alerts", "the open alerts", queries.alerts, list[v.AlertView]),
    _view(
        "/api/messages",
        "messages to be read, acknowledged or answered",
        queries.messages,
        list[v.MessageView],
    ),
    for_people("/api/jobs", "which roles run, and when each chore last ran", jobs, Jobs),
    Route("/api/whoami", "who you are, according to your token", whoami, WhoAmI),
)
