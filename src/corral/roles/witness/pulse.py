"""Take the pulse of running sessions: record progress, raise alerts, stop those that must end."""

import os
import time
from os.path import join

from msgspec import Struct

from corral.core.config import WatchSettings
from corral.core.errors import Refused
from corral.core.ids import SessionId, branch_ref
from corral.core.log.state import Session, Task
from corral.core.session import rules as session_rules
from corral.core.session.beats import Pulse, Signs, pulse
from corral.core.session.verdict import RESULT, Verdict
from corral.roles.log import Log
from corral.roles.witness import reports
from corral.roles.witness.engine_watch import EngineWatch
from corral.roles.witness.launch import last_words
from corral.roles.witness.reports import ReportedResult, changed_at
from corral.world import processes
from corral.world.clock import Clock

_SAID = 500  # characters of a line of progress
_FORCE_AFTER_S = 10.0  # after its grace period, for a shim that does not respond
_MARGIN_MS = 30_000  # for a shim to enforce the time limit on its own


class PulseTaker(Struct, frozen=True):
    log: Log
    beats: WatchSettings
    git_dir: str
    clock: Clock
    engines: EngineWatch
    read: dict[SessionId, int] = {}  # the progress file's version when it was last read
    asked: dict[SessionId, float] = {}  # since when it has been asked to stop

    def take(self, session: Session, task: Task, folder: str, tree: str | None) -> None:
        """Look at a running session: record its progress, alert on silence, or stop it."""
        now = self.clock()
        heard = max(session.progress_at, changed_at(join(folder, "output"), now))
        if tree is not None:
            heard = max(heard, self._progress(session, tree, now))
            if self._has_result(session, folder, tree, now):
                return
        made = changed_at(join(self.git_dir, branch_ref(session.branch)), now)
        made = max(made, session.waited_at)
        signs = Signs(max(heard, made), max(session.outputs_at, made))
        if self.engines.follows(session, task):
            step = self.engines.look(session, task, folder)
            if step is not None:
                self.stop(session, folder, step.verdict, step.text)
                return
        if session.waits or self.engines.asks(session.id):
            signs = Signs(now, now)  # it waits for somebody else
        if session.wall_s and now > session.started_at + session.wall_s * 1000 + _MARGIN_MS:
            self.stop(session, folder, Verdict.TIMED_OUT, "it ran past its time limit")
            return
        self._act(session, folder, pulse(signs, now, self.beats.beat_s, self.beats.barren_beats))

    def stop(self, session: Session, folder: str | None, why: str, reason: str) -> None:
        """Record that a session is to end, and why; then ask its program to stop."""
        try:
            self.log.note(session_rules.ask_stop, session.id, why, reason)
        except Refused:
            return  # it has ended in the meantime
        if folder is not None:
            processes.ask_stop(folder)

    def insist(self, session: SessionId, folder: str) -> None:
        """Enforce a stop, even if the shim is frozen or hangs."""
        since = self.asked.setdefault(session, time.monotonic())
        if time.monotonic() - since > self.beats.grace_s + _FORCE_AFTER_S:
            processes.force_stop(folder)
        else:
            processes.ask_stop(folder)

    def forget(self, session: SessionId) -> None:
        self.read.pop(session, None)
        self.asked.pop(session, None)

    def _act(self, session: Session, folder: str, found: Pulse) -> None:
        beats = self.beats
        words = last_words(folder) or "-" if found is not Pulse.FINE else ""
        if found is Pulse.STOP:
            silence = f"silent for {3 * beats.beat_s} s; its last words: {words}"
            self.stop(session, folder, Verdict.SILENT, silence)
            return
        if found is Pulse.LOOK:
            text = f"silent for two beats; its last words: {words}"
            self.log.alert("silent", session.id, text)
        else:
            self.log.over("silent", session.id)
        if found is Pulse.BARREN:
            said = f"no output for {beats.barren_beats} beats; it says: {session.progress or words}"
            self.log.alert("barren", session.id, f"alive, but {said}")
        elif found is Pulse.FINE:
            self.log.over("barren", session.id)

    def _progress(self, session: Session, tree: str, now: int) -> int:
        """Read `progress.md`; return when it last changed."""
        path = join(tree, reports.PROGRESS)
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
        """Stop a session that handed in a valid result; raise an alert for an invalid one."""
        path = join(tree, reports.RESULTS)
        if changed_at(path, now) < changed_at(join(folder, "process.json"), now):
            return False  # the file is older than the session
        found, problem = reports.result(tree)
        if found is ReportedResult.GOOD:
            self.stop(session, folder, RESULT, "it wrote results.json")
        elif found is ReportedResult.BAD:
            self.log.alert("bad_result", session.id, f"results.json was not accepted: {problem}")
        else:
            self.log.over("bad_result", session.id)
        return found is ReportedResult.GOOD
