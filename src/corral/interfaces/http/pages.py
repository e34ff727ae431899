"""What can be looked at over HTTP: one function for each view, on the state of one moment."""

import asyncio
from typing import TYPE_CHECKING, Any
from typing import Annotated as A

import msgspec
from msgspec import Meta, Struct

from corral.core import access
from corral.core.access import Principal, visible
from corral.core.board.claims import ready
from corral.core.board.rules import find_convoy
from corral.core.engine.governor import profile_for
from corral.core.errors import NotFound
from corral.core.ids import SessionId
from corral.core.log.codec import decode
from corral.core.log.state import Session, State, Task
from corral.core.message.rules import inbox
from corral.core.session.earlier import task_of
from corral.core.session.profiles import limits_of
from corral.core.show import reasons, views
from corral.core.show.why import Explanation, explain
from corral.interfaces.http.exchange import Call, Headers, Reply, asked, has_already, ok
from corral.interfaces.http.routes import Route
from corral.roles.locks import taken
from corral.roles.records import earlier

if TYPE_CHECKING:
    from corral.interfaces.http.api import Api

ROLES = ("server", "witness", "refinery", "deacon")


class TasksQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    state: A[str, Meta(description="only tasks in this column")] = ""
    convoy: A[str, Meta(description="only tasks of this convoy")] = ""
    ready: A[bool, Meta(description="only tasks that could be claimed now")] = False
    after: A[str, Meta(description="go on after this task")] = ""
    limit: A[int, Meta(ge=1, le=5000, description="so many at most")] = 1000


class WhyQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    of: A[str, Meta(description="a task, session, convoy, check run, lease, message or alert")]


class OutputQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    lines: A[int, Meta(ge=0, le=10_000, description="so many of the last")] = 100
    before: A[str, Meta(description="instead: what comes before this place")] = ""
    after: A[str, Meta(description="instead: what comes after this place")] = ""
    bytes: A[int, Meta(ge=1024, le=1 << 20, description="with a place: so many at most")] = 65_536


class TasksPage(Struct, frozen=True):
    tasks: list[views.TaskLine]
    next: str  # ask again with after=…; empty: that was all
    seq: int


class Comment(Struct, frozen=True):
    seq: int
    at: int
    actor: str
    task: str
    text: str


class TaskPage(views.TaskView, frozen=True, kw_only=True):
    brief: str
    comments: list[Comment]


class ConvoyPage(Struct, frozen=True):
    convoy: views.ConvoyView
    tasks: list[views.TaskLine]


class OutputPage(Struct, frozen=True):
    """The last lines; or a page of the text, with the places where it begins and ends."""

    lines: list[str]
    text: str = ""
    begin: str = ""
    end: str = ""
    restarted: bool = False  # something between the place that was asked for and this is gone


class BackgroundJob(Struct, frozen=True):
    """A background job: when it last recorded that it ran, and what that came to."""

    name: str
    ran_at: int
    found: int
    done: int


class Running(Struct, frozen=True):
    name: str
    runs: bool


class Jobs(Struct, frozen=True):
    roles: list[Running]
    chores: list[BackgroundJob]


class WhoAmI(Struct, frozen=True):
    name: str
    session: str
    task: str


def scoped(state: State, who: Principal) -> views.Status:
    """Return what there is to see for somebody."""
    found = views.status(state)
    if not who.session:
        return found
    own = access.still_holds(state, who)
    box = inbox(state, who.session)
    seen = {line.id for line in found.tasks if visible(state, who, line.id)}
    return msgspec.structs.replace(
        found,
        convoys=[convoy for convoy in found.convoys if convoy.id == own.convoy],
        tasks=[line for line in found.tasks if line.id in seen],
        sessions=[session for session in found.sessions if session.task in seen],
        queue=[task for task in found.queue if task in seen],
        leases=[lease for lease in found.leases if lease.holder == who.session],
        alerts=[a for a in found.alerts if a.subject in seen or a.subject == who.session],
        overlaps=[one for one in found.overlaps if {one.task, one.other} <= {*seen, ""}],
        messages=[m for m in found.messages if m.to in box or who.session in (m.sender, m.reader)],
    )


def marked(api: "Api", call: Call) -> Headers:
    """Return the mark of what somebody sees at this event."""
    state = api.feed.state
    mark = f'"{state.log}-{state.seq}-{call.principal.session}"'.encode()
    return ((b"etag", mark),)


def unchanged(api: "Api", call: Call) -> Reply | None:
    """Answer 304 if the client has just this already."""
    headers = marked(api, call)
    if has_already(call, headers[0][1]):
        return Reply(b"", 304, headers)
    return None


async def status(api: "Api", call: Call) -> Reply:
    return unchanged(api, call) or Reply(api.status(call.principal), headers=marked(api, call))


async def convoys(api: "Api", call: Call) -> Reply:
    reply = unchanged(api, call)
    return reply or ok(scoped(api.feed.state, call.principal).convoys, marked(api, call))


async def convoy(api: "Api", call: Call) -> Reply:
    shown = scoped(api.feed.state, call.principal)
    name = _own_convoy(api, call, call.params["convoy"])
    view = next(view for view in shown.convoys if view.id == name)
    tasks = [line for line in shown.tasks if line.convoy == name]
    return unchanged(api, call) or ok(ConvoyPage(view, tasks), marked(api, call))


def _own_convoy(api: "Api", call: Call, name: str) -> str:
    """Return a convoy that is one's own to see; of others it is not even said that they exist."""
    state, who = api.feed.state, call.principal
    if who.session and access.still_holds(state, who).convoy != name:
        raise NotFound("there is no such convoy", "GET /api/convoys")
    return find_convoy(state, name).id


async def tasks(api: "Api", call: Call) -> Reply:
    query: TasksQuery = asked(call, TasksQuery)
    state, who, now = api.feed.state, call.principal, api.clock()
    if query.convoy:
        _own_convoy(api, call, query.convoy)
    after = access.seen(state, who, query.after).order if query.after else 0
    found: list[views.TaskLine] = []
    for task in state.tasks.values():
        if (
            task.order <= after
            or (query.convoy and task.convoy != query.convoy)
            or (query.ready and not ready(state, task, now))
            or not visible(state, who, task.id)
        ):
            continue
        line = views.task_line(state, task)
        if query.state in ("", line.column):
            found.append(line)
        if len(found) > query.limit:
            break
    more = found[query.limit - 1].id if len(found) > query.limit else ""
    return ok(TasksPage(found[: query.limit], more, state.seq))


async def task(api: "Api", call: Call) -> Reply:
    found = access.seen(api.feed.state, call.principal, call.params["task"])
    view = views.task_view(api.feed.state, found)
    reply = unchanged(api, call)
    if reply is not None:
        return reply
    headers = marked(api, call)
    numbers = [*([found.brief_seq] if found.brief_seq else []), *found.comments]
    events = await asyncio.to_thread(_events, api, numbers)
    brief = events.pop(0)["brief"] if found.brief_seq else ""
    comments = [msgspec.convert(event, Comment) for event in events]
    fields = {name: getattr(view, name) for name in view.__struct_fields__}
    return ok(TaskPage(**fields, brief=brief, comments=comments), headers)


def _events(api: "Api", numbers: list[int]) -> list[dict[str, Any]]:
    found = []
    for seq in numbers:
        record = decode(next(api.feed.store.read(seq - 1, 1)).line)
        data: dict[str, Any] = msgspec.json.decode(record.data)
        found.append(data | {"seq": seq, "at": record.at, "actor": record.actor})
    return found


async def why(api: "Api", call: Call) -> Reply:
    state = api.feed.state
    found = access.seen(state, call.principal, call.params["task"])
    return ok(explained(api, state, found))


async def reason(api: "Api", call: Call) -> Reply:
    query: WhyQuery = asked(call, WhyQuery)
    state, name, now = api.feed.state, query.of, api.clock()
    if name.upper() not in state.sessions and task_of(state, name) is not None:
        session = await asyncio.to_thread(earlier.find, api.feed.store, state, name)
        return ok(reasons.of_session(api.feed.state, session, now))
    return ok(reasons.reason(state, name, now))


def explained(api: "Api", state: State, task: Task) -> Explanation:
    """Explain a task by all that the witness decides by."""
    limits, now = limits_of(api.config), api.clock()
    engine = api.config.engine.get(profile_for(state, task, limits.accounts, now))
    return explain(state, task, now, limits, engine.pool if engine else "")


async def sessions(api: "Api", call: Call) -> Reply:
    reply = unchanged(api, call)
    return reply or ok(scoped(api.feed.state, call.principal).sessions, marked(api, call))


async def session(api: "Api", call: Call) -> Reply:
    found = await session_of(api, call)
    return unchanged(api, call) or ok(views.session_view(found), marked(api, call))


async def session_of(api: "Api", call: Call) -> Session:
    """Return a session that is one's own to see."""
    state, name = api.feed.state, call.params["session"].upper()
    if call.principal.session and not visible(state, call.principal, name.rpartition(".")[0]):
        raise NotFound("there is no such session", "GET /api/sessions")
    newest = state.sessions.get(SessionId(name))
    if newest is not None:
        return newest
    # An earlier one is looked for in the whole log: not here, where everybody would wait.
    return await asyncio.to_thread(earlier.find, api.feed.store, state, name)


async def leases(api: "Api", call: Call) -> Reply:
    reply = unchanged(api, call)
    return reply or ok(scoped(api.feed.state, call.principal).leases, marked(api, call))


async def alerts(api: "Api", call: Call) -> Reply:
    reply = unchanged(api, call)
    return reply or ok(scoped(api.feed.state, call.principal).alerts, marked(api, call))


async def messages(api: "Api", call: Call) -> Reply:
    reply = unchanged(api, call)
    return reply or ok(scoped(api.feed.state, call.principal).messages, marked(api, call))


async def jobs(api: "Api", call: Call) -> Reply:
    roles = [Running(role, taken(api.repository.folder, role)) for role in ROLES]
    found = api.feed.state.chores.values()
    return ok(Jobs(roles, [BackgroundJob(c.name, c.ran_at, c.found, c.done) for c in found]))


async def whoami(api: "Api", call: Call) -> Reply:
    who = call.principal
    task = access.still_holds(api.feed.state, who).id if who.session else ""
    return ok(WhoAmI(who.name, who.session, task))


def _view(path: str, summary: str, handler: Any, answer: Any, **more: Any) -> Route:
    return Route(method="GET", path=path, summary=summary, handler=handler, answer=answer, **more)


VIEWS = (
    _view("/api/status", "everything at a glance", status, views.Status),
    _view("/api/convoys", "the convoys", convoys, list[views.ConvoyView]),
    _view("/api/convoys/{convoy}", "one convoy and its tasks", convoy, ConvoyPage),
    _view("/api/tasks", "the tasks, page by page", tasks, TasksPage, query=TasksQuery),
    _view("/api/tasks/{task}", "one task, with its brief and comments", task, TaskPage),
    _view("/api/tasks/{task}/why", "why a task is where it is", why, Explanation),
    _view(
        "/api/why",
        "why something is as it is",
        reason,
        reasons.Reason,
        query=WhyQuery,
        people_only=True,
    ),
    _view("/api/sessions", "the sessions", sessions, list[views.SessionView]),
    _view("/api/sessions/{session}", "one session", session, views.SessionView),
    _view("/api/leases", "who holds what", leases, list[views.LeaseView]),
    _view("/api/alerts", "what needs a person's eye", alerts, list[views.AlertView]),
    _view("/api/messages", "messages that are not over", messages, list[views.MessageView]),
    _view("/api/jobs", "what runs, and when each job last ran", jobs, Jobs, people_only=True),
    _view("/api/whoami", "who the server thinks that you are", whoami, WhoAmI),
)
