"""The life of one session with an agent: start it, open the conversation, take turns, end it.

Every wait has a timeout. Whatever happens, the last fact is `Finished`, and when it is printed the
agent and everything it started are gone.
"""

import asyncio
import os
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import acp
from acp import schema
from acp.meta import AGENT_METHODS
from pydantic import BaseModel, ValidationError

from corral import __version__
from corral.core.engine.facts import Asked, Began, Finished, Ready, Told, Trouble
from corral.world.engines.runners.acp import trouble
from corral.world.engines.runners.acp.agent import Agent
from corral.world.engines.runners.acp.client import Client
from corral.world.engines.runners.acp.updates import Updates
from corral.world.engines.runners.emit import remark, shortened, tell
from corral.world.engines.runners.inbox import DeliveryProof, Inbox, InboxMessage
from corral.world.engines.runners.orders import AcpOrder, McpServer
from corral.world.watch import Watch

OK, TROUBLE, NO_START, CRASHED, BOUND, STOPPED = 0, 1, 2, 3, 4, 143
_TICK_S = 0.5
_QUIET_S = 0.5
_LOOK_AGAIN_S = 60.0
_LONGEST_TEXT = 200
_BETWEEN_S = 20.0  # for announced messages; later ones are for the next launch


class _Over(Exception):
    """The session is over, and this is how."""

    def __init__(self, code: int, finished: Finished) -> None:
        super().__init__(finished.text)
        self.code = code
        self.finished = finished


class AcpRunner:
    def __init__(self, order: AcpOrder, inbox: Inbox) -> None:
        self._order = order
        self._inbox = inbox
        self._tree = os.getcwd()
        self._updates = Updates()
        self._client = Client(order, self._tree, self._updates)
        self._stopping = asyncio.Event()
        self._mail = asyncio.Event()
        self._session = ""
        self._waiting: list[InboxMessage] = []  # for the next turns

    async def run(self, first: str, early: Sequence[int]) -> int:
        """Run the session to its end; return the exit code. `early` are signals received before."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, self._stopping.set)
        if early:
            self._stopping.set()
        doubtful = self._inbox.doubtful()
        agent: Agent | None = None
        watch = Watch()
        watch.add_complete(self._inbox.folder)
        listener = asyncio.ensure_future(self._listen(watch))
        try:
            if early:
                raise _Over(STOPPED, Finished())
            agent = await self._start()
            await self._open(agent, doubtful)
            over = await self._talk(agent, first)
        except _Over as end:
            over = end
        except acp.RequestError as error:
            over = _Over(TROUBLE, trouble.of_error(error.code, str(error), error.data))
        except ConnectionError:
            assert agent is not None  # without one there is no connection
            over = _Over(CRASHED, await agent.crash())
        except ValidationError as error:
            where = error.errors()[0]["loc"] if error.errors() else ()
            words = f"the agent's answer breaks the protocol: {'.'.join(map(str, where))}"
            over = _Over(CRASHED, Finished(trouble=Trouble.OTHER, text=words))
        finally:
            listener.cancel()
            watch.ring()
        self._updates.flush()
        if agent is not None:
            await agent.end()
        if self._stopping.is_set():
            over = _Over(STOPPED, Finished(trouble=Trouble.OTHER, text="stopped"))
        tell(over.finished)
        return over.code

    async def _start(self) -> Agent:
        try:
            return await Agent.start(self._order, self._client)
        except OSError as error:
            words = f"{self._order.argv[0]}: {error.strerror}"
            raise _Over(NO_START, Finished(trouble=Trouble.OTHER, text=words)) from error

    async def _listen(self, watch: Watch) -> None:
        """Notice new files in the inbox."""
        while True:
            self._mail.set()
            await asyncio.to_thread(watch.wait, _LOOK_AGAIN_S)

    async def _call(
        self, agent: Agent, method: str, params: BaseModel | dict[str, Any]
    ) -> dict[str, Any]:
        """Make one call outside of a turn, until its timeout or until we are stopped."""
        if isinstance(params, BaseModel):
            params = params.model_dump(mode="json", by_alias=True, exclude_none=True)
        task = asyncio.ensure_future(agent.connection.send_request(method, params))
        limit = self._order.start_s
        try:
            await _first(task, self._stopping.wait(), timeout=limit)
            if task.done():
                answer = task.result()
                return answer if isinstance(answer, dict) else {}
            if self._stopping.is_set():
                raise _Over(STOPPED, Finished(text="stopped"))
            words = f"no answer to {method} within {limit:g} s"
            raise _Over(BOUND, Finished(trouble=Trouble.NETWORK, text=words))
        finally:
            task.cancel()

    async def _open(self, agent: Agent, doubtful: list[InboxMessage]) -> None:
        """Negotiate the protocol, and start or resume the conversation."""
        ours = schema.InitializeRequest(
            protocol_version=acp.PROTOCOL_VERSION,
            client_capabilities=schema.ClientCapabilities(
                fs=schema.FileSystemCapabilities(read_text_file=False, write_text_file=False),
                terminal=False,
            ),
            client_info=schema.Implementation(name="corral", version=__version__),
        )
        answer = await self._call(agent, AGENT_METHODS["initialize"], ours)
        theirs = schema.InitializeResponse.model_validate(answer)
        if theirs.protocol_version != acp.PROTOCOL_VERSION:
            words = f"the agent speaks version {theirs.protocol_version} of the protocol"
            raise _Over(CRASHED, Finished(trouble=Trouble.OTHER, text=words))
        opened = await self._conversation(agent, theirs, doubtful)
        await self._settings(agent, opened)
        about = theirs.agent_info
        version = f"{about.name} {about.version}" if about else ""
        tell(Began(session=self._session, model=self._order.model, version=version))

    async def _conversation(
        self, agent: Agent, theirs: schema.InitializeResponse, doubtful: list[InboxMessage]
    ) -> dict[str, Any]:
        servers = [_mcp(server) for server in self._order.mcp]
        where: dict[str, Any] = {"cwd": self._tree, "mcpServers": servers}
        if self._order.meta:
            where["_meta"] = self._order.meta
        if not self._order.resume:
            self._waiting += doubtful  # a new conversation has none of them
            answer = await self._call(agent, AGENT_METHODS["session_new"], where)
            self._session = schema.NewSessionResponse.model_validate(answer).session_id
        else:
            self._session = self._order.resume
            answer = await self._resumed(agent, theirs, where | {"sessionId": self._session})
            await self._replayed(agent)
            said = " ".join("".join(self._updates.history or ()).split())
            for message in doubtful:
                if " ".join(message.said.split()) in said:
                    self._inbox.done(message, DeliveryProof.RECORD)
                else:
                    self._waiting.append(message)
        self._updates.history = None
        self._client.session = self._session
        return answer

    async def _resumed(
        self, agent: Agent, theirs: schema.InitializeResponse, where: dict[str, Any]
    ) -> dict[str, Any]:
        abilities = theirs.agent_capabilities or schema.AgentCapabilities()
        more = abilities.session_capabilities
        if abilities.load_session:
            method = AGENT_METHODS["session_load"]
        elif more is not None and more.resume is not None:
            method = AGENT_METHODS["session_resume"]
        else:
            raise _Over(TROUBLE, Finished(Trouble.SESSION, "this agent cannot resume a session"))
        self._updates.history = []
        try:
            return await self._call(agent, method, where)
        except acp.RequestError as error:
            found = trouble.of_error(error.code, str(error), error.data)
            kind = found.trouble if found.trouble is Trouble.AUTH else Trouble.SESSION
            raise _Over(TROUBLE, Finished(trouble=kind, text=found.text)) from error

    async def _replayed(self, agent: Agent) -> None:
        """Wait until the old conversation is replayed: some agents go on after they answered."""
        deadline = time.monotonic() + self._order.start_s
        while (now := time.monotonic()) < deadline and now - agent.wire.heard < _QUIET_S:
            await asyncio.sleep(_QUIET_S / 5)

    async def _settings(self, agent: Agent, opened: dict[str, Any]) -> None:
        """Set mode and model, in whichever way the agent offers."""
        for what, value in (("mode", self._order.mode), ("model", self._order.model)):
            call = _setting(what, value, opened) if value else None
            if call is not None:
                await self._call(agent, call[0], {"sessionId": self._session, **call[1]})
            elif value:
                remark(f"the agent's {what} cannot be set: {value} was ignored")

    async def _talk(self, agent: Agent, first: str) -> _Over:
        """Take turns until there is no more text."""
        over = _Over(OK, Finished())
        if first.strip():
            over = await self._turn(agent, first, None)
        # After an error, waiting messages are left for the session that resumes.
        while over.code == OK and (message := await self._next(agent)) is not None:
            over = await self._turn(agent, message.said, message)
        return over

    async def _next(self, agent: Agent) -> InboxMessage | None:
        """Return the next text; wait for one for as long as the order says."""
        told = False
        deadline = time.monotonic() + self._order.linger_s
        while not self._stopping.is_set():
            self._mail.clear()
            message = self._waiting.pop(0) if self._waiting else self._inbox.take()
            if message is not None:
                return message
            if self._inbox.knocked():
                tell(Ready())
                told, deadline = True, max(deadline, time.monotonic() + _BETWEEN_S)
            elif self._inbox.dismissed():
                deadline = time.monotonic() + self._order.linger_s
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            if not told:
                tell(Asked(text="the turn is over; waiting for further text"))
                told = True
            waits = [self._mail.wait(), self._stopping.wait(), agent.process.wait()]
            await _first(*waits, timeout=left)
            if agent.is_over:
                raise ConnectionError
        return None

    async def _turn(self, agent: Agent, text: str, message: InboxMessage | None) -> _Over:
        """Send a text to the agent, and attend to it until its turn is over."""
        self._updates.begin_turn()
        prompt = {"sessionId": self._session, "prompt": [{"type": "text", "text": text}]}
        agent.wire.heard = time.monotonic()
        answer = agent.connection.send_request(AGENT_METHODS["session_prompt"], prompt)
        task = asyncio.ensure_future(answer)
        try:
            while not task.done():
                self._read_mail()
                await _first(task, self._mail.wait(), self._stopping.wait(), timeout=_TICK_S)
                self._updates.flush()
                message = self._delivered(message)
                if self._stopping.is_set():
                    return await self._cancel(agent, task, "stopped", STOPPED)
                if self._client.questions:
                    agent.wire.heard = time.monotonic()  # it is waiting for us
                if time.monotonic() - agent.wire.heard > self._order.turn_s:
                    words = f"silent for {self._order.turn_s:g} s"
                    return await self._cancel(agent, task, words, BOUND)
            raw = await task
            self._updates.any = True
            self._delivered(message)
            return self._outcome(schema.PromptResponse.model_validate(raw), raw)
        finally:
            task.cancel()
            self._client.withdraw()

    def _delivered(self, message: InboxMessage | None) -> InboxMessage | None:
        """Record the delivery once the agent has reacted. Return it if still unproved."""
        if message is None or not self._updates.any:
            return message
        self._inbox.done(message, DeliveryProof.RECORD)
        tell(Told(text=shortened(message.text, _LONGEST_TEXT), proof=DeliveryProof.RECORD))
        return None

    def _read_mail(self) -> None:
        """Answer open questions from the inbox; other messages get a turn of their own."""
        self._mail.clear()
        while (message := self._inbox.take()) is not None:
            if self._client.answer(message):
                self._inbox.done(message, DeliveryProof.RECORD)
            else:
                self._waiting.append(message)

    def _outcome(self, answer: schema.PromptResponse, raw: Any) -> _Over:
        self._updates.flush()
        self._updates.spent(answer, raw)
        if answer.stop_reason == "end_turn":
            found = trouble.of_text(self._updates.last_said)
            return _Over(TROUBLE, found) if found else _Over(OK, Finished())
        return _Over(TROUBLE, trouble.of_stop(answer.stop_reason))

    async def _cancel(
        self, agent: Agent, task: "asyncio.Future[Any]", words: str, code: int
    ) -> _Over:
        """Ask the agent to cancel the turn, and wait briefly for its answer."""
        self._client.withdraw()
        with suppress(ConnectionError, TimeoutError):
            method = AGENT_METHODS["session_cancel"]
            notice = agent.connection.send_notification(method, {"sessionId": self._session})
            await asyncio.wait_for(notice, self._order.stop_s)
        await asyncio.wait({task}, timeout=self._order.stop_s)
        raise _Over(code, Finished(trouble=Trouble.NETWORK, text=words))


async def _first(*waits: Any, timeout: float) -> None:
    """Wait for the first of several awaitables, or for the timeout."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    given = [wait for wait in waits if isinstance(wait, asyncio.Future)]
    try:
        await asyncio.wait(tasks, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            if task not in given:
                task.cancel()


def _setting(what: str, value: str, opened: dict[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """Return the call that sets a mode or model: agents offer it in different ways."""
    for option in opened.get("configOptions") or ():
        if isinstance(option, dict) and option.get("category") == what:
            method = AGENT_METHODS["session_set_config_option"]
            return method, {"configId": option.get("id"), "value": value}
    if opened.get(f"{what}s"):
        return f"session/set_{what}", {f"{what}Id": value}
    return None


def _mcp(server: McpServer) -> dict[str, Any]:
    given = server.headers.items()
    headers = [{"name": key, "value": os.path.expandvars(text)} for key, text in given]
    return {"type": "http", "name": server.name, "url": server.url, "headers": headers}
