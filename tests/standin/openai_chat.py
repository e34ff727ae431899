"""OpenAI Chat Completions: `POST /v1/chat/completions`."""

import json
from typing import Any

from tests.standin.talk import Answer, Call, Message, Reply, Request, Tool


def read(body: dict[str, Any], size: int) -> Request:
    return Request(
        protocol="chat",
        model=body.get("model", ""),
        stream=bool(body.get("stream")),
        messages=tuple(
            Message(
                {"tool": "result", "developer": "system"}.get(message["role"], message["role"]),
                text(message.get("content")),
            )
            for message in body.get("messages", [])
        ),
        tools=tuple(_tool(tool) for tool in body.get("tools") or []),
        size=size,
    )


def text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or ())


def _tool(tool: dict[str, Any]) -> Tool:
    kind = tool.get("type", "function")
    described = tool.get(kind, {})
    return Tool(described.get("name", ""), described.get("parameters", {}), kind)


def write(answer: Answer) -> Reply:
    calls = [_call(index, call) for index, call in enumerate(answer.calls)]
    stop = "length" if answer.cut_short else "tool_calls" if calls else "stop"
    head = {"id": answer.id, "created": 1, "model": answer.model}
    sent = answer.usage.fresh + answer.usage.cached
    usage = {
        "prompt_tokens": sent,
        "completion_tokens": answer.usage.output,
        "total_tokens": sent + answer.usage.output,
        "prompt_tokens_details": {"cached_tokens": answer.usage.cached},
    }
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
    if calls:
        message["tool_calls"] = calls

    def chunk(delta: dict[str, Any], reason: str | None = None) -> tuple[str, dict[str, Any]]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return "", {**head, "object": "chat.completion.chunk", "choices": [choice]}

    events: list[tuple[str, dict[str, Any] | str]] = [chunk({"role": "assistant", "content": ""})]
    if answer.text:
        events.append(chunk({"content": answer.text}))
    events += [chunk({"tool_calls": [call]}) for call in calls]
    events.append(chunk({}, stop))
    last = {**head, "object": "chat.completion.chunk", "choices": [], "usage": usage}
    events += [("", last), ("", "[DONE]")]
    choice = {"index": 0, "message": message, "finish_reason": stop}
    body = {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
    return Reply(body, tuple(events))


def _call(index: int, call: Call) -> dict[str, Any]:
    if call.tool.kind == "custom":
        custom = {"name": call.tool.name, "input": call.raw or ""}
        return {"index": index, "id": call.id, "type": "custom", "custom": custom}
    arguments = json.dumps(call.args) if call.raw is None else call.raw
    function = {"name": call.tool.name, "arguments": arguments}
    return {"index": index, "id": call.id, "type": "function", "function": function}


def error(status: int, code: str, text: str) -> dict[str, Any]:
    kinds = {401: "invalid_api_key", 429: "rate_limit_exceeded"}
    if status == 401:  # programs look for these very words
        text = "Incorrect API key provided: none. You can find your API key in your settings."
    if code == "quota":
        kinds[429] = "insufficient_quota"
    if code == "overflow":
        text = (
            "This model's maximum context length is 200000 tokens. However, your messages resulted"
            " in 250000 tokens. Please reduce the length of the messages."
        )
    return {
        "error": {
            "message": text,
            "type": "invalid_request_error" if status < 429 else "server_error",
            "param": None,
            "code": "context_length_exceeded" if code == "overflow" else kinds.get(status),
        }
    }
