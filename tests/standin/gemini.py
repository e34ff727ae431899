"""Gemini: `POST /v1beta/models/MODEL:generateContent` and `:streamGenerateContent`."""

import json
from typing import Any

from tests.standin.talk import Answer, Message, Reply, Request, Tool


def read(body: dict[str, Any], size: int, path: str) -> Request:
    """Take in a request; an answer of a tool that is in it twice, as after a resumption, is one."""
    answers: set[str] = set()
    model, _, method = path.rpartition("/")[2].partition(":")
    messages = [Message("system", _text(body.get("systemInstruction") or {}))]
    for content in body.get("contents", []):
        role = "assistant" if content.get("role") == "model" else "user"
        for part in content.get("parts", []):
            if "functionResponse" in part:
                given = part["functionResponse"]
                if not given.get("id") or given["id"] not in answers:
                    messages.append(Message("result", json.dumps(given.get("response", {}))))
                answers.add(given.get("id", ""))
            else:
                messages.append(Message(role, part.get("text", "")))
    return Request(
        protocol="gemini",
        model=model,
        stream=method == "streamGenerateContent",
        messages=tuple(messages),
        tools=tuple(
            Tool(one["name"], one.get("parametersJsonSchema") or one.get("parameters") or {})
            for tool in body.get("tools", [])
            for one in tool.get("functionDeclarations", [])
        ),
        size=size,
    )


def _text(content: dict[str, Any] | str) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content.get("parts", []))


def write(answer: Answer) -> Reply:
    parts: list[dict[str, Any]] = [{"text": answer.text}] if answer.text else []
    # This protocol has no text form of arguments, so a wrong call can only have wrong ones.
    parts += [
        {
            "functionCall": {
                "id": call.id,
                "name": call.tool.name,
                "args": call.args if call.raw is None else {"": call.raw},
            }
        }
        for call in answer.calls
    ]
    sent = answer.usage.fresh + answer.usage.cached
    usage = {
        "promptTokenCount": sent,
        "cachedContentTokenCount": answer.usage.cached,
        "candidatesTokenCount": answer.usage.output,
        "totalTokenCount": sent + answer.usage.output,
    }
    head = {"modelVersion": answer.model, "responseId": answer.id}
    reason = "MAX_TOKENS" if answer.cut_short else "STOP"
    content = {"role": "model", "parts": parts or [{"text": ""}]}
    # Calls come whole, so a stream that is to break off in the middle begins with something else.
    begun = {"role": "model", "parts": [{"text": ""}]}
    chunks = [{**head, "candidates": [{"index": 0, "content": one}]} for one in (begun, content)]
    over = {"index": 0, "content": {"role": "model", "parts": []}, "finishReason": reason}
    last = {**head, "candidates": [over], "usageMetadata": usage}
    whole = {"index": 0, "content": content, "finishReason": reason}
    events: list[dict[str, Any]] = [*chunks, last]
    body = {**head, "candidates": [whole], "usageMetadata": usage}
    return Reply(body, tuple(("", event) for event in events))


def error(status: int, code: str, text: str) -> dict[str, Any]:
    words = {
        400: "INVALID_ARGUMENT",
        401: "UNAUTHENTICATED",
        403: "PERMISSION_DENIED",
        429: "RESOURCE_EXHAUSTED",
        503: "UNAVAILABLE",
    }
    if code == "overflow":
        text = (
            "The input token count (2500000) exceeds the maximum number of tokens"
            " allowed (1048576)."
        )
    return {"error": {"code": status, "message": text, "status": words.get(status, "INTERNAL")}}
