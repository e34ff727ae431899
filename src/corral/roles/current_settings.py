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
    def __init__(
        self, role: str, repository: Repository, config: Config, log: Log, watch: Watch
    ) -> None:
        self._role = role
        self._repository = repository
        self._config = config
        self._log = log
        self._seen: _Mark | None = None  # what we were made with is compared at the first look
        path = repository.config_file()
        if path is not None:
            watch.add_complete(dirname(path))

    def changed(self) -> Config | None:
        """Return the settings if they have changed since the role was made."""
        mark = self._mark()
        if mark == self._seen or mark is None:
            return None
        mark = self._settled(mark)
        self._seen = mark
        try:
            found = settings.of_repository(self._repository)
        except CorralError as error:
            said = f"{error.message}; the settings from before apply until that is fixed"
            self._log.alert(BAD_SETTINGS, "config.toml", said, again=True)
            return None
        self._log.over(BAD_SETTINGS, "config.toml")
        if found == self._config:
            return None
        self._log.record(lambda *_: [SettingsChanged(role=self._role)])
        return found

    def _settled(self, mark: _Mark) -> _Mark:
        """Wait until the file stays as it is: an editor empties it before it writes it."""
        while True:
            time.sleep(_SETTLE_S)
            now = self._mark() or mark
            if now == mark and now[2]:
                return now
            mark = now

    def _mark(self) -> _Mark | None:
        path = self._repository.config_file()
        try:
            about = os.stat(path or "")
        except OSError:
            return None
        return path or "", about.st_ino, about.st_size, about.st_mtime_ns
