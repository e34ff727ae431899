"""The time. Everything that needs it is given a clock, so that tests can move it."""

import time
from collections.abc import Callable

Clock = Callable[[], int]


def now() -> int:
    """Return milliseconds since 1970, UTC."""
    return time.time_ns() // 1_000_000
