"""A provider is asked whether it accepts a key; that is never a question to a model."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from corral.core.config import EngineSettings
from corral.world.engines.account import KeyState, check_key
from tests.standin.server import StandIn, serving

KINDS = {
    "claude-code": "/v1/models",
    "codex": "/v1/models",
    "gemini": "/v1beta/models",
    "opencode": "/v1/models",
    "aider": "/v1/models",
}


@pytest.fixture(scope="module")
def standin() -> Iterator[StandIn]:
    with serving() as found:
        yield found


def profile(kind: str, url: str, *env: str) -> EngineSettings:
    return EngineSettings(type=kind, env=env or ("THE_KEY",), base_url=url)


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_is_accepted_or_refused_by_the_list_of_models(standin: StandIn, kind: str) -> None:
    scenario = standin.scenario(f"key-{kind}")
    scenario.limits.key = "good"
    asked = profile(kind, standin.url(f"key-{kind}"))
    assert check_key(asked, {"THE_KEY": "good"}).state is KeyState.ACCEPTED
    refused = check_key(asked, {"THE_KEY": "bad"})
    assert (refused.state, refused.said) == (KeyState.REFUSED, "HTTP 401")
    seen = scenario.seen().requests
    assert [(one.method, one.path) for one in seen] == [("GET", KINDS[kind])] * 2
    assert not any(one.protocol for one in seen), "a model was asked"


def test_an_address_with_a_version_is_used_as_it_is(standin: StandIn) -> None:
    standin.scenario("versioned").limits.key = "good"
    asked = profile("codex", f"{standin.url('versioned')}/v1/")
    assert check_key(asked, {"THE_KEY": "bad"}).state is KeyState.REFUSED


def test_nothing_is_asked_without_a_key_or_for_another_cloud(standin: StandIn) -> None:
    url = standin.url("silent")
    for kind, names in (
        ("claude-code", ("CLAUDE_CODE_USE_BEDROCK", "AWS_PROFILE")),
        ("claude-code", ("CLAUDE_CODE_OAUTH_TOKEN",)),
        ("command", ("THE_KEY",)),
        ("shell", ("THE_KEY",)),
    ):
        environ = dict.fromkeys(names, "x")
        assert check_key(profile(kind, url, *names), environ).state is KeyState.UNKNOWN
    assert check_key(profile("codex", url), {}).state is KeyState.UNKNOWN
    assert standin.scenario("silent").seen().requests == []


def test_a_server_that_is_not_there_cannot_be_reached() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        found = check_key(profile("claude-code", url), {"THE_KEY": "x"})
    assert (found.state, found.said) == (KeyState.UNREACHABLE, "Connection refused")


@contextmanager
def gateway(status: int, body: bytes = b"", **headers: str) -> Iterator[tuple[str, list[str]]]:
    """Serve one reply to everything; also yield the paths that were asked for."""
    asked: list[str] = []

    class Gateway(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Stay quiet."""

    server = HTTPServer(("127.0.0.1", 0), Gateway)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.parametrize(
    ("status", "body", "state"),
    [
        (404, b"no such page", KeyState.UNKNOWN),
        (403, b"blocked by a firewall", KeyState.UNKNOWN),
        (401, b"insufficient permissions: missing scopes: api.model.read", KeyState.UNKNOWN),
        (500, b"", KeyState.UNKNOWN),
        (400, b'{"error": {"message": "API key not valid. Please pass one."}}', KeyState.REFUSED),
    ],
)
def test_only_a_reply_about_the_key_is_a_refusal(status: int, body: bytes, state: KeyState) -> None:
    with gateway(status, body) as (url, _):
        assert check_key(profile("gemini", url), {"THE_KEY": "x"}).state is state


def test_a_key_is_not_sent_to_where_a_reply_redirects() -> None:
    with gateway(200) as (other, asked), gateway(302, Location=f"{other}/elsewhere") as (url, _):
        assert check_key(profile("codex", url), {"THE_KEY": "x"}).state is KeyState.UNKNOWN
    assert asked == []
