"""Bounds on text that comes from outside: length, control characters, encoding.

What passes here is safe to print on a terminal and to store for ever.
"""

from corral.core.errors import BadInput
from corral.core.redaction import redacted

TITLE = 200
NAME = 100
LINE = 1_000
COMMENT = 16_384
BRIEF = 262_144
ITEMS = 200
PRIORITY = 1_000_000
TTL_S = 30 * 24 * 3600
CLAIM_TTL_S = 900

# Not printable() in Python's eyes, yet people write them: joiners of emoji and scripts, odd spaces.
_HARMLESS = "\u200c\u200d\u00a0\u202f\u3000"


def line(value: str, what: str, limit: int = LINE, *, empty: bool = False) -> str:
    """Check one line of text and return it without blanks at its ends."""
    _sound(value, what, limit, keep="")
    stripped = value.strip()
    if not stripped.strip(_HARMLESS) and not empty:
        raise BadInput(f"{what} is empty: give it at least one visible character")
    return stripped


def bounded(value: str, what: str, limit: int) -> str:
    """Check a text of one line that may be empty, and return it as it is."""
    _sound(value, what, limit, keep="")
    return value


def prose(value: str, what: str, limit: int) -> str:
    """Check text of any number of lines."""
    _sound(value, what, limit, keep="\n\t")
    return value


def lines(values: tuple[str, ...], what: str) -> tuple[str, ...]:
    """Check a list of lines, keep their order, drop repetitions."""
    if len(values) > ITEMS:
        raise BadInput(f"{len(values)} times {what} is too many: at most {ITEMS}")
    return tuple(dict.fromkeys(line(value, what) for value in values))


def number(value: int, what: str, low: int, high: int) -> int:
    if not low <= value <= high:
        raise BadInput(f"{what} is {value}: it must be from {low} to {high}")
    return value


def printable(value: str) -> str:
    """Make any text safe for one line of a message: bounded, no control characters."""
    return shown(value if len(value) <= 80 else value[:77] + "...")


def shown(value: str) -> str:
    """Replace what a terminal would obey, whatever the length."""
    return value if value.isprintable() else "".join(c if c.isprintable() else "?" for c in value)


def unstyled(value: str) -> str:
    """Take out what a terminal would obey: colours, titles, links. What it would show is left."""
    if "\x1b" not in value:
        return value
    import re  # loading it would cost every command

    return re.sub(_SEQUENCE, "", value)


# CSI; OSC and its kind, up to its end or the line's; two bytes.
_SEQUENCE = r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?"


def cut(value: str, limit: int) -> str:
    """Make any text fit into one line of at most so many characters; the end is left out."""
    # Before it is cut: half of a key is not known for one.
    flat = " ".join(shown(part) for part in redacted(unstyled(value)).split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"


def _sound(value: str, what: str, limit: int, keep: str) -> None:
    if len(value) > limit:
        raise BadInput(f"{what} has {len(value):,} characters: at most {limit:,} are allowed")
    if value.isprintable():
        return
    for position, char in enumerate(value, 1):
        if char.isprintable() or char in keep or char in _HARMLESS:
            continue
        if "\ud800" <= char <= "\udfff":
            raise BadInput(f"{what} is not valid UTF-8 at character {position}: remove it")
        raise BadInput(
            f"{what} has the control or invisible character U+{ord(char):04X}"
            f" at character {position}: remove it"
        )
