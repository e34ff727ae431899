"""Bounds on text from outside: length, control characters, encoding.

Text that passes is safe to print on a terminal and to store forever.
"""

from collections.abc import Iterable

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

# Not printable according to Python, yet in use: joiners of emoji and scripts, unusual spaces.
_HARMLESS = "\u200c\u200d\u00a0\u202f\u3000"


def line(value: str, what: str, limit: int = LINE, *, empty: bool = False) -> str:
    """Check one line of text and return it stripped."""
    _sound(value, what, limit, keep="")
    stripped = value.strip()
    if not stripped.strip(_HARMLESS) and not empty:
        raise BadInput(f"{what} is empty: give it at least one visible character")
    return stripped


def bounded(value: str, what: str, limit: int) -> str:
    """Check one line of text, which may be empty, and return it unchanged."""
    _sound(value, what, limit, keep="")
    return value


def prose(value: str, what: str, limit: int) -> str:
    """Check text of any number of lines."""
    _sound(value, what, limit, keep="\n\t")
    return value


def lines(values: tuple[str, ...], what: str) -> tuple[str, ...]:
    """Check a list of lines; keep their order and drop duplicates."""
    if len(values) > ITEMS:
        raise BadInput(f"{what} was given {len(values)} times: at most {ITEMS} are allowed")
    return tuple(dict.fromkeys(line(value, what) for value in values))


def number(value: int, what: str, low: int, high: int) -> int:
    if not low <= value <= high:
        raise BadInput(f"{what} is {value}: it must be between {low} and {high}")
    return value


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: 1 task, 1,200 tasks."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def closest(word: str, known: Iterable[str]) -> str:
    """Return the known word that a misspelt one is likely to mean, or nothing."""
    from difflib import get_close_matches  # loading it would cost every command

    return next(iter(get_close_matches(word[:100], list(known), 1)), "")


def printable(value: str) -> str:
    """Make any text safe for one line of a message: bounded, no control characters."""
    return shown(value if len(value) <= 80 else value[:77] + "...")


def shown(value: str) -> str:
    """Replace control characters, which a terminal would obey."""
    return value if value.isprintable() else "".join(c if c.isprintable() else "?" for c in value)


def unstyled(value: str) -> str:
    """Remove the sequences that a terminal would obey (colours, titles, links)."""
    if "\x1b" not in value:
        return value
    import re  # loading it would cost every command

    return re.sub(_SEQUENCE, "", value)


# CSI; OSC and the like, up to its end or that of the line; two-byte sequences.
_SEQUENCE = r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?"


def cut(value: str, limit: int) -> str:
    """Fit any text into one line of at most `limit` characters, cutting off its end."""
    # Before cutting, because half of a secret is not recognised as one.
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
