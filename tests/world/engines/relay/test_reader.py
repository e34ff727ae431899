"""Merging two reports of one run: the engine's and the relay's."""

import json
from typing import Any

import msgspec
import pytest

from corral.core.engine.facts import Began, Fact, Finished, Limited, Said, Spent, Trouble, Turn
from corral.world.engines.recipe import EngineJob, OutputReader
from corral.world.engines.registry import ENGINES, find
from corral.world.engines.relay import reader as relayed
from corral.world.engines.relay.reader import MARK, PLACE

BEFORE = Spent(1000, 200, 50)
AGENTS = tuple(name for name in ENGINES if name != "command")
JOB = EngineJob(
    session="AF-1.1",
    program=("/bin/agent",),
    tree="/tree",
    home="/home",
    prompt_file="/brief",
    base_url="https://gateway.example:8443/models",
    key="MY_KEY",
    model="m",
)
HOUR = Limited(Trouble.RATE, retry_s=3600, text="HTTP 429")
HEARD = Turn(model=False, heard=True)


def reader(engine: str, **changes: Any) -> OutputReader:
    return relayed.reader(find(engine), msgspec.structs.replace(JOB, **changes))


def passing(reader: OutputReader, *facts: Fact) -> list[Fact]:
    """Have the relay tell something."""
    lines = (MARK + msgspec.json.encode(fact) for fact in facts)
    return [fact for line in lines for fact in reader.feed(line, "out")]


def said(reader: OutputReader, **event: Any) -> list[Fact]:
    return reader.feed(json.dumps(event).encode(), "out")


@pytest.mark.parametrize("engine", AGENTS)
def test_every_engine_finds_its_model_through_the_relay(engine: str) -> None:
    prepared = relayed.prepared(find(engine), JOB)
    assert "corral.world.engines.relay.server" in prepared.argv
    assert "https://gateway.example:8443" in prepared.argv
    places = [*prepared.argv, *prepared.env.values()]
    assert any(f"{PLACE}/models" in place for place in places)
    elsewhere = [*places, *prepared.files.values()]
    assert not any("gateway.example:8443/" in place for place in elsewhere), "it has a way around"
    assert PLACE not in str(prepared.files), "only arguments and variables are filled in"


@pytest.mark.parametrize("url", ["", "ftp://somewhere", "https://me:secret@somewhere"])
def test_an_engine_that_cannot_be_relayed_is_left_alone(url: str) -> None:
    job = msgspec.structs.replace(JOB, base_url=url)
    assert relayed.prepared(find("codex"), job) == find("codex").prepare(job)


def test_a_wait_that_the_engine_keeps_to_itself_is_known() -> None:
    codex = reader("codex")
    assert passing(codex, Turn(model=True), HOUR) == [Turn(model=True), HOUR]
    assert said(codex, type="error", message="Reconnecting... 1/1") == [], "it knows less"
    (end,) = said(codex, type="turn.failed", error={"message": "exceeded retry limit"})
    assert end == Finished(Trouble.RATE, "exceeded retry limit", None, 3600)


def test_an_answer_ends_a_limit() -> None:
    codex = reader("codex")
    passing(codex, HOUR, HEARD)
    (end,) = said(codex, type="turn.failed", error={"message": "thread x not found"})
    assert (end.trouble, end.retry_s) == (Trouble.SESSION, None)  # type: ignore[attr-defined]


def test_status_goes_before_words_but_for_trouble_at_home() -> None:
    aider = reader("aider")
    passing(aider, Limited(Trouble.OVERLOAD, text="HTTP 503"))
    aider.feed(b"litellm.APIError: something", "out")
    assert [fact.trouble for fact in aider.finish()] == [Trouble.OVERLOAD]  # type: ignore[attr-defined]
    codex = reader("codex")
    passing(codex, HOUR)
    (end,) = said(codex, type="turn.failed", error={"message": "no rollout found"})
    assert end == Finished(Trouble.SESSION, "no rollout found")


def test_an_error_that_the_engine_may_recover_from_is_no_limit() -> None:
    codex = reader("codex")
    full = Limited(Trouble.OVERFLOW, text="HTTP 400")
    assert passing(codex, full, Limited(Trouble.REQUEST, text="HTTP 404"), full) == []
    assert codex.finish() == [Finished(Trouble.OVERFLOW, "HTTP 400")]


def test_one_that_breaks_off_has_a_reason_if_the_relay_knows_one() -> None:
    gemini = reader("gemini")
    passing(gemini, HOUR)
    assert gemini.finish() == [Finished(Trouble.RATE, "HTTP 429", None, 3600)]
    gemini = reader("gemini")
    passing(gemini, HOUR, HEARD)
    assert gemini.finish() == []


def total(reader: OutputReader, sent: int, cached: int, output: int) -> list[Fact]:
    usage = {"input_tokens": sent, "cached_input_tokens": cached, "output_tokens": output}
    return [f for f in said(reader, type="turn.completed", usage=usage) if isinstance(f, Spent)]


def test_what_was_used_is_known_at_once_and_counted_once() -> None:
    codex = reader("codex")
    first, second = Spent(100, 20, 5, model="dated"), Spent(200, 30, 7)
    assert passing(codex, first) == [Spent(100, 20, 5, model="m")]
    assert passing(codex, second) == [Spent(200, 30, 7, model="m")]
    assert total(codex, 350, 50, 12) == [Spent(300, 50, 12, model="m", total=True)]


def test_the_engine_may_be_first_with_its_sum() -> None:
    codex = reader("codex")
    passing(codex, Spent(100, 20, 5))
    whole = Spent(300, 50, 12, model="m", total=True)
    assert total(codex, 350, 50, 12) == [whole]
    assert passing(codex, Spent(200, 30, 7)) == [whole]


def test_the_larger_count_wins() -> None:
    silent, forgetful = reader("codex"), reader("codex", before=BEFORE, resume="t-1")
    passing(silent, Turn(model=True), HEARD)  # a server that tells no figures
    assert total(silent, 350, 50, 12) == [Spent(300, 50, 12, model="m", total=True)]
    # Killed before it wrote down its last answer, it adds up less than was used by then.
    passing(forgetful, Spent(500, 0, 10))
    assert total(forgetful, 1300, 200, 55) == [Spent(500, 0, 10, model="m", total=True)]


def test_cost_comes_from_the_engine_and_a_model_has_the_engines_name_for_it() -> None:
    claude = reader("claude-code", model="sonnet")
    assert said(claude, type="system", subtype="init", model="long-name") == [
        Began(model="long-name")
    ]
    message = {"id": "1", "model": "long-name", "usage": {"input_tokens": 3, "output_tokens": 1}}
    passing(claude, Turn(model=True))
    words = {**message, "content": [{"type": "text", "text": "Hello"}]}
    assert said(claude, type="assistant", message=words) == [Said("Hello")]
    assert passing(claude, Spent(3, 0, 40)) == [Spent(3, 0, 40, model="long-name")]
    models = {"long-name": {"inputTokens": 3, "outputTokens": 40}}
    spent, end = said(claude, type="result", modelUsage=models, total_cost_usd=0.5)
    assert spent == Spent(3, 0, 40, 0.5, "long-name", total=True)
    assert end == Finished()


@pytest.mark.parametrize("engine", ["aider", "opencode"])
def test_one_that_tells_each_turn_itself_is_believed(engine: str) -> None:
    assert passing(reader(engine), Spent(100, 20, 5)) == []


def test_half_a_fact_says_nothing() -> None:
    assert reader("codex").feed(MARK + b'{"fact":"turn","mod', "out") == []
    assert reader("aider").feed(b'{"fact":"finished"}', "out") == [], "an engine is no relay"
