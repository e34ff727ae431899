"""A disk with a given fsync time, for SQLite and for plain files alike.

SQLite's files go through a VFS that inherits from the default one and overrides only `xSync`; plain
files call `Syncs.fsync`. Both sync for real, sleep for the rest of the time, and count their calls.
"""

import os
import time

import apsw


class Syncs:
    """The minimum duration of a sync, and the number of syncs."""

    def __init__(self, at_least_s: float = 0.0) -> None:
        self.at_least_s = at_least_s
        self.count = 0

    def fsync(self, fd: int) -> None:
        """Flush a file like `os.fsync`, taking at least the given time."""
        started = time.monotonic()
        os.fsync(fd)
        self.pad(started)

    def pad(self, started: float) -> None:
        self.count += 1
        left = self.at_least_s - (time.monotonic() - started)
        if left > 0:
            time.sleep(left)


class SlowVfs(apsw.VFS):
    """The default VFS with slower syncs; open a database with `vfs=` its name."""

    def __init__(self, name: str, syncs: Syncs) -> None:
        self._syncs = syncs
        super().__init__(name, base="")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        return _SlowFile(name, flags, self._syncs)


class _SlowFile(apsw.VFSFile):
    def __init__(self, name: str | apsw.URIFilename | None, flags: list[int], syncs: Syncs) -> None:
        super().__init__("", name, flags)
        self._syncs = syncs

    def xSync(self, flags: int) -> None:
        started = time.monotonic()
        super().xSync(flags)
        self._syncs.pad(started)
