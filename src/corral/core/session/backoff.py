"""The retry delay after a failed attempt.

It is deterministic: the jitter comes from the session's name, so that sessions which failed
together are not retried together, and a replay gives the same time.
"""

from zlib import crc32

from msgspec import Struct


class Patience(Struct, frozen=True):
    attempts: int = 3
    first_s: int = 30
    most_s: int = 3600

    def rest_s(self, failures: int, name: str) -> float:
        """Return the retry delay: doubled after each failure in a row, with up to 50 % jitter."""
        full = min(self.most_s, self.first_s << min(failures - 1, 20))
        return full * (0.5 + crc32(name.encode()) / (1 << 33))
