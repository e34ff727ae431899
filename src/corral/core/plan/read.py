"""Reads a plan, with its problems, from the bytes of a file or an engine's answer."""

import re
import tomllib

from corral.core.plan.answer import read_answer
from corral.core.plan.markdown import read_markdown
from corral.core.plan.problems import Source, unreadable
from corral.core.plan.schema import MOST_BYTES
from corral.core.plan.shape import Shaped, shaped
from corral.core.toml_lines import lines_of, outline

_ENDINGS = {".toml": "toml", ".md": "markdown", ".markdown": "markdown", ".json": "json"}
_TABLE = re.compile(r"^[ \t]*\[{1,2}(?:convoy|policy|tasks?)[\].]", re.MULTILINE)
_CHECK_LIST = re.compile(r"^[ \t]*[-*+] +\[[ xX]?\] ", re.MULTILINE)
# Python's parser takes quadratic time in the number of parts of a key; no plan needs this many.
_MOST_DOTS = 64
_ERROR = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


def read(content: bytes, name: str = "", kind: str = "") -> Shaped:
    """Read a plan in the format `kind`, else by the file's extension, else by the text itself."""
    return shaped(_source(content, name, kind))


def _source(content: bytes, name: str, kind: str) -> Source:
    if len(content) > MOST_BYTES:
        most = MOST_BYTES >> 20
        return unreadable(f"the plan has at least {len(content):,} bytes: the limit is {most} MiB")
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        return unreadable(f"not UTF-8 text: byte 0x{content[error.start]:02x}", line)
    if not text.strip():
        return unreadable("the plan is empty")
    return FORMATS[kind or _format(name, text)](text)


def _format(name: str, text: str) -> str:
    ending = "." + name.lower().rpartition(".")[2]
    if ending in _ENDINGS:
        return _ENDINGS[ending]
    if _TABLE.search(text):
        return "toml"
    return "markdown" if _CHECK_LIST.search(text) else "json"


def read_toml(text: str) -> Source:
    """Read a plan; a text that cannot be read at all gives one problem."""
    outlined = outline(text)
    for number, line in enumerate(outlined.split("\n"), 1):
        if line.count(".") > _MOST_DOTS:
            return unreadable(f"not valid TOML: a key of more than {_MOST_DOTS} parts", number)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _ERROR.search(str(error))
        said = _ERROR.sub("", str(error))
        last = text.count("\n") + 1
        return unreadable(
            f"not valid TOML: {said[:1].lower()}{said[1:200]}"
            + ("" if not found or found[1] else " at the end of the text"),
            int(found[1]) if found and found[1] else last,
        )
    except RecursionError:
        return unreadable("not valid TOML: it is nested too deeply")
    return Source(data, lines_of(outlined))


FORMATS = {"toml": read_toml, "markdown": read_markdown, "json": read_answer}
