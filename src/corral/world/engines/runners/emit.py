"""What a runner prints: facts as JSON lines, and remarks that cannot be mistaken for facts.

The shim sends standard output and standard error to one file, so both go through here as whole
lines.
"""

import os

import msgspec

from corral.core.engine.facts import Fact

_LONGEST = 2000


def tell(fact: Fact) -> None:
    """Print a fact."""
    write(msgspec.json.encode(fact) + b"\n")


def remark(text: str) -> None:
    """Print words that are not a fact: what the program wrote outside of its protocol."""
    shown = "".join(c if c.isprintable() else " " for c in text)[:_LONGEST].rstrip()
    if shown:
        write(b"# " + shown.encode("utf-8", "replace") + b"\n")


def shortened(text: str, most: int = _LONGEST) -> str:
    """Return a text shortened for use in a fact."""
    return text if len(text) <= most else text[: most - 1] + "…"


def write(line: bytes) -> None:
    rest = memoryview(line)
    while rest:
        rest = rest[os.write(1, rest) :]
