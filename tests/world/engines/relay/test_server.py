"""The relay forwards everything and reports turns, tokens and errors."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from corral.core.engine.facts import AnyFact, Fact, Finished, Limited, Spent, Trouble, Turn
from corral.world.engines.relay import server as relay
from corral.world.engines.relay.reader import MARK, PLACE, argv_of
from corral.world.engines.relay.server import Printer
from tests.patience import PATIENCE_S
from tests.standin.faults import Fault
from tests.standin.server import StandIn, key_mark, serving, wait_for

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
    print("#", answer.readline(), flush=True)
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


def ask(url: str, *words: str, **env: str) -> tuple[int, str, list[Fact]]:
    """Ask through a relay; return the exit code, what the asker says, and the facts."""
    origin, below = url[: url.index("/", 8)], url[url.index("/", 8) :]
    done = subprocess.run(
        argv_of(origin, [sys.executable, "-c", ASK, BODY, *words]),
        env={"KEY": KEY, "PATH": "", "MODEL_URL": f"{PLACE}{below}/v1", **env},
        capture_output=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert KEY.encode() not in done.stdout + done.stderr
    assert done.stderr == b""
    lines = done.stdout.split(b"\n")
    said = b"\n".join(line for line in lines if line.startswith(b"#")).decode()
    facts = [msgspec.json.decode(line[1:], type=AnyFact) for line in lines if line[:1] == MARK]
    return done.returncode, said, facts


@pytest.mark.parametrize("words", [(), ("in pieces",)])
def test_all_passes_as_it_is(standin: StandIn, words: tuple[str, ...]) -> None:
    name = f"fine{len(words)}"
    code, said, facts = ask(standin.url(name), *words)
    assert code == 0
    assert "# 200" in said
    assert "Hello, you." in said
    assert "[DONE]" in said
    scenario = standin.scenario(name)
    used = scenario.seen().usage
    spent = Spent(used.fresh, used.cached, used.output, model="m")
    assert spent.output > 0
    assert facts == [Turn(model=True), spent, Turn(model=False, heard=True)]
    seen = scenario.seen(bodies=True).requests
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


def test_an_answer_that_fails_in_its_middle_was_none(standin: StandIn) -> None:
    standin.scenario("late").fail(Fault("stream_error"))
    code, said, facts = ask(standin.url("late"))
    assert (code, "Overloaded" in said) == (0, True)
    assert [fact.trouble for fact in facts if isinstance(fact, Limited)] == [Trouble.OVERLOAD]
    assert facts[-1] == Turn(model=False)


def test_a_cut_is_a_cut(standin: StandIn) -> None:
    standin.scenario("cut").fail(Fault("cut"))
    code, said, facts = ask(standin.url("cut"))
    assert (code, "IncompleteRead" in said) == (3, True)
    assert [fact.trouble for fact in facts if isinstance(fact, Limited)] == [Trouble.NETWORK]


def test_an_engine_that_gives_up_has_its_turn_back(standin: StandIn) -> None:
    standin.scenario("hang").fail(Fault("hang"))
    code, said, facts = ask(standin.url("hang"), "in pieces", "impatient")
    assert (code, "TimeoutError" in said) == (0, True)
    assert "chat.completion.chunk" in said, "what comes is passed on at once"
    assert facts == [Turn(model=True), Turn(model=False)]


def test_one_that_gives_up_after_a_silence_met_trouble(
    standin: StandIn, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr(relay, "_SILENT_S", 0)
    standin.scenario("mute").fail(Fault("hang_headers"))
    server = relay.Relay(standin.url()[: -len("/s/default")], Printer())
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        with socket.create_connection(("127.0.0.1", server.server_address[1])) as asked:
            head = f"POST /s/mute/v1/chat/completions HTTP/1.1\r\ncontent-length: {len(BODY)}"
            asked.sendall(f"{head}\r\n\r\n{BODY}".encode())
            wait_for(standin.scenario("mute"), 1)
        server.settle()
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    facts = [
        msgspec.json.decode(line[1:], type=AnyFact)
        for line in capfdbinary.readouterr().out.splitlines()
    ]
    text = "gave up after 0 s of silence"
    assert facts == [Turn(model=True), Limited(Trouble.NETWORK, text=text), Turn(model=False)]


def test_an_unreachable_server() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # bound, but not listening
        code, _, facts = ask(f"http://127.0.0.1:{held.getsockname()[1]}/s")
    assert code == 3
    assert [fact.trouble for fact in facts if isinstance(fact, Limited)] == [Trouble.NETWORK]


def test_it_ends_as_its_program_does(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    script = f"trap 'exit 7' TERM; touch {ready}; while :; do sleep 0.1; done"
    running = subprocess.Popen(argv_of("http://127.0.0.1:9", ["/bin/sh", "-c", script]))
    while not ready.exists():
        assert running.poll() is None
    running.terminate()
    assert running.wait(PATIENCE_S) == 7


def test_an_engine_behind_a_proxy_is_not_relayed(standin: StandIn) -> None:
    code, said, facts = ask(standin.url("alone"), HTTPS_PROXY="http://127.0.0.1:9")
    assert (code, facts) == (0, [])
    assert "Hello, you." in said


def test_a_program_that_is_not_there() -> None:
    command = argv_of("http://127.0.0.1:9", ["/nowhere/at/all"])
    done = subprocess.run(command, capture_output=True, timeout=PATIENCE_S, check=False)
    fact = msgspec.json.decode(done.stdout.removeprefix(MARK), type=AnyFact)
    assert done.returncode == 127
    assert fact == Finished(Trouble.OTHER, "/nowhere/at/all: No such file or directory")


def test_facts_stand_between_the_lines_of_the_engine(capfd: pytest.CaptureFixture[str]) -> None:
    printer = Printer()
    printer.take(b"one\ntw")
    printer.tell(Turn(model=True))
    printer.take(b"o\nthr")
    assert capfd.readouterr().out == 'one\ntwo\n\x1e{"fact":"turn","model":true}\nthr'
    printer.tell(Turn(model=False))
    assert capfd.readouterr().out == ""
    printer.interrupt()  # it says nothing more
    assert capfd.readouterr().out == '\n\x1e{"fact":"turn","model":false}\n'


def test_what_is_left_of_an_engine_does_not_hold_the_relay_up() -> None:
    script = "sleep 30 & echo said; exit 5"
    command = argv_of("http://127.0.0.1:9", ["/bin/sh", "-c", script])
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as running:
        try:
            assert running.wait(PATIENCE_S) == 5
            assert running.stdout is not None
            assert running.stdout.read() == b"said\n"
        finally:
            os.killpg(running.pid, signal.SIGKILL)


def test_a_key_that_the_other_side_repeats_is_taken_out_before_its_words_are_cut() -> None:
    key = "sk-proj-" + "a1B2" * 8
    assert key[:12] not in relay._quoted("x" * (relay._QUOTED - 14) + " " + key)
