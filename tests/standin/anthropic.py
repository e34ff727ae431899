"""Anthropic Messages: `POST /v1/messages`."""

import json
from typing import Any

from tests.standin.talk import Answer, Call, Message, Reply, Request, Tool


def read(body: dict[str, Any], size: int) -> Request:
    messages = [Message("system", _text(body.get("system", "")))]
    for message in body.get("messages", []):
        messages += _parts(message["role"], message["content"])
    return Request(
        protocol="anthropic",
        model=body.get("model", ""),
        stream=bool(body.get("stream")),
        messages=tuple(messages),
        tools=tuple(
            Tool(tool["name"], tool.get("input_schema", {})) for tool in body.get("tools", [])
        ),
        size=size,
    )


def _parts(role: str, content: Any) -> list[Message]:
    if isinstance(content, str):
        return [Message(role, content)]
    return [
        Message("result", _text(part.get("content", "")))
        if part.get("type") == "tool_result"
        else Message(role, part.get("text", ""))
        for part in content
    ]


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content)


def write(answer: Answer) -> Reply:
    head: dict[str, Any] = {
        "id": answer.id,
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "stop_sequence": None,
    }
    blocks: list[dict[str, Any]] = [{"type": "text", "text": answer.text}] if answer.text else []
    blocks += [_block(call) for call in answer.calls]
    stop = "max_tokens" if answer.cut_short else "tool_use" if answer.calls else "end_turn"
    usage = {
        "input_tokens": answer.usage.fresh,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": answer.usage.cached,
        "output_tokens": answer.usage.output,
    }
    begin = {**head, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 0}}
    events: list[tuple[str, dict[str, Any]]] = [("message_start", {"message": begin})]
    for index, block in enumerate(blocks):
        events += _streamed(index, block, answer)
    events += [
        (
            "message_delta",
            {
                "delta": {"stop_reason": stop, "stop_sequence": None},
                "usage": {"output_tokens": answer.usage.output},
            },
        ),
        ("message_stop", {}),
    ]
    return Reply(
        {**head, "content": blocks, "stop_reason": stop, "usage": usage},
        tuple((name, {"type": name, **data}) for name, data in events),
    )


def _block(call: Call) -> dict[str, Any]:
    return {
        "type": "tool_use",
        "id": f"toolu_{call.id}",
        "name": call.tool.name,
        "input": call.args,
    }


def _streamed(
    index: int, block: dict[str, Any], answer: Answer
) -> list[tuple[str, dict[str, Any]]]:
    if block["type"] == "text":
        empty: dict[str, Any] = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": block["text"]}
    else:
        empty = {**block, "input": {}}
        raw = next(call.raw for call in answer.calls if f"toolu_{call.id}" == block["id"])
        delta = {
            "type": "input_json_delta",
            "partial_json": json.dumps(block["input"]) if raw is None else raw,
        }
    return [
        ("content_block_start", {"index": index, "content_block": empty}),
        ("content_block_delta", {"index": index, "delta": delta}),
        ("content_block_stop", {"index": index}),
    ]


def error(status: int, code: str, text: str) -> dict[str, Any]:
    kinds = {
        400: "invalid_request_error",
        401: "authentication_error",
        429: "rate_limit_error",
        529: "overloaded_error",
    }
    if code == "overflow":
        text = "prompt is too long: 250000 tokens > 200000 maximum"
    return {"type": "error", "error": {"type": kinds.get(status, "api_error"), "message": text}}
