"""Which sessions are writing output: one thread waits for all outputs that clients watch.

It lives while a client watches the output of a session, and sleeps while none is written.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Mapping

from corral.core.ids import SessionId
from corral.roles.records.rooms import Room
from corral.world.watch import Watch

_REST_S = 0.1  # between two reports: what is written meanwhile is reported together
_SEEK_S = 0.5  # between two looks for the folder of a session that has just started


class Outputs:
    """Calls `changed` in the loop, with the sessions whose output has grown."""

    def __init__(self, folder: str, changed: Callable[[set[SessionId]], None]) -> None:
        self._folder = folder
        self._changed = changed
        self._loop = asyncio.get_running_loop()
        self._launches: dict[SessionId, int] = {}
        self._follower: _Follower | None = None
        self._seeking: asyncio.TimerHandle | None = None

    def want(self, sessions: Iterable[SessionId], launches: Mapping[SessionId, int]) -> None:
        """Follow only these sessions from now on; a new number of `launches` means a new folder."""
        wanted = set(sessions)
        known = {one: launches.get(one, 0) for one in wanted}
        if known == self._launches and self._seeking is None:
            return
        self._launches = known
        self._look(wanted)

    def _look(self, wanted: set[SessionId]) -> None:
        self._stop_seeking()
        folders = {one: Room(self._folder, one).launch() for one in wanted}
        if not folders:
            self.stop()
            return
        if self._follower is None:
            self._follower = _Follower(self._tell)
        self._follower.follow({path: one for one, path in folders.items() if path is not None})
        if None in folders.values():
            self._seeking = self._loop.call_later(_SEEK_S, self._look, wanted)

    def _stop_seeking(self) -> None:
        if self._seeking is not None:
            self._seeking.cancel()
            self._seeking = None

    def stop(self) -> None:
        self._stop_seeking()
        if self._follower is not None:
            self._follower.stop()
            self._follower = None

    def _tell(self, sessions: set[SessionId]) -> None:
        self._loop.call_soon_threadsafe(self._changed, sessions)


class _Follower:
    def __init__(self, tell: Callable[[set[SessionId]], None]) -> None:
        self._tell = tell
        self._watch = Watch()
        self._folders: dict[str, SessionId] = {}
        self._stopping = False
        self._ending = threading.Lock()  # a watch that is being closed must not be rung
        self._thread = threading.Thread(target=self._run, name="corral-outputs", daemon=True)
        self._thread.start()

    def follow(self, folders: dict[str, SessionId]) -> None:
        self._folders = folders
        self._watch.ring()

    def stop(self) -> None:
        with self._ending:
            self._stopping = True
            self._watch.ring()

    def _run(self) -> None:
        followed: dict[str, SessionId] = {}
        try:
            while not self._stopping:
                wanted = self._folders
                for folder in followed.keys() - wanted.keys():
                    self._watch.drop(folder)
                fresh = wanted.keys() - followed.keys()
                for folder in fresh:
                    self._watch.add_growing(folder)
                followed = wanted
                changed = fresh or self._watch.wait(None)
                if changed and not self._stopping:
                    self._tell({followed[one] for one in changed if one in followed})
                    time.sleep(_REST_S)
        finally:
            with self._ending:
                self._watch.close()
