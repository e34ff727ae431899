"""The script of the stand-in, read from the prompt itself.

    PLAN [{"op":"write","path":"a.py","content":"x = 1\\n"}, {"op":"say","text":"done"}]
    WRITE path <<<content>>>   EDIT path <<<old>>> <<<new>>>   READ path
    RUN <<<command>>>          CALL tool <<<json>>>            SAY <<<text>>>

A step of a PLAN that is a list becomes tool calls in parallel. `"delay": seconds` on a step makes
the model slow. With `"texts": [...]` and a `"mark"`, what is said depends on how often the user has
said the mark since: a model that is corrected. `"{{N PATTERN}}"` as an argument is what the pattern
finds in the answers of tools, the Nth time (-1: the last time): a model that has read them. The
script is found again in every request, so nothing has to be remembered.
"""

import json
import re
from typing import Any

import msgspec
from msgspec import Struct


class Step(Struct, frozen=True):
    op: str
    path: str = ""
    content: str = ""
    old: str = ""
    new: str = ""
    cmd: str = ""
    tool: str = ""
    args: dict[str, Any] = {}
    text: str = ""
    texts: tuple[str, ...] = ()  # what is said the first time, the second time, …
    mark: str = ""  # counts in what the user said since
    delay: float = 0.0


Turn = tuple[Step, ...]  # calls that are made at once

_WORD = re.compile(
    r"^[ \t>]*(?:"
    r"WRITE (?P<write>\S+) <<<(?P<content>.*?)>>>"
    r"|EDIT (?P<edit>\S+) <<<(?P<old>.*?)>>> <<<(?P<new>.*?)>>>"
    r"|READ (?P<read>\S+)"
    r"|RUN <<<(?P<cmd>.*?)>>>"
    r"|CALL (?P<tool>\S+)(?: <<<(?P<args>.*?)>>>)?"
    r"|SAY <<<(?P<text>.*?)>>>)",
    re.MULTILINE | re.DOTALL,
)
_PLAN = re.compile(r"\bPLAN (?=\[)")


def script_in(text: str) -> list[Turn]:
    """Return the steps that a text asks for; empty if it holds no script."""
    for found in reversed(list(_PLAN.finditer(text))):
        try:
            plan, _ = json.JSONDecoder().raw_decode(text, found.end())
        except json.JSONDecodeError:
            continue
        return [
            tuple(
                msgspec.convert(one, Step) for one in (turn if isinstance(turn, list) else [turn])
            )
            for turn in plan
        ]
    return [(_step(found),) for found in _WORD.finditer(text)]


def _step(found: re.Match[str]) -> Step:
    said = {key: value for key, value in found.groupdict().items() if value is not None}
    for op in ("write", "edit", "read"):
        if op in said:
            return Step(
                op,
                path=said[op],
                content=said.get("content", ""),
                old=said.get("old", ""),
                new=said.get("new", ""),
            )
    if "cmd" in said:
        return Step("run", cmd=said["cmd"])
    if "tool" in said:
        return Step("call", tool=said["tool"], args=json.loads(said.get("args", "{}")))
    return Step("say", text=said["text"])


class Due(Struct, frozen=True):
    """What is to be answered now: words, then calls; no calls end the turn."""

    text: str
    calls: Turn = ()
    delay: float = 0.0


def in_turn(script: list[Turn], since: str) -> list[Turn]:
    """Choose what is said this time."""
    return [tuple(_chosen(step, since) for step in turn) for turn in script]


def _chosen(step: Step, since: str) -> Step:
    if not step.texts:
        return step
    number = min(since.count(step.mark), len(step.texts) - 1)
    return msgspec.structs.replace(step, text=step.texts[number])


_FOUND = re.compile(r"\{\{(-?\d+) (.+)\}\}", re.DOTALL)


def read_into(step: Step, results: str) -> Step:
    """Put what tools have answered into the arguments that ask for it."""
    plain = results.replace("\\", "")  # some programs quote an answer once more

    def filled(value: Any) -> Any:
        asked = _FOUND.fullmatch(value) if isinstance(value, str) else None
        if asked is None:
            return value
        found, number = re.findall(asked[2], plain), int(asked[1])
        return found[number] if -len(found) <= number < len(found) else "nothing like it"

    given = {name: filled(value) for name, value in step.args.items()}
    return msgspec.structs.replace(step, args=given)


def due(script: list[Turn], results: int) -> Due:
    """Return the step after this many tool results."""
    words: list[str] = []
    delay = 0.0
    for turn in script:
        calls = tuple(step for step in turn if step.op != "say")
        if calls and results >= len(calls):
            results -= len(calls)
            words.clear()
            delay = 0.0
            continue
        words += [step.text for step in turn if step.op == "say"]
        delay += max(step.delay for step in turn)
        if calls:
            return Due("\n".join(words), calls, delay)
    return Due("\n".join(words) or "Done.", (), delay)
