"""The settings of a role that runs: a changed configuration file is taken over at once.

A role remembers nothing, so it is simply made again with the new settings. A file that is wrong
changes nothing: an alert says what is wrong with it, until it is right again.
"""

import os
import time
from collections.abc import Callable
from os.path import dirname
from typing import Protocol

from corral.core.config import Config
from corral.core.errors import CorralError
from corral.core.log.events import SettingsChanged
from corral.roles.log import Log
from corral.world import settings
from corral.world.repository import Repository
from corral.world.watch import Watch

BAD_SETTINGS = "bad_settings"
_SETTLE_S = 0.2
_EMPTY_S = 2.0  # a file that is empty for this long is meant to be

_Mark = tuple[str, int, int, int]  # path, inode, size, time


class Role(Protocol):
    def run(self, *, once: bool = False) -> Config | None:
        """Do the role's work; return the settings with which it should be made again."""


def run_current(make: Callable[[Config], Role], config: Config, *, once: bool) -> None:
    """Run a role until it is asked to stop, with the settings as they are at each moment."""
    found: Config | None = config
    while found is not None:
        found = make(found).run(once=once)


class SettingsWatch:
    def __init__(self, role: str, repository: Repository, config: Config, watch: Watch) -> None:
        self._role = role
        self._repository = repository
        self.config = config
        self._seen: _Mark | None = None  # what we were made with is compared at the first look
        self._wrong = ""
        path = repository.config_file()
        if path is not None:
            watch.add_complete(dirname(path))

    def changed(self, log: Log) -> Config | None:
        """Return the settings if they have changed since the last look, and record that."""
        if self._seen is None:
            log.over(BAD_SETTINGS, "config.toml")  # of a process before this one
        found = self.news()
        return self.told(log, found) if found is not None else None

    def news(self) -> Config | str | None:
        """Look at the file: return its settings, or what is wrong with it; None: as before."""
        mark = self._mark()
        if mark is None or mark == self._seen:
            return None
        self._seen = self._settled()
        was_wrong, self._wrong = self._wrong, ""
        try:
            found = settings.of_repository(self._repository)
        except CorralError as error:
            self._wrong = error.message
            return self._wrong
        return found if was_wrong or found != self.config else None

    def told(self, log: Log, found: Config | str) -> Config | None:
        """Record what a look has found; return the settings if they are others than before."""
        if isinstance(found, str):
            said = f"{found}; the settings from before apply until that is fixed"
            log.alert(BAD_SETTINGS, "config.toml", said, again=True)
            return None
        log.over(BAD_SETTINGS, "config.toml")
        if found == self.config:
            return None
        self.config = found
        log.record(lambda *_: [SettingsChanged(role=self._role)])
        return found

    def _settled(self) -> _Mark | None:
        """Wait until the file stays as it is: an editor empties it before it writes it."""
        mark, empty_s = self._mark(), 0.0
        while True:
            time.sleep(_SETTLE_S)
            before, mark = mark, self._mark()
            empty_s = 0.0 if mark is not None and mark[2] else empty_s + _SETTLE_S
            if before == mark and (not empty_s or empty_s >= _EMPTY_S):
                return mark

    def _mark(self) -> _Mark | None:
        path = self._repository.config_file()
        try:
            about = os.stat(path or "")
        except OSError:
            return None
        return path or "", about.st_ino, about.st_size, about.st_mtime_ns
