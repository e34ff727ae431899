"""Every setting in words: the file that `corral init` writes, and the rows of the reference page.

Both are made from the classes of `core/config` and the text below each of their fields.
"""

import ast
import inspect
import textwrap
import typing
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from corral.core.config import Config, EngineSettings, Section

_COLUMN = 26  # where the explanation of a setting begins
_WIDTH = 118

_HEAD = """\
# Corral's settings for this repository. Commit this file, so that everyone shares them.
# Every setting is optional. A line that begins with '#' shows a default
# or an example: remove the '#' to change it.

# The coding agent that does the work. `corral engine list` shows which are installed here.
# [engine.default]
# type = "claude-code"
# env = ["ANTHROPIC_API_KEY"]  # the names of variables to pass through, never their values

[refinery]
# The commands that must pass before work lands:
# checks = ["make test"]
"""
_SHOWN = ("checks",)  # in the head
_TAIL = """
# Everything that an engine profile can set; there may be several, like [engine.fast]:
# [engine.NAME]
"""


def texts(owner: type) -> dict[str, str]:
    """Return the text below each field of a Struct, or each member of an enum, by name."""
    body = ast.parse(textwrap.dedent(inspect.getsource(owner))).body[0]
    assert isinstance(body, ast.ClassDef)
    found: dict[str, str] = {}
    for field, below in zip(body.body, body.body[1:], strict=False):
        match field, below:
            case (
                (ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)])),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                found[name] = " ".join(text.split())
    return found


def settings(section: type[Struct] = Config, path: str = "") -> Iterator[tuple[str, str, str]]:
    """Yield each setting's name, default and text; NAME is any name, and [] one of a list."""
    said = texts(section)
    for field in msgspec.structs.fields(section):
        kinds = [field.type, *typing.get_args(field.type)]
        inner = next((k for k in kinds if isinstance(k, type) and issubclass(k, Struct)), None)
        name = f"{path}{field.encode_name}"
        if inner is None:
            yield name, default_of(field), said[field.name]
        else:
            one_of = {dict: ".NAME", tuple: "[]"}.get(typing.get_origin(field.type), "")
            yield from settings(inner, f"{name}{one_of}.")


def default_of(field: msgspec.structs.FieldInfo) -> str:
    """Return a field's default as JSON; empty if it has none."""
    if field.required:
        return ""
    made = field.default_factory is not msgspec.NODEFAULT
    return msgspec.json.encode(field.default_factory() if made else field.default).decode()


def file() -> str:
    """Return the file that `corral init` writes: every setting with its default and its text."""
    kinds = {field.name: field.type for field in msgspec.structs.fields(Config)}
    lines = [*_HEAD.splitlines(), *_lines(kinds.pop("refinery"))]
    for name, kind in kinds.items():
        if name != "engine":
            lines += ["", f"[{name}]".ljust(_COLUMN) + f"# {inspect.getdoc(kind)}", *_lines(kind)]
    lines += [*_TAIL.splitlines(), *_lines(EngineSettings)]
    return "\n".join(lines) + "\n"


def _lines(section: type[Section]) -> Iterator[str]:
    said = texts(section)
    for field in msgspec.structs.fields(section):
        if field.name in _SHOWN:
            continue
        value = default_of(field).replace(",", ", ") or '""'
        setting = f"# {field.encode_name} = {'true' if value == 'null' else value}".ljust(
            _COLUMN - 1
        )
        first, *more = textwrap.wrap(
            said[field.name].replace("`", ""), _WIDTH - _COLUMN - 2, break_on_hyphens=False
        )
        yield f"{setting} # {first}"
        yield from (f"{'#':{_COLUMN + 2}}{line}" for line in more)
