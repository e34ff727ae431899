"""Leases on named resources: `file:src/auth/**`, `port:8080`, `service:db`.

Two leases clash if they name the same resource or, for files, if any path matches both.
"""

from collections.abc import Iterator

from corral.core import paths
from corral.core.errors import BadInput
from corral.core.log.state import Claim, State
from corral.core.text import line, printable

_PORTS = 65_535


def resource_name(text: str) -> str:
    """Check a resource's name and return its canonical spelling."""
    name = line(text, "the resource")
    kind, colon, rest = name.partition(":")
    if not colon or not rest or not kind.replace("-", "").isalnum():
        hint = "name it kind:name, like file:src/auth/**, port:8080 or service:db"
        raise BadInput(f"{printable(name)!r} is not the name of a resource", hint)
    kind = kind.lower()
    if kind == "file":
        return f"file:{pattern(rest)}"
    if kind == "port":
        if not (rest.isascii() and rest.isdigit() and 0 < int(rest) <= _PORTS):
            raise BadInput(f"port {printable(rest)!r} is not a number from 1 to {_PORTS}")
        return f"port:{int(rest)}"
    return f"{kind}:{rest}"


def pattern(text: str) -> str:
    """Check a path pattern and return its canonical spelling."""
    clean = line(text, "the path pattern", paths.MAX_LENGTH)
    problem = paths.problem(clean)
    if problem:
        raise BadInput(f"the path pattern {printable(clean)!r} cannot be used: {problem}")
    return paths.normal(clean)


def overlap(a: str, b: str) -> bool:
    files = a.startswith("file:") and b.startswith("file:")
    return a == b or (files and paths.overlaps(a[5:], b[5:]))


def clashes(state: State, resource: str) -> Iterator[tuple[str, Claim]]:
    """Yield the leases, live or lapsed, that stand in the way of this one."""
    return ((name, lease) for name, lease in state.leases.items() if overlap(name, resource))
