"""MCP tools for agents: what they need to work together, in as few words as possible.

The official SDK takes a second and much memory to load, so this module is imported when the first
agent calls, and never by a command. Calls pass the same guard and the same rules as all others.
Each tool is one command, completed from the identity of the caller.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextvars import ContextVar
from functools import partial, wraps
from hashlib import sha256
from itertools import count
from typing import Any, Concatenate, ParamSpec

import msgspec
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.server.transport_security import TransportSecuritySettings
from msgspec import UNSET

from corral.core.access import Principal, seen, still_holds
from corral.core.board import commands as c
from corral.core.copies import filled
from corral.core.errors import BadInput, CorralError
from corral.core.ids import ConvoyId, TaskId, Token
from corral.core.log.state import Task
from corral.core.show import details, queries
from corral.core.show.views import MessageView, task_view
from corral.core.show.why import explained
from corral.interfaces.http.api import Api
from corral.interfaces.http.exchange import Call, Receive, Send
from corral.store.port import record_at

INSTRUCTIONS = (
    "Corral coordinates agents on one repository. Report progress now and then, read your inbox"
    " between steps, take a lease before touching what is shared."
)
_SHOWN = ("id", "title", "state", "column", "holder", "reason", "seq")
_LINES = 200  # tasks listed by `status`

P = ParamSpec("P")
_caller: ContextVar[Principal] = ContextVar("caller")  # each request has its own
_keys: ContextVar[Iterator[str]] = ContextVar("keys")


class _Refusal(ToolError, ResourceError):
    """A refusal by a rule, for a tool or a resource: the agent is told, nothing is logged."""


def _told(
    tool: Callable[Concatenate["Tools", P], Awaitable[Any]],
) -> Callable[Concatenate["Tools", P], Coroutine[Any, Any, str]]:
    """Answer in JSON; a refusal says what the agent can do about it."""

    @wraps(tool)
    async def told(self: "Tools", /, *given: P.args, **named: P.kwargs) -> str:
        try:
            found = await tool(self, *given, **named)
        except CorralError as error:
            hint = f" (try: {error.hint})" if error.hint else ""
            raise _Refusal(f"{error.code}: {error.message}{hint}") from error
        return found if isinstance(found, str) else msgspec.json.encode(found).decode()

    told.__annotations__ = {**tool.__annotations__, "return": str}
    return told


def _strict(tool: Callable[..., Awaitable[str]]) -> Tool:
    """Return a tool that refuses unknown arguments, so that a misspelt one is not ignored."""
    found = Tool.from_function(tool, description=tool.__doc__, structured_output=False)
    found.parameters["additionalProperties"] = False
    given = found.fn_metadata.arg_model
    given.model_config["extra"] = "forbid"
    given.model_rebuild(force=True)
    return found


class Agents:
    """The MCP endpoint, for as long as the server runs."""

    def __init__(self, api: Api) -> None:
        tools = Tools(api)
        server: MCPServer[Any] = MCPServer(
            "corral",
            instructions=INSTRUCTIONS,
            tools=[_strict(tool) for tool in tools.all()],
            log_level="ERROR",
        )
        server.resource("corral://board", mime_type="application/json")(tools.status)
        server.resource("corral://messages", mime_type="application/json")(tools.messages)
        server.resource("corral://task/{task}", mime_type="application/json")(tools.task)
        server.resource("corral://brief/{task}", mime_type="text/markdown")(tools.brief)
        # Our own guard has checked Host and Origin. Answers are plain JSON; no session is kept.
        server.streamable_http_app(
            stateless_http=True,
            json_response=True,
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        self._manager = server.session_manager
        self._ready = asyncio.Event()
        self._running = asyncio.get_running_loop().create_task(self._run())

    async def _run(self) -> None:
        async with self._manager.run():
            self._ready.set()
            await asyncio.Event().wait()

    async def serve(self, call: Call, receive: Receive, send: Send) -> None:
        await self._ready.wait()
        _caller.set(call.principal)
        _keys.set(_derived(call.header(b"idempotency-key")))
        await self._manager.handle_request(call.scope, receive, send)

    async def stop(self) -> None:
        self._running.cancel()
        await asyncio.gather(self._running, return_exceptions=True)


class Tools:
    """One method for each tool. Every agent pays for its docstring in tokens: keep it short."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def all(self) -> list[Callable[..., Awaitable[str]]]:
        return [
            *(self.claim, self.progress, self.message, self.inbox, self.hand_off, self.lease),
            *(self.release, self.submit, self.add_task, self.why, self.status),
        ]

    @_told
    async def claim(self, task: str = "") -> Any:
        """Take a task, or the next ready one."""
        data = await self._do(c.ClaimTask(task=TaskId(task) if task else None))
        kept = ("id", "title", "paths", "accept", "token", "expires_at", "seq")
        return {name: data[name] for name in kept} | {"brief": await self.brief(data["id"])}

    @_told
    async def progress(self, text: str, outputs: int | None = None, task: str = "") -> Any:
        """Say where you are, in one line."""
        who = _caller.get()
        if who.session:
            command: c.Command = c.ReportProgress(session=who.session, text=text, outputs=outputs)
        elif task:
            command = c.CommentTask(task=TaskId(task), text=text)
        else:
            raise BadInput("you are not a session: name the task")
        return {"seq": (await self._do(command))["seq"]}

    @_told
    async def message(self, to: str, text: str, question: bool = False, reply_to: str = "") -> Any:
        """Send text to a session (AF-1.1), task (AF-1), role:NAME or people."""
        command = c.SendMessage(to=to, text=text, question=question, reply_to=reply_to)
        sent = await self._do(command)
        return {"id": sent["id"], "seq": sent["seq"]}

    @_told
    async def inbox(self, ack: tuple[str, ...] = (), again: bool = False) -> Any:
        """Your new messages. ack: ids you are done with. again: with all you did not ack."""
        for message in ack:
            await self._do(c.AcknowledgeMessage(message=message))
        read = await self._do(c.ReadMessages())
        found: list[MessageView] = read["messages"]
        if again:  # for an agent that never got the answer to an earlier call
            await self._api.caught_up()
            mine, who = self._api.feed.state.messages.values(), _caller.get().name
            found = [filled(MessageView, m) for m in mine if m.reader == who and not m.acknowledged]
        shown = [
            {"id": m.id, "from": m.sender, "text": m.text}
            | ({"asks": True} if m.question else {})
            | ({"answers": m.reply_to} if m.reply_to else {})
            for m in found
        ]
        # An object: Gemini CLI takes no list for an answer.
        return {"messages": shown, "seq": read["seq"]}

    @_told
    async def hand_off(self, to: str = "", note: str = "", task: str = "", token: str = "") -> Any:
        """Give your task to another, or to anyone."""
        command = c.HandOffTask(task=self._own(task), to=to, note=note, token=Token(token))
        return _brief_task(await self._do(command))

    @_told
    async def lease(self, resource: str, ttl_s: int = 0) -> Any:
        """Reserve file:GLOB, port:N or kind:name."""
        data = await self._do(c.AcquireLease(resource=resource, ttl_s=ttl_s or UNSET))
        return {name: data[name] for name in ("resource", "token", "expires_at", "seq")}

    @_told
    async def release(self, resource: str, token: str) -> Any:
        """Give a lease back."""
        return await self._do(c.ReleaseLease(resource=resource, token=Token(token)))

    @_told
    async def submit(self, task: str = "", token: str = "", commit: str = "") -> Any:
        """Hand in a task's work."""
        command = c.SubmitTask(task=self._own(task), token=Token(token), commit=commit)
        return _brief_task(await self._do(command))

    @_told
    async def add_task(
        self,
        title: str,
        brief: str = "",
        *,
        assignee: str = "",
        role: str = "",
        needs: tuple[str, ...] = (),
        paths: tuple[str, ...] = (),
        accept: tuple[str, ...] = (),
        convoy: str = "",
    ) -> Any:
        """Post a task for another agent, a role or anyone; below yours if you have one."""
        command = c.AddTask(
            title=title,
            brief=brief,
            assignee=assignee,
            role=role,
            needs=tuple(map(TaskId, needs)),
            paths=paths,
            accept=accept,
            convoy=ConvoyId(convoy),
        )
        return _brief_task(await self._do(command))

    @_told
    async def why(self, task: str = "") -> Any:
        """Why a task does not go on."""
        found = await self._seen(task)
        told = explained(self._api.feed.state, found, self._api.clock(), self._api.config)
        return {"summary": told.summary, "obstacles": [o.text for o in told.obstacles]}

    @_told
    async def status(self) -> Any:
        """The board."""
        await self._api.caught_up()
        shown = queries.status(self._api.feed.state, _caller.get())
        over = ("done", "cancelled")
        lines = [line for line in shown.tasks if line.column not in over]
        return {
            "tasks": [_brief_task(msgspec.to_builtins(line)) for line in lines[:_LINES]],
            "more": max(0, len(lines) - _LINES),
            "done": sum(line.column in over for line in shown.tasks),
        }

    # Resources

    @_told
    async def messages(self) -> Any:
        await self._api.caught_up()
        return queries.messages(self._api.feed.state, _caller.get())

    @_told
    async def task(self, task: str) -> Any:
        view = task_view(self._api.feed.state, await self._seen(task))
        return {**msgspec.to_builtins(view), "brief": await self.brief(task)}

    @_told
    async def brief(self, task: str) -> Any:
        read = partial(record_at, self._api.feed.store)
        return await asyncio.to_thread(details.brief, await self._seen(task), read)

    # Inside

    async def _do(self, command: c.Command) -> dict[str, Any]:
        return await self._api.perform(_caller.get(), command, next(_keys.get()))

    def _own(self, task: str) -> TaskId:
        """Return the named task; without a name, the caller's own."""
        who = _caller.get()
        if task or not who.session:
            return TaskId(task)
        return still_holds(self._api.feed.state, who).id

    async def _seen(self, task: str) -> Task:
        await self._api.caught_up()
        return seen(self._api.feed.state, _caller.get(), self._own(task))


def _derived(key: str) -> Iterator[str]:
    """Yield a key for each command of a call; a repeated call yields the same keys."""
    for number in count():
        said = sha256(f"{key}/{number}".encode()).hexdigest()[:32]
        yield said if key else ""


def _brief_task(data: dict[str, Any]) -> dict[str, Any]:
    return {name: data[name] for name in _SHOWN if data.get(name)}
