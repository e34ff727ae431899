"""When to mirror while no server runs: decided at the end of each command.

A commit for each event would fill the repository with small objects, and a mirror that is far
behind is of little use. So chunks grow with the log: a short log is mirrored after nearly every
command, a long one in chunks of a hundred events, and any log after a pause. A command that only
reads leaves a long log to the next one that writes. The file is derived.
"""

import os
import time

_CHUNK = 100
_REST_S = 1.0
_LONG = 10_000  # events: such a log waits five times as long


class Pace:
    def __init__(self, folder: str) -> None:
        self._path = f"{folder}/derived/mirrored"

    def due(self, length: int, *, writing: bool) -> bool:
        """Say whether it is time to mirror a log of this length."""
        done, rest_s = self._last()
        waiting = length - done
        if waiting <= 0 or not writing:
            return waiting > length // 1000
        rested = rest_s >= (_REST_S if length < _LONG else 5 * _REST_S)
        return rested or waiting >= min(_CHUNK, length // 20)

    def note(self, length: int) -> None:
        """Remember that the log is mirrored up to this event."""
        os.makedirs(os.path.dirname(self._path), exist_ok=True)
        scratch = f"{self._path}.{os.getpid()}"
        with open(scratch, "w") as file:
            file.write(str(length))
        os.replace(scratch, self._path)

    def _last(self) -> tuple[int, float]:
        """Return the last mirrored event, and the seconds since it was mirrored."""
        try:
            with open(self._path, "rb") as file:
                rest_s = time.time() - os.fstat(file.fileno()).st_mtime
                return int(file.read()), rest_s
        except (OSError, ValueError):
            return 0, 5 * _REST_S
