"""The model itself: what is answered to a request. It remembers nothing."""

from tests.standin.faults import Fault
from tests.standin.script import Step, due, read_into
from tests.standin.talk import Answer, Call, Request, Tool, Usage
from tests.standin.tool_calls import in_words, shape


def answer(request: Request, number: int, fault: Fault | None) -> tuple[Answer, float]:
    """Return the answer, and how long the model thinks about it."""
    script, results = request.script()
    kind = fault.kind if fault else ""
    text = "Work on the task"  # a title, a summary, a commit message
    calls: tuple[Call, ...] = ()
    delay = 0.0
    if kind == "empty":
        text = ""
    elif request.edits_in_text:
        whole = [step for turn in script for step in turn]
        text = in_words(whole)
        delay = sum(step.delay for step in whole)
    elif request.is_work:
        now = due(script, results)
        text, delay = now.text, now.delay
        steps = tuple(read_into(step, request.results()) for step in now.calls)
        calls = tuple(_calls(request, number, steps, kind))
    output = max(1, (len(text) + sum(len(str(call.args)) for call in calls)) // 4)
    sent = max(1, request.size // 4)
    cached = sent // 2 if results else 0
    usage = Usage(fresh=sent - cached, cached=cached, output=output)
    said = Answer(
        id=f"answer_{number}",
        model=request.model,
        text=text,
        calls=calls,
        usage=usage,
        cut_short=kind == "maxtokens",
    )
    return said, delay


def _calls(request: Request, number: int, steps: tuple[Step, ...], kind: str) -> list[Call]:
    calls = [shape(step, request, number * 10 + index) for index, step in enumerate(steps)]
    search = next((tool for tool in request.tools if tool.kind == "tool_search"), None)
    offered = {(tool.space, tool.name) for tool in request.tools}
    missing = [call for call in calls if (call.tool.space, call.tool.name) not in offered]
    if search and missing:
        return [Call(f"search_{number}", search, {"query": missing[0].tool.name, "limit": 8})]
    if kind == "unknowntool":
        return [Call(call.id, Tool("no_such_tool"), call.args) for call in calls]
    if kind == "badtool":
        return [Call(call.id, call.tool, {}, raw='{"path": "half') for call in calls]
    return calls
