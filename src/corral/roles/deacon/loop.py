"""The deacon keeps the board and the machine tidy while others work.

It does its chores (`roles/deacon/chores`, decided by `core/chores`) in turn; an error in one of
them becomes an alert and does not affect the others. In between it sleeps until the log changes or
the next deadline passes. Like the witness it remembers nothing, and only one runs for a repository.
"""

import time

from corral.core import chores
from corral.core.chores import ChoreOutcome
from corral.core.config import Config
from corral.core.errors import CorralError
from corral.core.text import printable
from corral.roles import locks
from corral.roles.current_settings import SettingsWatch
from corral.roles.deacon.chores import DEACON, Chore, Chores
from corral.roles.log import Log
from corral.store.service import record
from corral.store.sqlite import SqliteStore
from corral.world.clock import Clock, now
from corral.world.repository import Repository
from corral.world.watch import Watch

_REST_S = 1.0  # events that come this close together are handled together
_LONGEST_S = 300.0  # the clock may be set, and the machine may sleep


class Deacon:
    def __init__(
        self, store: SqliteStore, repository: Repository, config: Config, clock: Clock = now
    ) -> None:
        self._store = store
        self._repository = repository
        self._config = config
        self._clock = clock
        self._chores = Chores(store, repository, config, clock)
        self._swept_at = 0

    def once(self) -> dict[str, ChoreOutcome]:
        """Do all chores once; return the outcome of each."""
        with locks.only_one(self._repository.folder, DEACON):
            return self._round()

    def run(self, *, once: bool = False) -> Config | None:
        """Do the chores whenever there may be something to do, until asked to stop.

        If the settings have changed, return them: another deacon continues with them.
        """
        with locks.only_one(self._repository.folder, DEACON), Watch(self._store.derived) as watch:
            settings = SettingsWatch(DEACON, self._repository, self._config, watch)
            log = Log(self._store, DEACON)
            while True:
                seen = self._store.state().seq
                self._round()
                deadline = time.monotonic() + self._until_next()
                while True:
                    if (found := settings.changed(log)) is not None:
                        return found
                    grown, left_s = self._store.length() > seen, deadline - time.monotonic()
                    if grown or left_s <= 0:
                        break
                    watch.wait(left_s)
                time.sleep(_REST_S if grown else 0)

    def _round(self) -> dict[str, ChoreOutcome]:
        due, at = self._chores.quick(), self._clock()
        if chores.sweep_at(self._store.state(), self._swept_at) <= at:
            self._swept_at = at
            due = self._chores.thorough() | due
        results = {name: _tried(chore) for name, chore in due.items()}
        if chores.settle(self._store.state(), results, self._clock()):
            record(self._store, DEACON, lambda state, at: chores.settle(state, results, at))
        return results

    def _until_next(self) -> float:
        state, at = self._store.state(), self._clock()
        guarded = self._chores.guarded(state)
        next_at = chores.wake_at(state, guarded, self._chores.grace_s, self._swept_at, at)
        return min(max(_REST_S, (next_at - at) / 1000), _LONGEST_S)


def _tried(chore: Chore) -> ChoreOutcome:
    try:
        return chore()
    except CorralError as error:
        return ChoreOutcome(error=error.message)
    # A border: an error in one chore must not keep the others from being done.
    except Exception as error:
        return ChoreOutcome(error=printable(f"{type(error).__name__}: {error}"))
