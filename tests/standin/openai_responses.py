"""OpenAI Responses: `POST /v1/responses`."""

import json
from typing import Any

from tests.standin import openai_chat
from tests.standin.talk import Answer, Call, Message, Reply, Request, Tool

error = openai_chat.error


def read(body: dict[str, Any], size: int) -> Request:
    asked = body.get("input", "")
    items = [{"role": "user", "content": asked}] if isinstance(asked, str) else asked
    found = [tool for item in items for tool in item.get("tools", ())]  # by a tool_search
    return Request(
        protocol="responses",
        model=body.get("model", ""),
        stream=bool(body.get("stream")),
        messages=(
            Message("system", body.get("instructions") or ""),
            *(part for item in items for part in _message(item)),
        ),
        tools=tuple(one for tool in [*(body.get("tools") or []), *found] for one in _tools(tool)),
        size=size,
    )


def _message(item: dict[str, Any]) -> list[Message]:
    kind = item.get("type", "message")
    if kind in ("function_call_output", "custom_tool_call_output"):
        return [Message("result", openai_chat.text(item.get("output")))]
    if kind != "message":
        return []
    role = "system" if item["role"] == "developer" else item["role"]
    return [Message(role, openai_chat.text(item.get("content")))]


def _tools(tool: dict[str, Any]) -> list[Tool]:
    kind = tool.get("type", "function")
    name = tool.get("name", "")
    if kind == "namespace":
        return [
            Tool(one["name"], one.get("parameters", {}), one.get("type", "function"), name)
            for one in tool.get("tools", [])
        ]
    if kind == "tool_search":
        return [Tool("tool_search", tool.get("parameters", {}), kind)]
    return [Tool(name, tool.get("parameters") or {}, kind)]


def write(answer: Answer) -> Reply:
    items = [_said(answer)] if answer.text else []
    items += [_call(call) for call in answer.calls]
    sent = answer.usage.fresh + answer.usage.cached
    head = {
        "id": answer.id,
        "object": "response",
        "created_at": 1,
        "model": answer.model,
        "error": None,
    }
    done = {
        **head,
        "status": "incomplete" if answer.cut_short else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if answer.cut_short else None,
        "output": items,
        "usage": {
            "input_tokens": sent,
            "input_tokens_details": {"cached_tokens": answer.usage.cached},
            "output_tokens": answer.usage.output,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": sent + answer.usage.output,
        },
    }
    begun = {**head, "status": "in_progress", "output": []}
    events: list[tuple[str, dict[str, Any]]] = [("response.created", {"response": begun})]
    for index, item in enumerate(items):
        place = {"output_index": index}
        events.append(("response.output_item.added", {**place, "item": _empty(item)}))
        if item["type"] == "message":
            delta = {**place, "item_id": item["id"], "content_index": 0, "delta": answer.text}
            events.append(("response.output_text.delta", delta))
        events.append(("response.output_item.done", {**place, "item": item}))
    last = "response.incomplete" if answer.cut_short else "response.completed"
    events.append((last, {"response": done}))
    return Reply(
        done,
        tuple(
            (name, {"type": name, "sequence_number": number, **data})
            for number, (name, data) in enumerate(events)
        ),
    )


def _said(answer: Answer) -> dict[str, Any]:
    return {
        "type": "message",
        "id": f"msg_{answer.id}",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": answer.text, "annotations": []}],
    }


def _call(call: Call) -> dict[str, Any]:
    head = {"id": f"fc_{call.id}", "call_id": call.id, "status": "completed"}
    if call.tool.kind == "tool_search":
        return {**head, "type": "tool_search_call", "execution": "client", "arguments": call.args}
    named = {**head, "name": call.tool.name}
    if call.tool.space:
        named["namespace"] = call.tool.space
    if call.tool.kind == "custom":
        return {**named, "type": "custom_tool_call", "input": call.raw or ""}
    arguments = json.dumps(call.args) if call.raw is None else call.raw
    return {**named, "type": "function_call", "arguments": arguments}


def _empty(item: dict[str, Any]) -> dict[str, Any]:
    emptied = {"content": [], "arguments": "", "input": ""}
    kept = {key: emptied.get(key, value) for key, value in item.items()}
    return {**kept, "status": "in_progress"}
