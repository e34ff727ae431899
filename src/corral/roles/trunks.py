"""The convoys' trunks: where sessions start from, and where no session may put anything.

The log knows where a trunk is: where the newest session of the convoy started, or at a commit that
has landed. A trunk that is elsewhere while sessions run was moved by one of them (or by somebody
who must not, then): what it was moved to is kept, and it is put back. With no session running it
is the user's, who may have moved it on.
"""

import os
import threading
from os.path import join

from corral.core.errors import Refused
from corral.core.ids import ConvoyId, SessionId
from corral.core.state import Session, State, Task, TaskState
from corral.roles.launching import mail_of
from corral.roles.log import Log
from corral.world.git.tree import read_branch, read_plain
from corral.world.git.view import View
from corral.world.keep import Keep
from corral.world.repository import Repository

MOVED = "trunk_moved"


class Trunks:
    def __init__(self, log: Log, repository: Repository, keep: Keep) -> None:
        self._log = log
        self._repository = repository
        self._keep = keep
        self.view = View(os.path.realpath(repository.git_dir))
        self._turn = threading.Lock()

    def base(self, task: Task, trunk: str, *, fresh: bool) -> str:
        """Return the commit that a new session starts from.

        One that goes on with the commits of the last attempt starts where these left the trunk.
        """
        tip = read_branch(self._repository.git_dir, f"convoy/{task.convoy}/{task.id}")
        if fresh or tip is None or self.view.commits(tip)[0] is None:
            return trunk
        said = self.view.run("merge-base", trunk, tip, fine=(0, 1))
        return said.decode().split()[0] if said.strip() else trunk

    def continues(self, session: Session) -> bool:
        """Say whether the session's branch, if there is one, has the base in its history."""
        tip = read_branch(self._repository.git_dir, session.branch)
        if tip is None or self.view.commits(tip)[0] is None:
            return False
        said = self.view.run("rev-list", "-n1", session.base, "--not", tip)
        return not said.strip()

    def at(self, convoy: ConvoyId, judged: Session | None = None) -> str:
        """Return where a trunk is, made if it is needed for the first time, mended if need be."""
        with self._turn:
            state = self._log.look()
            here = read_branch(self._repository.git_dir, f"convoy/{convoy}/trunk")
            known = _known(state, convoy)
            if known is None:
                return here or self._create(state, convoy)
            if here is not None and (here == known or here in _landed(state, convoy)):
                return here
            if here is not None and not _live(state, convoy) and self._follows(here, known):
                return here
            self._mend(state, convoy, here, known, judged)
            return known

    def _create(self, state: State, convoy: ConvoyId) -> str:
        base = state.convoys[convoy].base
        found = self.view.commits(f"refs/heads/{base}" if base else "-")[0]
        start = found or self.view.commits(_head(self._repository.git_dir))[0]
        if start is None:
            raise Refused(f"{base!r} has no commit to start from", "git commit")
        self.view.move(f"refs/heads/convoy/{convoy}/trunk", start, None)
        return start

    def _follows(self, commit: str, known: str) -> bool:
        if None in self.view.commits(commit, known):
            return False
        return not self.view.run("rev-list", "-n1", known, "--not", commit).strip()

    def _mend(
        self, state: State, convoy: ConvoyId, here: str | None, known: str, judged: Session | None
    ) -> None:
        ref = f"refs/heads/convoy/{convoy}/trunk"
        culprit = self._culprit(state, convoy, judged)
        if here is not None and self.view.commits(here)[0] is not None:
            self._keep.hold(culprit or convoy, ref.removeprefix("refs/heads/"), here, "moved trunk")
            self.view.move(ref, known, here)
        else:
            loose = join(self._repository.git_dir, ref)
            if os.path.lexists(loose) and not os.path.isdir(loose):
                os.unlink(loose)  # it names no commit: there is nothing to keep
            self.view.move(ref, known, None)
        self._log.alert(
            MOVED,
            culprit or convoy,
            f"{culprit or 'somebody'} moved the trunk of {convoy} to {(here or 'nowhere')[:12]};"
            f" it is back at {known[:12]}, and what it was moved to is kept",
        )

    def _culprit(self, state: State, convoy: ConvoyId, judged: Session | None) -> SessionId | None:
        """Say who moved it: as git's own record of the branch has it, or the only one there."""
        record = join(self._repository.git_dir, "logs", "refs", "heads", "convoy", convoy, "trunk")
        lines = (read_plain(record) or b"").splitlines()
        mail = lines[-1].partition(b"<")[2].partition(b">")[0].decode("utf-8", "replace")
        for session in state.sessions.values() if lines else ():
            if mail_of(session.id) == mail:
                return session.id
        live = _live(state, convoy)
        return judged.id if judged and [session.id for session in live] == [judged.id] else None


def _known(state: State, convoy: ConvoyId) -> str | None:
    """Return where the log says that a trunk is."""
    started = [s for s in state.sessions.values() if state.tasks[s.task].convoy == convoy]
    newest = max(started, key=lambda s: (s.started_at, int(s.token)), default=None)
    return newest.trunk if newest else None


def _live(state: State, convoy: ConvoyId) -> list[Session]:
    return [s for s in state.sessions.values() if s.live and state.tasks[s.task].convoy == convoy]


def _landed(state: State, convoy: ConvoyId) -> set[str]:
    return {
        task.commit
        for task in state.tasks.values()
        if task.convoy == convoy and task.state is TaskState.DONE and task.commit
    }


def _head(git_dir: str) -> str:
    head = (read_plain(join(git_dir, "HEAD"), 4096) or b"-").decode("utf-8", "replace").strip()
    return head.removeprefix("ref: ")
