"""The relay passes everything on, and tells what it saw: whose turn it is, and what went wrong."""

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from corral.core.facts import Fact, Limited, Trouble, Turn
from corral.world.engines.recipe import Job
from corral.world.engines.relay import argv_of
from corral.world.engines.told import FactsReader
from tests.patience import PATIENCE_S
from tests.standin.faults import Fault
from tests.standin.server import StandIn, key_mark, serving

KEY = "sk-corral-secret"
# What an engine does: one request with a key, the answer printed as it comes.
ASK = """
import http.client, os, sys, time, urllib.parse
where = urllib.parse.urlsplit(os.environ["MODEL_URL"])
body = sys.argv[1].encode()
asked = http.client.HTTPConnection(where.hostname, where.port)
asked.putrequest("POST", where.path + "/chat/completions")
asked.putheader("authorization", "Bearer " + os.environ["KEY"])
if len(sys.argv) > 2:
    asked.putheader("transfer-encoding", "chunked")
    asked.endheaders(iter([body[:10], body[10:]]), encode_chunked=True)
else:
    asked.putheader("content-length", str(len(body)))
    asked.endheaders(body)
try:
    line = asked.sock
    answer = asked.getresponse()
    print("#", answer.status, answer.getheader("retry-after"), flush=True)
    line.settimeout(1 if len(sys.argv) > 3 else None)
    print("#", answer.read(), flush=True)
except (http.client.HTTPException, ConnectionError) as error:
    print("#", type(error).__name__, flush=True)
    sys.exit(3)
except TimeoutError as error:
    print("#", type(error).__name__, flush=True)
    asked.close()
    answer.close()
    time.sleep(5)  # as an engine that works on
"""
BODY = json.dumps(
    {
        "model": "m",
        "stream": True,
        "messages": [{"role": "user", "content": "SAY <<<Hello, you.>>>"}],
        "tools": [{"type": "function", "function": {"name": "x"}}],
    }
)


@pytest.fixture(scope="module")
def standin() -> Iterator[StandIn]:
    with serving() as server:
        yield server


def ask(url: str, *words: str) -> tuple[int, str, list[Fact]]:
    """Ask through a relay; return the exit code, what the asker says, and the facts."""
    done = subprocess.run(
        argv_of(f"{url}/v1", "MODEL_URL", [sys.executable, "-c", ASK, BODY, *words]),
        env={"KEY": KEY, "PATH": ""},
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert KEY.encode() not in done.stdout + done.stderr
    assert done.stderr == b""
    reader = FactsReader(Job(session="", program=(), tree="", home="", prompt_file=""))
    lines = done.stdout.splitlines()
    said = b"\n".join(line for line in lines if line.startswith(b"#")).decode()
    return done.returncode, said, [fact for line in lines for fact in reader.feed(line, "out")]


@pytest.mark.parametrize("words", [(), ("in pieces",)])
def test_all_passes_as_it_is(standin: StandIn, words: tuple[str, ...]) -> None:
    name = f"fine{len(words)}"
    code, said, facts = ask(standin.url(name), *words)
    assert code == 0
    assert "# 200" in said
    assert "Hello, you." in said
    assert "[DONE]" in said
    assert facts == [Turn(model=True), Turn(model=True, heard=True), Turn(model=False)]
    seen = standin.scenario(name).seen(bodies=True).requests
    assert [one.body for one in seen] == [json.loads(BODY)]
    assert seen[0].headers["authorization"] == f"sha256:{key_mark(KEY)}"


@pytest.mark.parametrize(
    ("fault", "trouble"),
    [
        (Fault("429", retry_after=3600), Trouble.RATE),
        (Fault("quota"), Trouble.QUOTA),
        (Fault("529"), Trouble.OVERLOAD),
        (Fault("500"), Trouble.NETWORK),
        (Fault("401"), Trouble.AUTH),
        (Fault("overflow"), Trouble.OVERFLOW),
    ],
    ids=lambda value: getattr(value, "kind", ""),
)
def test_a_status_is_told(standin: StandIn, fault: Fault, trouble: Trouble) -> None:
    standin.scenario(f"bad-{fault.kind}").fail(fault)
    code, said, facts = ask(standin.url(f"bad-{fault.kind}"))
    assert code == 0
    limit = next(fact for fact in facts if isinstance(fact, Limited))
    assert limit.trouble is trouble
    assert limit.retry_s == fault.retry_after
    assert limit.text.split()[1] in said, "the engine gets the same status"
    assert facts == [Turn(model=True), limit, Turn(model=False)]


def test_a_cut_is_a_cut(standin: StandIn) -> None:
    standin.scenario("cut").fail(Fault("cut"))
    code, said, facts = ask(standin.url("cut"))
    assert (code, "IncompleteRead" in said) == (3, True)
    assert [fact.trouble for fact in facts if isinstance(fact, Limited)] == [Trouble.NETWORK]


def test_an_engine_that_gives_up_has_its_turn_back(standin: StandIn) -> None:
    standin.scenario("hang").fail(Fault("hang"))
    code, said, facts = ask(standin.url("hang"), "in pieces", "impatient")
    assert (code, "TimeoutError" in said) == (0, True)
    assert facts == [Turn(model=True), Turn(model=True, heard=True), Turn(model=False)]


def test_nobody_there() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # and nobody listens
        code, _, facts = ask(f"http://127.0.0.1:{held.getsockname()[1]}")
    assert code == 3
    assert [fact.trouble for fact in facts if isinstance(fact, Limited)] == [Trouble.NETWORK]


def test_it_ends_as_its_program_does(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    script = f"trap 'exit 7' TERM; touch {ready}; while :; do sleep 0.1; done"
    relay = subprocess.Popen(argv_of("http://127.0.0.1:9/v1", "X", ["/bin/sh", "-c", script]))
    while not ready.exists():
        assert relay.poll() is None
    relay.terminate()
    assert relay.wait(PATIENCE_S) == 7
