"""Agents work together through MCP, with the official client."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.e2e.corral_command import Board
from tests.e2e.server.live_server import Served, serve, start_session, wait_for
from tests.patience import PATIENCE_S

TOOLS = {
    *("claim", "progress", "message", "inbox", "hand_off", "lease", "release", "submit"),
    *("add_task", "why", "status"),
}


@pytest.fixture
def served(board: Board) -> Iterator[Served]:
    board.corral("task", "add", "Mine", "--budget", "3", "--brief", "Do it all.")
    board.add("Theirs")
    with serve(board) as server:
        yield server


@asynccontextmanager
async def agent(served: Served, token: str, name: str = "") -> AsyncIterator["Agent"]:
    headers = {"Authorization": f"Bearer {token}"} | ({"Corral-Actor": name} if name else {})
    async with (
        httpx2.AsyncClient(headers=headers, timeout=PATIENCE_S) as http,
        Client(streamable_http_client(f"{served.url}/mcp", http_client=http)) as client,
    ):
        yield Agent(client)


class Agent:
    def __init__(self, client: Any) -> None:
        self.client = client

    async def use(self, tool: str, **words: Any) -> Any:
        result = await self.client.call_tool(tool, words)
        text = result.content[0].text
        assert not result.is_error, text
        found = json.loads(text)
        assert isinstance(found, dict), "some clients take nothing else"
        return found

    async def read(self, **words: Any) -> Any:
        return (await self.use("inbox", **words))["messages"]

    async def refused(self, tool: str, **words: Any) -> str:
        result = await self.client.call_tool(tool, words)
        assert result.is_error, result
        return str(result.content[0].text)


def test_agents_claim_talk_lease_and_hand_in(served: Served) -> None:
    async def work() -> None:
        token = served.token
        async with agent(served, token, "ana") as ana, agent(served, token, "bo") as bo:
            assert {tool.name for tool in (await ana.client.list_tools()).tools} == TOOLS
            mine = await ana.use("claim")
            assert (mine["id"], mine["brief"]) == ("AF-1", "Do it all.")
            theirs = await bo.use("claim")
            assert theirs["id"] == "AF-2"
            assert "nothing_ready" in await bo.refused("claim")
            await ana.use("progress", text="half way", task="AF-1")
            sent = await ana.use("message", to="AF-2", text="Are you done?", question=True)
            (read,) = await bo.read()
            assert (read["from"], read["text"], read["asks"]) == ("ana", "Are you done?", True)
            assert await bo.read() == []
            await bo.use("message", to="AF-1", text="Yes", reply_to=sent["id"])
            answers = await ana.read()
            assert [a["text"] for a in answers] == ["Yes"]
            lease = await bo.use("lease", resource="port:8080")
            assert "lease_held" in await ana.refused("lease", resource="port:8080")
            await bo.use("release", resource="port:8080", token=lease["token"])
            added = await bo.use("add_task", title="More", assignee="ana")
            assert (await ana.use("claim"))["id"] == added["id"]
            done = await bo.use("submit", task="AF-2", token=theirs["token"])
            assert done["state"] == "review"
            handed = await ana.use(
                "hand_off", task="AF-1", token=mine["token"], to="bo", note="yours"
            )
            assert handed["state"] == "todo"
            assert "waits for bo" in (await bo.use("why", task="AF-1"))["summary"]
            assert {t["id"] for t in (await bo.use("status"))["tasks"]} == {"AF-1", "AF-2", "AF-3"}

    anyio.run(work)
    kinds = [event["type"] for event in served.board.events()]
    assert kinds.count("message.delivered") == 2


def test_a_session_is_bounded_by_its_key(served: Served) -> None:
    session, key = start_session(served.board, "AF-1")
    wait_for(lambda: served.get("/api/whoami", token=key).status == 200, "the session is known")

    async def work() -> None:
        async with agent(served, key) as own:
            await own.use("progress", text="half way", outputs=2)
            below = await own.use("add_task", title="Helper")
            assert {t["id"] for t in (await own.use("status"))["tasks"]} == {"AF-1", below["id"]}
            assert "not_yours" in await own.refused("claim")
            assert "not_yours" in await own.refused("claim", task="AF-2")
            assert "not_found" in await own.refused("why", task="AF-2")
            assert "not_judged" in await own.refused("submit")
            read = await own.client.read_resource("corral://brief/AF-1")
            assert read.contents[0].text == "Do it all."
            shown = await own.client.read_resource("corral://task/AF-1")
            assert json.loads(shown.contents[0].text)["title"] == "Mine"
            await own.client.read_resource("corral://board")
            with pytest.raises(MCPError, match="not_found"):  # and no traceback: `serve` sees to it
                await own.client.read_resource("corral://brief/AF-2")
            assert "Extra inputs" in await own.refused("hand_off", not3="a typing error")
            served.post("/api/message/send", {"to": session, "text": "Hurry"})
            mail = await own.client.read_resource("corral://messages")
            assert json.loads(mail.contents[0].text)[0]["text"] == "Hurry"
            (read_once,) = await own.read()
            assert await own.read(again=True) == [read_once]
            assert await own.read(ack=[read_once["id"]], again=True) == []
            await own.use("hand_off", note="I cannot")
            with pytest.raises((MCPError, AssertionError), match=r"error|no_token"):
                await own.use("status")

    anyio.run(work)
    assert served.get("/api/messages").data == []
    assert served.get(f"/api/sessions/{session}").data["progress"] == "half way"


def test_a_message_survives_the_death_of_the_server_and_arrives_once(board: Board) -> None:
    board.add("One")
    with serve(board) as served:
        session, key = start_session(board, "AF-1")
        served.post("/api/message/send", {"to": session, "text": "Hello"})
        served.kill()

    async def work(again: Served) -> None:
        async with agent(again, key) as own:
            assert [m["text"] for m in await own.read()] == ["Hello"]
            assert await own.read() == []

    with serve(board) as again:
        anyio.run(work, again)


def test_the_bridge_speaks_for_engines_that_know_only_pipes(served: Served) -> None:
    session, key = start_session(served.board, "AF-1")
    wait_for(lambda: served.get("/api/whoami", token=key).status == 200, "the session is known")
    env = served.board.env | {"CORRAL_KEY": key, "CORRAL_SESSION": session}
    bridge = StdioServerParameters(
        command=sys.executable, args=["-m", "corral", "mcp"], env=env, cwd=str(served.board.path)
    )

    async def work() -> None:
        async with Client(stdio_client(bridge)) as client:
            own = Agent(client)
            assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
            await own.use("progress", text="through a pipe")
            assert "not_yours" in await own.refused("claim", task="AF-2")

    anyio.run(work)
    assert served.get(f"/api/sessions/{session}").data["progress"] == "through a pipe"


def test_the_bridge_says_when_there_is_no_server(board: Board) -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    done = subprocess.run(
        [sys.executable, "-m", "corral", "mcp"],
        cwd=board.path,
        env=board.env,
        input=json.dumps(asked).encode() + b"\n",
        capture_output=True,
        check=True,
    )
    answer = json.loads(done.stdout)
    assert answer["id"] == 1
    assert "no server is running" in answer["error"]["message"]
