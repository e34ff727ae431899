"""A plan from TOML, with the line of each table and key."""

import re
import tomllib

from corral.core.plan.problems import Place, Source, unreadable

# Python's parser takes time in the square of a key's parts: nobody needs as many.
_MOST_DOTS = 64

# A group that is repeated possessively, `(…)*+`, matches wrongly in Python before 3.11.5.
_OPENING = re.compile("\"\"\"|'''|[\"'#]")
_REST = {
    '"""': re.compile(r'(?:[^"\\]++|\\.|"(?!""))*"{3,5}', re.DOTALL),
    "'''": re.compile(r"(?:[^']++|'(?!''))*'{3,5}"),
    '"': re.compile(r'(?:[^"\\\n]++|\\.)*"'),
    "'": re.compile(r"[^'\n]*+'"),
    "#": re.compile(r"[^\n]*+"),
}
_ERROR = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


def read_toml(text: str) -> Source:
    """Read a plan; what cannot be read at all has one problem."""
    outline = _outline(text)
    for number, line in enumerate(outline.split("\n"), 1):
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
    return Source(data, _lines(outline))


def _outline(text: str) -> str:
    """Return the same lines without comments, and with nothing in texts that could mislead."""
    kept: list[str] = []
    at = 0
    while found := _OPENING.search(text, at):
        kept.append(text[at : found.start()])
        rest = _REST[found[0]].match(text, found.end())
        if rest is None:
            at = len(text)  # a text without an end: the parser will say so
            break
        if found[0] != "#":
            inside = text[found.end() : rest.end() - len(found[0])]
            kept.append(re.sub(r"[^\w\n-]", "_", inside))
        at = rest.end()
    return "".join([*kept, text[at:]])


def _lines(outline: str) -> dict[Place, int]:
    """Say on which line each table and key stands. The text is valid TOML."""
    found: dict[Place, int] = {}
    table: Place = ()
    counts: dict[Place, int] = {}
    open_brackets = 0
    for number, content in enumerate(outline.split("\n"), 1):
        line = content.strip()
        if not open_brackets and line.startswith("["):
            table = _placed(_dotted(line.strip("[] \t")), counts)
            if line.startswith("[["):
                counts[table] = counts.get(table, -1) + 1
                table = (*table, counts[table])
            found.setdefault(table, number)
            continue
        if not open_brackets and "=" in line:
            key, _, line = line.partition("=")
            found.setdefault((*table, *_dotted(key)), number)
        open_brackets += sum(map(line.count, "[{")) - sum(map(line.count, "]}"))
    return found


def _placed(names: Place, counts: dict[Place, int]) -> Place:
    """Put in the number of the last element, where a table is inside of an array of tables."""
    place: Place = names[:1]
    for name in names[1:]:
        place = (*place, counts[place], name) if place in counts else (*place, name)
    return place


def _dotted(key: str) -> Place:
    return tuple(part.strip() for part in key.split("."))
