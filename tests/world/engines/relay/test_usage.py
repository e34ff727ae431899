"""What a response says about its usage, in every protocol, however its bytes arrive."""

import json
from typing import Any

import pytest

from corral.core.engine.facts import Spent
from corral.world.engines.relay import usage
from corral.world.engines.relay.usage import ResponseReader, spent_of
from tests.standin import anthropic, gemini, openai_chat, openai_responses
from tests.standin.talk import Answer, Reply, Usage

USED = Usage(fresh=1200, cached=300, output=45)
SAID = 'words with "usage": {"input_tokens": 9} in them'
WRITERS = {
    "messages": anthropic.write,
    "chat": openai_chat.write,
    "responses": openai_responses.write,
    "gemini": gemini.write,
}


def streamed(reply: Reply) -> bytes:
    texts = (data if isinstance(data, str) else json.dumps(data) for _, data in reply.events)
    return "".join(f"event: e\r\ndata: {text}\r\n\r\n" for text in texts).encode()


def read(text: bytes, *, events: bool, at_once: int) -> Spent | None:
    heard = ResponseReader(events=events)
    for start in range(0, len(text), at_once):
        heard.feed(text[start : start + at_once])
    assert heard.error == ""
    return heard.spent()


@pytest.mark.parametrize("at_once", [1, 7, 1 << 20])
@pytest.mark.parametrize("protocol", WRITERS)
def test_the_figures_are_those_of_the_answer(protocol: str, at_once: int) -> None:
    reply = WRITERS[protocol](Answer(id="a-1", model="m", text=SAID, calls=(), usage=USED))
    spent = Spent(1200, 300, 45, model="m")
    assert read(streamed(reply), events=True, at_once=at_once) == spent
    pretty = json.dumps(reply.body, indent=2).encode()
    assert read(pretty, events=False, at_once=at_once) == spent


def test_an_answer_that_is_cut_says_as_much_as_has_come() -> None:
    text = streamed(anthropic.write(Answer(id="a-1", model="m", text=SAID, calls=(), usage=USED)))
    whole = text[: text.index(b"message_delta")]
    assert read(whole, events=True, at_once=100) == Spent(1200, 300, 0, model="m")
    assert read(b'data: {"usage": {"prom', events=True, at_once=100) is None


@pytest.mark.parametrize(
    ("figures", "spent"),
    [
        (
            {"input_tokens": 10, "cache_creation_input_tokens": 5, "cache_read_input_tokens": 7},
            Spent(15, 7, 0),
        ),
        (
            {"promptTokenCount": 10, "toolUsePromptTokenCount": 2, "thoughtsTokenCount": 3},
            Spent(12, 0, 3),
        ),
        (
            {"prompt_tokens": 4, "completion_tokens": 2, "prompt_tokens_details": None},
            Spent(4, 0, 2),
        ),
        ({"input_tokens": "many"}, Spent()),
        ({"total_tokens": 4}, None),
    ],
)
def test_figures_of_each_kind(figures: dict[str, Any], spent: Spent | None) -> None:
    assert spent_of(figures) == spent


def test_what_is_too_long_is_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(usage, "_LONGEST", 1000)
    last = b'data: {"usage": {"prompt_tokens": 4, "completion_tokens": 2}}\n'
    for long in (b"x" * 5000, b'data: {"usage": {"prompt_tokens": 9}, "x": "' + b"x" * 5000):
        assert read(long + b"\n" + last, events=True, at_once=300) == Spent(4, 0, 2)
    assert read(b'{"usage": {"prompt_tokens": 9}}' + b" " * 2000, events=False, at_once=9) is None


@pytest.mark.parametrize(
    ("event", "word"),
    [
        ({"type": "error", "error": {"type": "overloaded_error"}}, "overloaded"),
        ({"type": "error", "code": "rate_limit_exceeded"}, "rate_limit"),
        (
            {"type": "response.failed", "response": {"error": {"code": "server_is_overloaded"}}},
            "is",
        ),
        ({"error": {"code": 503, "status": "UNAVAILABLE"}}, "503"),
    ],
)
def test_an_answer_that_fails_in_its_middle_says_why(event: dict[str, Any], word: str) -> None:
    heard = ResponseReader(events=True)
    heard.feed(b'data: {"type": "response.created", "response": {"error": null}}\n\n')
    assert heard.error == ""
    heard.feed(f"event: error\ndata: {json.dumps(event)}\n\n".encode())
    assert word in heard.error
