"""Notifies a runner of new files in its inbox."""

import threading
from collections.abc import Callable

from corral.world.watch import Watch

_LOOK_AGAIN_S = 60.0


class Listener:
    """Calls back from its own thread at once, and whenever a file is put into a folder."""

    def __init__(self, folder: str, ring: Callable[[], object]) -> None:
        self._ring = ring
        self._over = False
        self._watch = Watch()
        self._watch.add_complete(folder)
        self._thread = threading.Thread(target=self._run, name="inbox", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._over = True
        self._watch.ring()
        self._thread.join()
        self._watch.close()

    def _run(self) -> None:
        while not self._over:
            self._ring()
            self._watch.wait(_LOOK_AGAIN_S)
