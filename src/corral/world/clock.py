"""The current time. Code that needs it receives a clock, so that tests can set it."""

import time
from collections.abc import Callable

Clock = Callable[[], int]


def now() -> int:
    """Return milliseconds since 1970, UTC."""
    return time.time_ns() // 1_000_000
