"""Which sessions to look at, and the look itself: begin, judge, stop, or take the pulse.

What is remembered here (who was seen in which state, which folders are listened to) saves looks
and decides nothing: with an empty memory every session is looked at.
"""

import time
from collections.abc import Callable

from corral.core.ids import SessionId
from corral.core.log.state import Claim, Message, Session, State, Task
from corral.core.session.verdict import Verdict
from corral.roles.records.rooms import launched
from corral.roles.witness.lifecycle import Steps
from corral.roles.witness.pulse import PulseTaker
from corral.world import processes
from corral.world.processes import EndReason, Exit
from corral.world.trees import Trees
from corral.world.watch import Watch

_FORCE_AFTER_S = 10.0  # beyond its grace, for a shim that does not answer

Later = Callable[[Session, str, Callable[[], None]], None]


class Attention:
    def __init__(
        self, steps: Steps, pulse: PulseTaker, trees: Trees, watch: Watch, grace_s: int
    ) -> None:
        self._steps = steps
        self._pulse = pulse
        self._trees = trees
        self._watch = watch
        self._force_after_s = grace_s + _FORCE_AFTER_S
        self._seen: dict[SessionId, tuple[Session, Claim | None]] = {}
        self._mail: dict[SessionId, tuple[Message, ...]] = {}
        self._seen_mail: dict[SessionId, tuple[Message, ...]] = {}
        self._folders: dict[SessionId, str] = {}
        self._tree_paths: dict[SessionId, str] = {}
        self._asked: dict[SessionId, float] = {}

    def sort(self, mail: dict[SessionId, tuple[Message, ...]]) -> None:
        """Take note of the messages that there is something to do about."""
        self._mail = mail

    def wanted(self, state: State, session: Session, heard: set[str]) -> bool:
        """Say whether something about a session has changed since it was last looked at."""
        seen = self._seen.get(session.id)
        task = state.tasks[session.task]
        if seen is None or seen[0] is not session or seen[1] is not task.claim:
            return True
        if self._mail.get(session.id, ()) != self._seen_mail.get(session.id, ()):
            return True
        mine = {self._folders.get(session.id), self._tree_paths.get(session.id)}
        return not heard.isdisjoint(mine)

    def look(self, session: Session, task: Task, later: Later) -> None:
        """Do what is to be done for one session that no step is busy with."""
        self._seen[session.id] = (session, task.claim)
        mail = self._mail.get(session.id, ())
        self._seen_mail[session.id] = mail
        folder = self._steps.room(session.id).launch()
        unborn = folder is not None and not launched(folder) and processes.withdraw(folder)
        if folder is None or unborn or self._steps.room(session.id).ran() < session.launches:
            self._before_it_runs(session, task, later)
            return
        self._listen(session, task, folder)
        ended = processes.outcome(folder)
        if ended is not None and not mail and self._steps.waits(session, task):
            return
        if ended is not None:
            later(session, "judge", lambda: self._steps.judge(session, task, ended))
        elif session.stop:
            self._insist(session.id, folder)
        elif task.claim is None or task.claim.token != session.token:
            gone = f"its claim is gone: {task.id} is {task.state} now"
            self._pulse.stop(session, folder, Verdict.STOPPED, gone)
        else:
            self._pulse.take(session, task, folder, self._tree_paths.get(session.id))
            if mail or self._steps.watcher.ready(session.id):
                self._steps.delivering.tend(session, task, folder)

    def prune(self, live: set[SessionId]) -> None:
        """Forget the sessions that have ended."""
        for session in [name for name in self._seen if name not in live]:
            del self._seen[session]
            self._seen_mail.pop(session, None)
            self._asked.pop(session, None)
            self._pulse.forget(session)
            self._steps.watcher.forget(session)
            for known in (self._folders, self._tree_paths):
                folder = known.pop(session, None)
                # A tree may be another session's by now.
                if folder is not None and folder not in known.values():
                    self._watch.drop(folder)

    def _before_it_runs(self, session: Session, task: Task, later: Later) -> None:
        if session.stop or task.claim is None or task.claim.token != session.token:
            stopped = Exit(EndReason.STOPPED, 0)
            if not session.stop:
                self._pulse.stop(session, None, Verdict.STOPPED, f"{task.id} is {task.state} now")
                return
            later(session, "judge", lambda: self._steps.judge(session, task, stopped))
        else:
            later(session, "begin", lambda: self._steps.begin(session, task))

    def due_at(self, state: State, busy: set[SessionId]) -> int | None:
        """Return when one of the engines that run is to be looked at, heard of or not."""
        times = [
            self._steps.watcher.due_at(session)
            for session, _ in self._seen.values()
            if session.id in self._folders and session.id not in busy and not session.stop
            if self._steps.watcher.follows(session, state.tasks[session.task])
        ]
        return min(times, default=None)

    def _listen(self, session: Session, task: Task, folder: str) -> None:
        known = self._folders.get(session.id)
        if known == folder:
            return
        if known is not None:
            self._watch.drop(known)
        self._folders[session.id] = folder
        if self._steps.watcher.follows(session, task):
            self._watch.add_growing(folder)
        else:
            self._watch.add_complete(folder)
        tree = self._trees.find(session.id)
        if tree is not None:
            self._tree_paths[session.id] = tree.path
            self._watch.add_complete(tree.path)

    def _insist(self, session: SessionId, folder: str) -> None:
        """See a stop through, even if the shim was frozen or hangs."""
        since = self._asked.setdefault(session, time.monotonic())
        if time.monotonic() - since > self._force_after_s:
            processes.force_stop(folder)
        else:
            processes.ask_stop(folder)
