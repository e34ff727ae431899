"""How long tests wait for what must happen."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

# Only a failing test waits this long. Some must start hundreds of processes on a machine that is
# busy with others; pyproject.toml says when a test that hangs in another way is given up.
PATIENCE_S = 240.0


def until(
    happened: Callable[[], T | None],
    what: str | Callable[[], str],
    patience_s: float = PATIENCE_S,
) -> T:
    """Wait until something is true and return it; if it never is, fail with `what`.

    A look takes computing time from whatever is awaited, so a dear one is taken more rarely.
    """
    deadline = time.monotonic() + patience_s
    while True:
        began = time.monotonic()
        if found := happened():
            return found
        now = time.monotonic()
        if now > deadline:
            said = what if isinstance(what, str) else what()
            raise AssertionError(f"not within {patience_s:g} s: {said}")
        time.sleep(min(0.25, max(0.02, 4 * (now - began))))
