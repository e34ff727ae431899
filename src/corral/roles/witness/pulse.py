"""Take the pulse of running sessions: measure the signs, and carry out what the core decides.

Whether a session must stop, and why, is decided in `core/session/pulse`.
"""

import os
import time
from os.path import join

from msgspec import Struct

from corral.core.config import WatchSettings
from corral.core.errors import Refused
from corral.core.ids import SessionId
from corral.core.log.state import Session, Task
from corral.core.refs import branch_ref
from corral.core.session import rules as session_rules
from corral.core.session.pulse import Signs, Stop, pulse
from corral.core.session.verdict import PROGRESS, RESULTS
from corral.roles.log import Log
from corral.roles.witness import reports
from corral.roles.witness.engine_watch import EngineWatch
from corral.roles.witness.launch import last_words
from corral.roles.witness.reports import ReportedResult, changed_at
from corral.world import processes
from corral.world.clock import Clock
from corral.world.trees import Tree

_SAID = 500  # characters of a line of progress


class PulseTaker(Struct, frozen=True):
    log: Log
    beats: WatchSettings
    git_dir: str
    clock: Clock
    engines: EngineWatch
    read: dict[SessionId, int] = {}  # the progress file's version when it was last read
    asked: dict[SessionId, float] = {}  # since when it has been asked to stop

    def take(self, session: Session, task: Task, folder: str, tree: Tree | None) -> None:
        """Look at a running session: record its progress, alert on silence, or stop it."""
        now = self.clock()
        heard, handed_in = changed_at(join(folder, "output"), now), False
        if tree is not None:
            heard = max(heard, self._progress(session, tree.path, now))
            handed_in = self._has_result(session, folder, tree.path, now)
        engine = None
        if not handed_in and self.engines.follows(session, task):
            engine = self.engines.look(session, task, folder)
        stream = self.engines.stream(session.id)
        refs = tree.with_refs(self.git_dir) if tree else self.git_dir
        signs = Signs(
            now=now,
            heard_at=heard,
            made_at=changed_at(join(refs, branch_ref(session.branch)), now),
            handed_in=handed_in,
            engine=engine,
            asks=stream is not None and stream.asked is not None,
        )
        beat_s, barren_beats = self.beats.beat_s, self.beats.barren_beats
        found = pulse(session, signs, beat_s, barren_beats, lambda: last_words(folder) or "-")
        if isinstance(found, Stop):
            self.stop(session, folder, found)
            return
        self._tell("silent", session, found.silent)
        if found.barren is not None:
            self._tell("barren", session, found.barren)

    def stop(self, session: Session, folder: str | None, why: Stop) -> None:
        """Record that a session is to end, and why; then ask its program to stop."""
        try:
            self.log.note(session_rules.ask_stop, session.id, why.verdict, why.text)
        except Refused:
            return  # it has ended in the meantime
        if folder is not None:
            processes.ask_stop(folder)

    def insist(self, session: SessionId, folder: str) -> None:
        """Enforce a stop, even if the shim is frozen or hangs."""
        since = self.asked.setdefault(session, time.monotonic())
        processes.insist(folder, since, self.beats.grace_s)

    def forget(self, session: SessionId) -> None:
        self.read.pop(session, None)
        self.asked.pop(session, None)

    def _tell(self, kind: str, session: Session, text: str) -> None:
        """Raise an alert, or clear it if there is nothing to tell."""
        if text:
            self.log.alert(kind, session.id, text)
        else:
            self.log.over(kind, session.id)

    def _progress(self, session: Session, tree: str, now: int) -> int:
        """Read `progress.md`; return when it last changed."""
        path = join(tree, PROGRESS)
        try:
            version = os.lstat(path).st_mtime_ns
        except OSError:
            return 0
        if self.read.get(session.id) != version:
            self.read[session.id] = version
            note = reports.note(tree)
            if note is not None:
                said, outputs = note.text[:_SAID], note.outputs
                if (said, outputs) != (session.progress, session.outputs):
                    self.log.note(session_rules.progress, session.id, said, outputs)
        return changed_at(path, now)

    def _has_result(self, session: Session, folder: str, tree: str, now: int) -> bool:
        """Say whether a session handed in a valid result; raise an alert for an invalid one."""
        path = join(tree, RESULTS)
        if changed_at(path, now) < changed_at(join(folder, "process.json"), now):
            return False  # the file is older than the session
        found, problem = reports.result(tree)
        if found is ReportedResult.GOOD:
            return True
        bad = found is ReportedResult.BAD
        text = f"results.json was not accepted: {problem}" if bad else ""
        self._tell("bad_result", session, text)
        return False
