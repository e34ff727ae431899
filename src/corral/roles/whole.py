"""Run everything that a convoy needs until it is over: witness, refinery and deacon.

Each is a process of its own under a supervisor, as with `corral up`; one that runs already is left
alone. To be interrupted ends the sessions as well, without using up an attempt: the next run goes
on where this one was.
"""

import threading
import time
from collections.abc import Callable

from corral.core import session_rules
from corral.core.errors import Refused
from corral.core.session_rules import WITNESS
from corral.core.verdict import Verdict
from corral.roles.files import Room
from corral.roles.locks import taken
from corral.roles.supervisor import Supervisor, is_up, program
from corral.store.port import Request
from corral.store.sqlite import SqliteStore
from corral.world import processes
from corral.world.repository import Repository

ROLES = (WITNESS, "refinery", "deacon")
_END_S = 60.0
_LOOK_S = 0.1


class Roles:
    """The roles of a repository while a run lasts."""

    def __init__(self, repository: Repository, say: Callable[[str], None]) -> None:
        self._repository = repository
        where = ["--repo", repository.worktree]
        mine = {
            role: program(role, "run", *where)
            for role in ROLES
            if not is_up(repository.folder) and not taken(repository.folder, role)
        }
        self._supervisor = Supervisor(repository.folder, mine, say) if mine else None
        self._thread = threading.Thread(target=self._run, name="corral-roles")

    def start(self) -> None:
        if self._supervisor is not None:
            self._thread.start()

    def stop(self) -> None:
        if self._supervisor is not None and self._thread.is_alive():
            self._supervisor.stop()
            self._thread.join()

    def _run(self) -> None:
        assert self._supervisor is not None
        self._supervisor.run()


def interrupt(store: SqliteStore, repository: Repository, actor: str) -> list[str]:
    """End all sessions for now; return those that went on nevertheless. No witness may run."""
    live = [session for session in store.state().sessions.values() if session.live]
    folders = {}
    for session in live:
        folder = Room(repository.folder, session.id).launch()
        try:
            store.transaction(
                Request(
                    actor,
                    lambda state, _, name=session.id: session_rules.ask_stop(  # type: ignore[misc]
                        state, name, Verdict.INTERRUPTED, "the run was interrupted"
                    ),
                    lambda state, stored: None,
                )
            )
        except Refused:
            continue  # it has ended meanwhile
        if folder is not None:
            processes.ask_stop(folder)
            folders[session.id] = folder
    deadline = time.monotonic() + _END_S
    while folders and time.monotonic() < deadline:
        over = [name for name, folder in folders.items() if processes.outcome(folder) is not None]
        for name in over:
            del folders[name]
        time.sleep(_LOOK_S)
    return list(folders)
