"""How long a task rests after an attempt that came to nothing.

Pure, and the same whenever it is asked: the jitter comes from the session's name, so that a fleet
that failed together does not come back together, and a replay gives the same time.
"""

from zlib import crc32

from msgspec import Struct


class Patience(Struct, frozen=True):
    attempts: int = 3
    first_s: int = 30
    most_s: int = 3600

    def rest_s(self, failures: int, name: str) -> float:
        """Return the rest after so many failures in a row: doubled each time, half of it chance."""
        full = min(self.most_s, self.first_s << min(failures - 1, 20))
        return full * (0.5 + crc32(name.encode()) / (1 << 33))
