"""The stand-in itself: its scripts, responses, failures and counts."""

import json
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.patience import PATIENCE_S
from tests.standin.faults import Fault
from tests.standin.script import Step, due, script_in
from tests.standin.server import StandIn, serving, wait_for
from tests.standin.talk import Usage

PLAN = (
    'Please.\nPLAN [{"op": "write", "path": "a.py", "content": "x"}, {"op": "say", "text": "Bye"}]'
)
SCHEMA = {
    "type": "object",
    "properties": {"file_path": {"type": "string"}, "content": {"type": "string"}},
    "required": ["file_path", "content"],
}
GEMINI = "/v1beta/models/m:generateContent"
STREAMED = "/v1beta/models/m:streamGenerateContent"


@pytest.fixture
def standin() -> Iterator[StandIn]:
    with serving() as server:
        yield server


def asked(protocol: str, results: int, stream: bool) -> tuple[str, dict[str, Any]]:
    """Return a path and a request, as a program would send after this many tool results."""
    match protocol:
        case "anthropic":
            done = [
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1"}]}
            ] * results
            tools: list[dict[str, Any]] = [{"name": "Write", "input_schema": SCHEMA}]
            messages = [{"role": "user", "content": PLAN}, *done]
            return "/v1/messages", {"messages": messages, "tools": tools, "stream": stream}
        case "chat":
            function = {"name": "write", "parameters": SCHEMA}
            answers = [{"role": "tool", "content": "ok", "tool_call_id": "1"}] * results
            messages = [{"role": "user", "content": PLAN}, *answers]
            tools = [{"type": "function", "function": function}]
            return "/v1/chat/completions", {"messages": messages, "tools": tools, "stream": stream}
        case "responses":
            outputs = [{"type": "function_call_output", "call_id": "1", "output": "ok"}] * results
            tools = [{"type": "function", "name": "write_file", "parameters": SCHEMA}]
            given = [{"role": "user", "content": [{"type": "input_text", "text": PLAN}]}, *outputs]
            return "/v1/responses", {"input": given, "tools": tools, "stream": stream}
    parts = [{"functionResponse": {"name": "write_file", "response": {}}}] * results
    tools = [{"functionDeclarations": [{"name": "write_file", "parameters": SCHEMA}]}]
    contents = [{"role": "user", "parts": [{"text": PLAN}]}, {"role": "user", "parts": parts}]
    return STREAMED if stream else GEMINI, {"contents": contents, "tools": tools}


def post(url: str, body: object, key: str = "secret-key") -> str:
    data = json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Authorization": f"Bearer {key}"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return str(answer.read().decode())


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("protocol", ["anthropic", "chat", "responses", "gemini"])
def test_every_protocol_calls_the_tool_and_then_speaks(
    standin: StandIn, protocol: str, stream: bool
) -> None:
    path, body = asked(protocol, 0, stream)
    first = post(standin.url() + path, body)
    assert "a.py" in first
    assert "Bye" not in first
    path, body = asked(protocol, 1, stream)
    second = post(standin.url() + path, body)
    assert "Bye" in second
    assert "a.py" not in second
    for answer in (first, second):
        events = [line[6:] for line in answer.splitlines() if line.startswith("data: {")]
        assert bool(events) == stream
        assert all(json.loads(event) for event in events or [answer])
    used = standin.scenario().seen()
    assert used.usage.cached > 0
    assert used.usage == sum((record.usage for record in used.requests), Usage())


def test_scripts_of_single_words() -> None:
    text = (
        "WRITE a/b.py <<<x\ny>>>\nEDIT c <<<1>>> <<<2>>>\nREAD d\nRUN <<<ls -l>>>\n"
        'CALL note <<<{"n": 1}>>>\nSAY <<<Done.>>>\n'
    )
    steps = [step for turn in script_in(text) for step in turn]
    assert steps == [
        Step("write", path="a/b.py", content="x\ny"),
        Step("edit", path="c", old="1", new="2"),
        Step("read", path="d"),
        Step("run", cmd="ls -l"),
        Step("call", tool="note", args={"n": 1}),
        Step("say", text="Done."),
    ]
    assert script_in("There is no PLAN [ here.") == []


def test_calls_at_once_count_as_one_turn() -> None:
    script = script_in(
        'PLAN [{"op":"say","text":"First"},[{"op":"read","path":"a"},{"op":"read","path":"b"}],'
        '{"op":"say","text":"Last"}]'
    )
    assert [step.path for step in due(script, 0).calls] == ["a", "b"]
    assert due(script, 0).text == "First"
    assert due(script, 2).calls == ()
    assert due(script, 2).text == "Last"


@pytest.mark.parametrize(
    ("kind", "status"),
    [("429", 429), ("529", 529), ("500", 500), ("401", 401), ("overflow", 400), ("garbage", 502)],
)
def test_refusals(standin: StandIn, kind: str, status: int) -> None:
    standin.scenario("x").fail(Fault(kind, times=1, skip=1, retry_after=7))
    path, body = asked("chat", 0, False)
    post(standin.url("x") + path, body)
    with pytest.raises(urllib.error.HTTPError) as refused:
        post(standin.url("x") + path, body)
    with refused.value as error:
        assert error.code == status
        assert error.headers.get("retry-after") == (None if kind == "garbage" else "7")
    post(standin.url("x") + path, body)
    seen = standin.scenario("x").seen()
    assert [record.status for record in seen.requests] == [200, status, 200]
    assert [record.usage.output > 0 for record in seen.requests] == [True, False, True]


@pytest.mark.parametrize("kind", ["hang", "hang_headers", "cut"])
def test_answers_that_do_not_come(standin: StandIn, kind: str) -> None:
    standin.scenario().fail(Fault(kind))
    path, body = asked("anthropic", 0, True)
    coded = json.dumps(body).encode()
    with socket.create_connection(("127.0.0.1", standin.server_port)) as connection:
        head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(coded)}\r\n\r\n"
        connection.sendall(head.encode() + coded)
        got = b""
        over = False
        try:
            while not over:
                # What has begun may take its time; after that, nothing comes.
                awaited = kind != "hang_headers" and b"message_start" not in got
                connection.settimeout(PATIENCE_S if awaited else 0.5)
                more = connection.recv(65536)
                got, over = got + more, not more
        except TimeoutError:
            pass
    assert over == (kind == "cut")
    assert (b"message_start" in got) == (kind != "hang_headers")
    assert b"message_stop" not in got
    assert standin.scenario().seen().usage == Usage()


@pytest.mark.parametrize("kind", ["badtool", "unknowntool", "empty", "maxtokens", "stream_error"])
def test_answers_that_are_wrong(standin: StandIn, kind: str) -> None:
    path, body = asked("anthropic", 0, True)
    good = post(standin.url() + path, body)
    standin.scenario().fail(Fault(kind))
    bad = post(standin.url() + path, body)
    signs = {
        "badtool": '{\\"path\\": \\"half',
        "unknowntool": "no_such_tool",
        "empty": "end_turn",
        "maxtokens": "max_tokens",
        "stream_error": "overloaded_error",
    }
    assert signs[kind] in bad
    assert signs[kind] not in good


def test_more_at_once_than_allowed(standin: StandIn) -> None:
    standin.scenario("busy").limits.max_concurrent = 2
    standin.scenario("busy").limits.delay = 0.5
    path, body = asked("chat", 0, False)

    def ask(_: int) -> int:
        try:
            post(standin.url("busy") + path, body)
        except urllib.error.HTTPError as error:
            with error:
                return error.code
        return 200

    with ThreadPoolExecutor(6) as pool:
        codes = list(pool.map(ask, range(6)))
    seen = standin.scenario("busy").seen()
    assert set(codes) == {200, 429}
    assert all((record.at_once > 2) == (record.status == 429) for record in seen.requests)


def test_keys_are_not_kept(standin: StandIn) -> None:
    path, body = asked("chat", 0, False)
    post(standin.url() + path, body, key="very-secret")
    assert "very-secret" not in str(standin.scenario().seen(bodies=True))


def test_it_is_steered_over_http_too(standin: StandIn) -> None:
    control = standin.url("far").replace("/s/", "/_ctl/s/")
    post(control, {"faults": [{"kind": "500", "times": 1}], "max_concurrent": 3})
    path, body = asked("chat", 0, False)
    with pytest.raises(urllib.error.HTTPError) as failed:
        post(standin.url("far") + path, body)
    failed.value.close()
    with urllib.request.urlopen(control, timeout=30) as answer:
        seen = json.loads(answer.read())
    assert seen["statuses"] == {"500": 1}
    assert standin.scenario("far").limits.max_concurrent == 3
    with pytest.raises(urllib.error.HTTPError) as unknown:
        post(control, {"faults": [{"kind": "fire"}]})
    with unknown.value as error:
        assert b"there is no fault 'fire'" in error.read()


def test_as_a_program() -> None:
    root = Path(__file__).resolve().parents[2]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.standin"], cwd=root, stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        path, body = asked("chat", 0, False)
        assert "a.py" in post(url + path, body)
        process.terminate()
    assert process.returncode == 0


@pytest.mark.parametrize(("word", "code"), [("--help", 0), ("http", 1)])
def test_the_program_says_how_it_is_used(word: str, code: int) -> None:
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-m", "tests.standin", word]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert "python -m tests.standin [PORT]" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_waiting_for_a_request_has_an_end(standin: StandIn) -> None:
    with pytest.raises(AssertionError, match="requests to the model: 1"):
        wait_for(standin.scenario("nobody"), 1, limit_s=0.1)
