"""What the dashboard asks about one thing: a session, a check run, a convoy."""

import asyncio
from os.path import isdir, join
from typing import TYPE_CHECKING
from typing import Annotated as A

from msgspec import Meta, Struct
from msgspec.structs import replace

from corral.core.board.graph import find_task
from corral.core.board.rules import find_convoy
from corral.core.copies import filled
from corral.core.engine.facts import AnyFact
from corral.core.queue.rules import find_run
from corral.core.session.profiles import limits_of
from corral.core.show import outlook
from corral.core.show.queue import CheckPage, change
from corral.core.show.rows import SessionRow
from corral.core.show.tables import session_row
from corral.interfaces.http.dashboard import BoardQuery, moment
from corral.interfaces.http.exchange import Call, Reply, asked, ok
from corral.interfaces.http.pages import OutputPage, OutputQuery, session_of
from corral.interfaces.http.routes import Route, for_people
from corral.roles.records import earlier, pages
from corral.roles.records.diff import Changes, changes
from corral.roles.records.rooms import Room
from corral.roles.records.session_page import SessionPage, session_page
from corral.world import checks, processes, settings
from corral.world.git.tree import read_plain
from corral.world.processes.model import Usage

if TYPE_CHECKING:
    from corral.interfaces.http.api import Api

_PATCH = 200_000
_BRIEF = 1 << 20


class FactsQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    limit: A[int, Meta(ge=1, le=5000, description="the last ones, at most this many")] = 500


class LinesQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    lines: A[int, Meta(ge=0, le=10_000, description="the last lines, at most this many")] = 1000


class Facts(Struct, frozen=True):
    """What an engine said, called and used, and the trouble that it met."""

    structured: bool  # False: it prints plain text; see its output
    facts: list[AnyFact]


class BriefText(Struct, frozen=True):
    text: str  # exactly what the newest launch was given


class CheckLog(Struct, frozen=True):
    lines: list[str]


async def output(api: "Api", call: Call) -> Reply:
    query: OutputQuery = asked(call, OutputQuery)
    # The name comes from the state, never from the address, so no path can be injected.
    room = Room(api.repository.folder, (await session_of(api, call)).id)
    return ok(await asyncio.to_thread(_output, api, room, query))


def _output(api: "Api", room: Room, query: OutputQuery) -> OutputPage:
    before, after = pages.place(query.before), pages.place(query.after)
    if before is None and after is None:
        folder = room.launch()
        lines = processes.tail(folder, query.lines) if folder else []
        return OutputPage(lines=[api.secrets.hide(line) for line in lines])
    if before is not None:
        page = pages.before(room, before, query.bytes)
    else:
        page = pages.after(room, after, query.bytes)
    return OutputPage([], api.secrets.hide(page.text), page.begin, page.end, page.restarted)


async def facts(api: "Api", call: Call) -> Reply:
    from corral.roles.records import words

    query: FactsQuery = asked(call, FactsQuery)
    session, state = await session_of(api, call), api.feed.state
    folder = api.repository.folder
    found = await asyncio.to_thread(words.facts, state, session, api.config, folder, query.limit)
    reply = ok(Facts(found is not None, found or []))
    return Reply(api.secrets.hide(reply.body.decode()).encode())


async def summary(api: "Api", call: Call) -> Reply:
    session, state, place = await session_of(api, call), api.feed.state, api.repository
    config = settings.of_repository(place)
    found = await asyncio.to_thread(session_page, state, session, config, place.folder)
    return Reply(api.secrets.hide(ok(found).body.decode()).encode())


async def brief(api: "Api", call: Call) -> Reply:
    session = await session_of(api, call)
    path = Room(api.repository.folder, session.id).prompt(session.launches)
    content = await asyncio.to_thread(read_plain, path, _BRIEF)
    return ok(BriefText(api.secrets.hide((content or b"").decode("utf-8", "replace"))))


async def diff(api: "Api", call: Call) -> Reply:
    session = await session_of(api, call)
    async with api.looking:  # it starts git
        place = api.config.trees.folder or None
        found = await asyncio.to_thread(changes, api.repository, place, session, _PATCH)
    return ok(replace(found, patch=api.secrets.hide(found.patch)))


async def usage(api: "Api", call: Call) -> Reply:
    session = await session_of(api, call)
    folder = Room(api.repository.folder, session.id).launch()
    if folder is None or not session.live:
        return ok(None)
    return ok((await asyncio.to_thread(processes.usage, [folder])).get(folder))


async def sessions(api: "Api", call: Call) -> Reply:
    """Return all sessions of a task; a board has only the newest one."""
    state = api.feed.state
    task = find_task(state, call.params["task"]).id
    found = await asyncio.to_thread(earlier.sessions_of, api.feed.store, state, task)
    return ok([session_row(state, session) for session in found])


async def check_log(api: "Api", call: Call) -> Reply:
    return ok(CheckLog(await _lines(api, call, find_run(api.feed.state, call.params["check"]).run)))


async def _lines(api: "Api", call: Call, run: str) -> list[str]:
    query: LinesQuery = asked(call, LinesQuery)
    folder = join(api.repository.folder, "checks", run)
    lines = await asyncio.to_thread(checks.tail, folder, query.lines) if isdir(folder) else []
    return [api.secrets.hide(line) for line in lines]


async def queued(api: "Api", call: Call) -> Reply:
    state, name = api.feed.state, call.params["what"]
    if name.upper() not in state.checks:
        asked(call, LinesQuery)
        return ok(change(state, name))
    check = find_run(state, name)
    return ok(filled(CheckPage, check, output=await _lines(api, call, check.run)))


async def report(api: "Api", call: Call) -> Reply:
    state, now = await moment(api, asked(call, BoardQuery))
    convoy = find_convoy(state, call.params["convoy"]).id
    found = outlook.outlook(state, convoy, limits_of(api.config), now)
    return ok(outlook.report(state, convoy, found, now))


_SESSION = "/api/sessions/{session}"

ROUTES = (
    Route(
        f"{_SESSION}/output",
        "the last lines that a session printed, or a page of its output",
        output,
        OutputPage,
        OutputQuery,
    ),
    Route(f"{_SESSION}/facts", "what a session's engine said and called", facts, Facts, FactsQuery),
    for_people(f"{_SESSION}/summary", "what `corral session show` shows", summary, SessionPage),
    for_people(
        "/api/queue/{what}",
        "what `corral queue show` shows: a change, or a check run with its last lines",
        queued,
        query=LinesQuery,
    ),
    Route(f"{_SESSION}/brief", "what a session was told", brief, BriefText),
    Route(f"{_SESSION}/diff", "what a session has changed so far", diff, Changes),
    Route(
        f"{_SESSION}/usage", "the memory and CPU time of a session's processes", usage, Usage | None
    ),
    for_people(
        "/api/tasks/{task}/sessions",
        "all sessions of a task, oldest first",
        sessions,
        list[SessionRow],
    ),
    for_people(
        "/api/checks/{check}/log",
        "the last lines that a check run printed",
        check_log,
        CheckLog,
        LinesQuery,
    ),
    for_people(
        "/api/convoys/{convoy}/report",
        "how far a convoy has come",
        report,
        outlook.RunReport,
        BoardQuery,
    ),
)
