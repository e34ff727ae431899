"""Run the roles that a convoy needs until it is over: witness, refinery, deacon, and a server.

Each is a separate process under a supervisor, as with `corral up`. A role that runs already is left
alone, and started here if it ends. An interrupt also ends the sessions, without using up an
attempt: the next run continues where this one stopped.
"""

import threading
import time
from collections.abc import Callable
from contextlib import suppress

from corral.core.errors import Refused
from corral.core.ids import SessionId
from corral.core.session import rules as session_rules
from corral.core.session.rules import WITNESS
from corral.core.session.verdict import Verdict
from corral.roles.locks import taken
from corral.roles.records.rooms import Room
from corral.roles.supervisor import Supervisor, is_up, program
from corral.store.service import record
from corral.store.sqlite import SqliteStore
from corral.world import processes
from corral.world.repository import Repository
from corral.world.server import published

ROLES = (WITNESS, "refinery", "deacon")
_END_S = 60.0
_LOOK_S = 0.1
_GONE_S = 3.0  # after another process's role has been gone for this long, we start it

Say = Callable[[str], None]


class Roles:
    """The roles of a repository while a run lasts."""

    def __init__(self, repository: Repository, say: Say) -> None:
        self._repository = repository
        self._say = say
        self._supervisor: Supervisor | None = None
        self._thread: threading.Thread | None = None
        self._ours: frozenset[str] = frozenset()
        self._missing_since = 0.0

    def tend(self) -> None:
        """Start the roles that no process runs; call this regularly."""
        folder = self._repository.folder
        if self._thread is not None and not self._thread.is_alive():
            self._thread, self._ours = None, frozenset()
        if self._thread is None and is_up(folder):
            return
        missing = [r for r in ROLES if r not in self._ours and not taken(folder, r)]
        if not missing:
            self._missing_since = 0.0
        elif not self._ours:
            self._start(frozenset(missing))
        elif not self._missing_since:
            self._missing_since = time.monotonic()
        elif time.monotonic() - self._missing_since > _GONE_S:
            self._missing_since = 0.0
            self.stop()
            self._start(frozenset(r for r in ROLES if not taken(folder, r)))

    def runs(self, role: str) -> bool:
        """Say whether we run a role, rather than another process."""
        return role in self._ours

    def pid(self, role: str) -> int | None:
        """Return the process id of a role that we run."""
        return self._supervisor.pid(role) if self._supervisor is not None else None

    def stop(self) -> None:
        if self._supervisor is not None and self._thread is not None:
            self._supervisor.stop()
            self._thread.join()
        self._supervisor, self._thread, self._ours = None, None, frozenset()

    def _start(self, roles: frozenset[str]) -> None:
        where = ["--repo", self._repository.worktree]
        programs = {role: program(role, "run", *where) for role in ROLES if role in roles}
        if published(self._repository.folder) is None:
            # So that confined agents can ask, and a person can watch.
            programs["server"] = program("serve", *where)
        supervisor = Supervisor(self._repository.folder, programs, self._say, run=True)
        self._supervisor, self._ours = supervisor, roles
        self._thread = threading.Thread(target=_supervise, args=(supervisor,), name="corral-roles")
        self._thread.start()


def _supervise(supervisor: Supervisor) -> None:
    with suppress(Refused):  # another process was quicker: the roles are its own
        supervisor.run()


def interrupt(store: SqliteStore, repository: Repository, actor: str) -> dict[SessionId, str]:
    """Ask all sessions to end for now; return their folders. No witness may run."""
    folders = {}
    for session in [one for one in store.state().sessions.values() if one.live]:
        folder = Room(repository.folder, session.id).launch()
        if _asked(store, session.id, actor) and folder is not None:
            processes.ask_stop(folder)
            folders[session.id] = folder
    return folders


def still_there(folders: dict[SessionId, str]) -> list[SessionId]:
    """Wait for sessions that were asked to end; return those that did not."""
    deadline = time.monotonic() + _END_S
    while folders and time.monotonic() < deadline:
        folders = {name: at for name, at in folders.items() if processes.outcome(at) is None}
        time.sleep(_LOOK_S if folders else 0)
    return list(folders)


def _asked(store: SqliteStore, session: SessionId, actor: str) -> bool:
    """Record that a session should end for now; return False if it has ended already."""
    stop = (session, Verdict.INTERRUPTED, "the run was interrupted")
    try:
        record(store, actor, lambda state, _: session_rules.ask_stop(state, *stop))
    except Refused:
        return False
    return True
