"""Turns a step of a script into a call of whatever tool the program offered for it."""

import base64
import posixpath
import shlex
from typing import Any

from tests.standin.script import Step
from tests.standin.talk import Call, Request, Tool

_NAMES = {
    "write": ("write", "write_file", "create", "create_file", "createnewfile"),
    "edit": ("edit", "replace", "edit_file", "str_replace", "editfile"),
    "read": ("read", "read_file", "view", "readfile"),
    "run": ("bash", "shell", "exec_command", "shell_command", "run_shell_command", "run_terminal"),
    "patch": ("apply_patch",),
}
_MEANING = {
    "path": ("file_path", "filepath", "path", "absolute_path", "target_file", "file"),
    "content": ("content", "file_text", "contents", "text"),
    "old": ("old_string", "oldstring", "old_str", "old_text"),
    "new": ("new_string", "newstring", "new_str", "new_text"),
    "cmd": ("command", "cmd", "script"),
    "patch": ("input", "patch", "patchtext", "patch_text"),
}


def shape(step: Step, request: Request, number: int) -> Call:
    """Return the call for a step; files are changed through the shell if nothing else is there."""
    name = f"call_{number}_{step.op}"
    if step.op == "call":
        return Call(name, _called(step.tool, request), dict(step.args))
    tool = _offered(step.op, request)
    if tool is not None:
        return Call(name, tool, _arguments(tool, step, request))
    patch = _offered("patch", request)
    if patch is not None and step.op in ("write", "edit"):
        text = _patch(step)
        if patch.kind == "custom":
            return Call(name, patch, {}, raw=text)
        return Call(name, patch, _filled(patch, {"patch": text}))
    shell = _offered("run", request)
    if shell is None:
        return Call(name, Tool(step.op), {"path": step.path})
    return Call(name, shell, _filled(shell, {"cmd": _by_shell(step)}))


def _offered(op: str, request: Request) -> Tool | None:
    by_name = {tool.name.lower(): tool for tool in request.tools if not tool.space}
    return next((by_name[name] for name in _NAMES[op] if name in by_name), None)


def _called(name: str, request: Request) -> Tool:
    """Find a tool by its last part: each program puts something else before it."""
    fitting = [tool for tool in request.tools if tool.name == name or tool.name.endswith(name)]
    return min(fitting, key=lambda tool: len(tool.name), default=Tool(name))


def _arguments(tool: Tool, step: Step, request: Request) -> dict[str, Any]:
    path = step.path
    if path and (folder := request.folder()):
        path = posixpath.join(folder, path)
    return _filled(
        tool,
        {
            "path": path,
            "content": step.content,
            "old": step.old,
            "new": step.new,
            "cmd": step.cmd,
        },
    )


def _filled(tool: Tool, values: dict[str, str]) -> dict[str, Any]:
    properties: dict[str, Any] = tool.schema.get("properties", {})
    required = tool.schema.get("required", [])
    arguments: dict[str, Any] = {}
    for key, schema in properties.items():
        meaning = next((m for m, names in _MEANING.items() if key.lower() in names), "")
        if meaning in values and (key in required or values[meaning]):
            wants_list = schema.get("type") == "array"
            said = values[meaning]
            arguments[key] = ["bash", "-lc", said] if wants_list else said
        elif key in required:
            arguments[key] = _anything(schema)
    return arguments


def _anything(schema: dict[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    kind = kind[0] if isinstance(kind, list) else kind
    return {"boolean": False, "number": 1, "integer": 1, "array": [], "object": {}}.get(
        str(kind).lower(), "a step of the script"
    )


def _patch(step: Step) -> str:
    if step.op == "write":
        body = "".join(f"+{line}\n" for line in step.content.splitlines())
        return f"*** Begin Patch\n*** Add File: {step.path}\n{body}*** End Patch\n"
    old = "".join(f"-{line}\n" for line in step.old.splitlines())
    new = "".join(f"+{line}\n" for line in step.new.splitlines())
    return f"*** Begin Patch\n*** Update File: {step.path}\n@@\n{old}{new}*** End Patch\n"


def _by_shell(step: Step) -> str:
    path = shlex.quote(step.path)
    if step.op == "read":
        return f"cat {path}"
    if step.op == "write":
        coded = base64.b64encode(step.content.encode()).decode()
        return f"mkdir -p $(dirname {path}) && echo {coded} | base64 -d > {path}"
    return shlex.join(["python3", "-c", _CHANGE, step.path, step.old, step.new])


_CHANGE = """
import pathlib, sys
path = pathlib.Path(sys.argv[1])
path.write_text(path.read_text().replace(sys.argv[2], sys.argv[3], 1))
"""


def in_words(steps: list[Step]) -> str:
    """Return the changes as the blocks that a program without tools reads."""
    blocks = [block for step in steps if (block := _block(step))]
    said = [step.text for step in steps if step.op == "say"]
    return "\n\n".join([*said, *blocks]) or "Nothing to change."


def _block(step: Step) -> str:
    if step.op not in ("write", "edit"):
        return ""
    fence = "`" * 3
    old, new = ("", step.content) if step.op == "write" else (step.old, step.new)
    old, new = (text if not text or text.endswith("\n") else f"{text}\n" for text in (old, new))
    return f"{step.path}\n{fence}\n<<<<<<< SEARCH\n{old}=======\n{new}>>>>>>> REPLACE\n{fence}"
