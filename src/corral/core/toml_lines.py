"""The line of each table and key in a TOML text, for messages about them."""

import re

Place = tuple[str | int, ...]
"""Where something stands: ("task", 2, "needs") is the needs of the third task."""

# A group that is repeated possessively, `(…)*+`, matches wrongly in Python before 3.11.5.
_OPENING = re.compile("\"\"\"|'''|[\"'#]")
_REST = {
    '"""': re.compile(r'(?:[^"\\]++|\\.|"(?!""))*"{3,5}', re.DOTALL),
    "'''": re.compile(r"(?:[^']++|'(?!''))*'{3,5}"),
    '"': re.compile(r'(?:[^"\\\n]++|\\.)*"'),
    "'": re.compile(r"[^'\n]*+'"),
    "#": re.compile(r"[^\n]*+"),
}
_TOKEN = re.compile(r"[\[\]{},]|[^\s\[\]{},]++")
_ODD = re.compile(r"[^\w\n-]")


def outline(text: str) -> str:
    """Return the same lines without comments, with punctuation in strings replaced by `_`."""
    kept: list[str] = []
    at = 0
    while found := _OPENING.search(text, at):
        kept.append(text[at : found.start()])
        rest = _REST[found[0]].match(text, found.end())
        if rest is None:
            at = len(text)  # an unterminated string: the parser will say so
            break
        if found[0] != "#":
            inside = text[found.end() : rest.end() - len(found[0])]
            kept.append(_ODD.sub("_", inside))
        at = rest.end()
    return "".join([*kept, text[at:]])


def lines_of(outlined: str) -> dict[Place, int]:
    """Map each table, key and element of an array to its line, given the outline of valid TOML."""
    found: dict[Place, int] = {}
    table: Place = ()
    counts: dict[Place, int] = {}
    inside: list[tuple[Place, int]] = []  # the open arrays, and the number of the element in each
    for number, content in enumerate(outlined.split("\n"), 1):
        line = content.strip()
        if not inside and line.startswith("["):
            table = _placed(_dotted(line.strip("[] \t")), counts)
            if line.startswith("[["):
                counts[table] = counts.get(table, -1) + 1
                found.setdefault(table, number)
                table = (*table, counts[table])
            found[table] = number
            continue
        key: Place = ()
        if not inside and "=" in line:
            name, _, line = line.partition("=")
            key = (*table, *_dotted(name))
            for parts in range(1, len(key) + 1):
                found.setdefault(key[:parts], number)
        for token in _TOKEN.findall(line):
            if inside and token not in "]},":
                found.setdefault((*inside[-1][0], inside[-1][1]), number)
            if token in "[{":
                inside.append(((*inside[-1][0], inside[-1][1]) if inside else key, 0))
            elif token in "]}":
                inside.pop()
            elif token == "," and inside:
                inside[-1] = (inside[-1][0], inside[-1][1] + 1)
    return found


def _placed(names: Place, counts: dict[Place, int]) -> Place:
    """Insert the index of the last element where a table is inside an array of tables."""
    place: Place = names[:1]
    for name in names[1:]:
        place = (*place, counts[place], name) if place in counts else (*place, name)
    return place


def _dotted(key: str) -> Place:
    return tuple(part.strip() for part in key.split("."))


def line_of(lines: dict[Place, int], place: Place) -> int:
    """Return the line of a place, or of what contains it; 0 if neither is known."""
    shown = tuple(_ODD.sub("_", part) if isinstance(part, str) else part for part in place)
    known = (lines[shown[:n]] for n in range(len(shown), 0, -1) if shown[:n] in lines)
    return next(known, 0)
