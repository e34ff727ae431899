"""The settings of the server: a changed configuration file is taken over while it runs.

Where the server listens is read when it starts; an alert says so if that has changed. The log is
opened only if there is something to record, so that waiting costs nothing.
"""

import asyncio
import threading
from collections.abc import Callable
from contextlib import closing, suppress

from corral.core.config import Config
from corral.core.errors import CorralError
from corral.roles.current_settings import SettingsWatch
from corral.roles.log import Log
from corral.store.seal import Mark
from corral.store.sqlite import SqliteStore
from corral.world.repository import Repository
from corral.world.watch import Watch

OLD_SERVER = "old_server"  # the kind of an alert: the server listens as it was told at its start
_ROLE = "server"


class CurrentSettings:
    def __init__(
        self,
        repository: Repository,
        config: Config,
        anchor: Callable[[], Mark | None],
        use: Callable[[Config], None],
    ) -> None:
        """`use` is called in the loop that runs now."""
        self._repository = repository
        self._server = config.server
        self._anchor = anchor
        self._use = use
        self._loop = asyncio.get_running_loop()
        self._watch = Watch()
        self._settings = SettingsWatch(_ROLE, repository, config, self._watch)
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="corral-settings", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stopping = True
        self._watch.ring()

    def _run(self) -> None:
        with self._watch:
            while not self._stopping:
                found = self._settings.news()
                if found is not None:
                    self._take_over(found)
                self._watch.wait(None)

    def _take_over(self, found: Config | str) -> None:
        # If the log cannot be written, the server still uses what the file says.
        with (
            suppress(CorralError),
            closing(SqliteStore(self._repository.folder, anchor=self._anchor)) as store,
        ):
            log = Log(store, _ROLE)
            self._settings.told(log, found)
            if self._settings.config.server == self._server:
                log.over(OLD_SERVER, _ROLE)
            else:
                said = "[server] has changed; the server uses that when it is started again"
                log.alert(OLD_SERVER, _ROLE, said, again=True)
        if isinstance(found, Config) and not self._stopping:
            self._loop.call_soon_threadsafe(self._use, found)
