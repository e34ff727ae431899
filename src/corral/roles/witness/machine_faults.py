"""Acceptance commands that fail because of the machine: found, told once, and looked at again.

What a failure shows (`core/faults`) is believed only if the command shows the same on the untouched
base, in a check tree of the witness. While the fault lasts, the command is run there now and then;
that costs no model call, and when the fault is gone, what waited for it goes on.
"""

import secrets
import threading

from corral.core.config import Config
from corral.core.errors import Refused
from corral.core.faults import FailedCommand, Fault, concerns
from corral.core.log.state import Alert, Session, State, Task, TaskState
from corral.core.queue.fold import trunk_of
from corral.core.session.fitness import UNFIT, about_check, check_subject
from corral.roles.log import Log, find_alert
from corral.roles.witness.launch import Abandoned
from corral.world import checks
from corral.world.checks import Pool, RunOutcome, RunResult, Runs
from corral.world.clock import Clock
from corral.world.repository import Repository
from corral.world.trees import Tree
from corral.world.watch import Watch

_SLOT = (
    checks.RESERVED_SLOTS
)  # one is enough: commands that show a fault are run one after the other
_NAME = "base-"
_DEADLINE_S = 3600
_LOOK_AGAIN_S, _BUSY_S = 1.0, 0.2  # for the end of a run, and for the slot
_FIRST_MS, _LONGEST_MS = 3_000, 300_000
_CERTAIN = (RunResult.NOT_SET_UP, RunResult.COULD_NOT_START, RunResult.LOST)


class MachineFaults:
    def __init__(
        self,
        log: Log,
        repository: Repository,
        config: Config,
        stopping: threading.Event,
        clock: Clock,
    ) -> None:
        self._log = log
        self._config = config
        self._stopping = stopping
        self._clock = clock
        pool = Pool(repository, place=config.trees.folder or None)
        self._runs = Runs(pool, environment=config.environment, now=clock)
        self._turn = threading.Lock()
        self._looked_at: dict[str, int] = {}
        self.looking: set[str] = set()  # alerts that are being looked at

    def found(
        self, session: Session, task: Task, tree: Tree, failed: FailedCommand
    ) -> tuple[Fault | None, bool]:
        """Return the fault that a failed command shows, and whether it is really the machine's."""
        fault = self._runs.environment.fault(tree.path, failed, task.paths)
        if fault is None:
            return None, False
        subject = check_subject(fault.about)
        with self._turn:
            known = find_alert(self._log.look(), UNFIT, subject) is not None
            if not known and not self._shown(fault, failed.command, session.base, task):
                return fault, False
            text = f"{failed.command!r} fails on the untouched base, too: {fault.said}"
            self._log.alert(UNFIT, subject, text, again=True)
        return fault, True

    def cannot_set_up(self, commit: str) -> bool:
        """Say whether the set-up fails on a commit, too."""
        with self._turn:
            _, ended = self._run("true", commit)
        return ended.result in _CERTAIN or ended.disk_full

    def due(self, state: State) -> list[Alert]:
        """Return the faults to look at again: often at first, and less often as they grow old."""
        at, due = self._clock(), []
        for alert in state.alerts.values():
            if alert.kind != UNFIT or not about_check(alert.subject) or alert.id in self.looking:
                continue
            rest = min(_LONGEST_MS, max(_FIRST_MS, (at - alert.raised_at) // 10))
            last = self._looked_at.get(alert.id)
            if at >= (alert.raised_at + _FIRST_MS if last is None else last + rest):
                due.append(alert)
        return due

    def look_again(self, alert: Alert) -> None:
        """Run a command that waits for a fault on the base; clear the alert if it is gone."""
        about, state = about_check(alert.subject), self._log.look()
        waiting = (task for task in state.tasks.values() if task.state is TaskState.TODO)
        asked = ((task, line) for task in waiting for line in task.accept if concerns(about, line))
        task, command = next(asked, (None, ""))
        tip = trunk_of(state, task.convoy).tip if task else ""
        with self._turn:
            if task and tip and self._shown(Fault(about, ""), command, tip, task):
                self._looked_at[alert.id] = self._clock()
            else:
                self._log.over(UNFIT, alert.subject)

    def _shown(self, fault: Fault, command: str, commit: str, task: Task) -> bool:
        """Say whether a command shows a fault on a commit; it does if it cannot even be run."""
        folder, ended = self._run(command, commit)
        if ended.result in _CERTAIN or ended.disk_full:
            return True
        found = self._runs.fault(folder, ended, task.paths)
        return found is not None and found.about == fault.about and fault.name in ("", found.name)

    def _run(self, command: str, commit: str) -> tuple[str, RunOutcome]:
        name = f"{_NAME}{secrets.token_hex(6)}"
        while not self._started(name, command, commit):
            if self._stopping.wait(_BUSY_S):
                raise Abandoned
        folder = self._runs.folder(name)
        with Watch() as watch:
            watch.add_complete(folder)
            while (ended := checks.outcome(folder)) is None:
                if self._stopping.is_set():
                    checks.stop(folder)
                    raise Abandoned
                watch.wait(_LOOK_AGAIN_S)
        return folder, ended

    def _started(self, name: str, command: str, commit: str) -> bool:
        limit_s, trees = self._config.refinery.deadline_s or _DEADLINE_S, self._config.trees
        try:
            self._runs.start(_SLOT, name, commit, [command], deadline_s=limit_s, prepare=trees)
        except Refused as refusal:
            if refusal.code != "slot_busy":
                raise
            for run in self._runs.all():  # of a witness that was killed
                if run.id.startswith(_NAME) and checks.outcome(run.folder) is None:
                    checks.stop(run.folder)
            return False
        return True
