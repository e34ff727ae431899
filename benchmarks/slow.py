"""A disk whose fsync takes as long as we say, for SQLite and for plain files alike.

SQLite's files go through a VFS that inherits all from the default one and pads `xSync`; plain files
call `Syncs.fsync`. Both sleep for what is left of the time after the real sync, and count.
"""

import os
import time

import apsw


class Syncs:
    """How long each sync takes at least, and how many there were."""

    def __init__(self, at_least_s: float = 0.0) -> None:
        self.at_least_s = at_least_s
        self.count = 0

    def fsync(self, fd: int) -> None:
        """Flush a file like `os.fsync`, in no less than the given time."""
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
