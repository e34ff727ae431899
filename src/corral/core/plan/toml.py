"""Read a plan written in TOML."""

import re
import tomllib

from corral.core.plan.problems import Source, unreadable
from corral.core.toml_lines import lines_of, outline

# Python's parser takes quadratic time in the number of parts of a key; no plan needs this many.
_MOST_DOTS = 64

_ERROR = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


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
