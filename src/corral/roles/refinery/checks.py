"""The check runs of the refinery: started as announced in the log, collected, cancelled.

A run is announced in the log before any process starts. If a refinery is killed in between, the
next one starts that run, and it ends processes whose run the log has given up.
"""

import os
import time
from collections.abc import Sequence

from corral.core.config import Config
from corral.core.errors import CorralError, Refused
from corral.core.faults import Fault
from corral.core.ids import ConvoyId, TaskId
from corral.core.log.state import State
from corral.core.queue import rules as queue_rules
from corral.core.queue.rules import (
    CANCELLED,
    CANNOT_CHECK,
    GREEN,
    LOST,
    RED,
    REGENERATE,
    TIMED_OUT,
)
from corral.core.queue.state import CheckRun
from corral.roles.log import Log
from corral.roles.refinery.generated_files import GeneratedFiles
from corral.world import checks
from corral.world.checks import Pool, RunOutcome, RunResult, Runs
from corral.world.clock import Clock
from corral.world.repository import Repository
from corral.world.watch import Watch

_RESULTS = {
    RunResult.GREEN: GREEN,
    RunResult.RED: RED,
    RunResult.TIMED_OUT: TIMED_OUT,
    RunResult.STOPPED: CANCELLED,
    RunResult.LOST: LOST,
    RunResult.COULD_NOT_START: LOST,
    RunResult.NOT_SET_UP: LOST,
}
_SAID_LINES = 12
_ON_TRUNK = "-base"  # after the name of a run whose failed command is tried on the trunk alone
_GIVE_UP_S = 10.0  # longer than a run's grace period, shorter than that of the supervisor
_PAUSE_S = 0.02


class CheckRuns:
    def __init__(
        self,
        log: Log,
        repository: Repository,
        config: Config,
        watch: Watch,
        *,
        generated: GeneratedFiles,
        clock: Clock,
    ) -> None:
        self._log = log
        self._config = config
        self._watch = watch
        self._clock = clock
        self._generated = generated
        place = config.trees.folder or None
        self._pool = Pool(repository, place=place, keep=config.refinery.caches)
        self._runs = Runs(self._pool, environment=config.environment, now=clock)
        self._used: set[int] = set()  # slots in which a run may have left files

    def commands(
        self, state: State, convoy: ConvoyId, members: Sequence[TaskId]
    ) -> tuple[str, ...]:
        """Return the checks that must pass: the convoy's, or else the tasks' own commands."""
        accepted = (command for task in members for command in state.tasks[task].accept)
        required = self._config.refinery.require_ci
        return self.declared(state, convoy) or tuple(dict.fromkeys(accepted)) if required else ()

    def declared(self, state: State, convoy: ConvoyId) -> tuple[str, ...]:
        """Return the checks of a convoy, or else of all, if they are required."""
        required = self._config.refinery.require_ci
        return (state.convoys[convoy].checks or self._config.refinery.checks) if required else ()

    def key(self, commands: Sequence[str]) -> str:
        """Return the key under which a result is valid: it also depends on set-up and settings."""
        trees, environment = self._config.trees, self._config.environment
        more = {
            "setup": [list(argv) for argv in trees.setup],
            "set": environment.set,
            "path": list(environment.path),
            "read": list(environment.read),
        }
        return checks.key(commands, {name: value for name, value in more.items() if value})

    def tend(self, state: State) -> bool:
        """Start announced runs and collect ended ones; say whether to look again soon."""
        busy = False
        ended = {check.convoy: check for check in state.checks.values() if not check.live}
        for convoy, check in ended.items():
            if check.external and check.result in (GREEN, RED):  # it was reported
                self._log.over(CANNOT_CHECK, convoy)
        for check in [check for check in state.checks.values() if check.live]:
            if check.external:
                if self._clock() > check.due_at:
                    said = f"no result was reported within {check.deadline_s} s"
                    self._end(check, LOST, said)
                    said = f"the outside CI is silent about {check.run}: {said}. It is asked again"
                    self._log.alert(CANNOT_CHECK, check.convoy, f"{said}, and no work is blamed")
            elif not os.path.isdir(self._runs.folder(check.run)):
                busy |= not self._start(state, check)
            else:
                try:
                    self._collect(check)
                except (CorralError, OSError) as error:  # the other runs do not wait for it
                    self._could_not(check, "its result could not be taken", error)
        return busy

    def cancel(self, check: CheckRun, why: str) -> None:
        """Cancel a run: first in the log, then its processes."""
        self._end(check, CANCELLED, why)
        if not check.external:
            checks.stop(self._runs.folder(check.run))
            checks.stop(self._runs.folder(f"{check.run}{_ON_TRUNK}"))

    def give_up(self, state: State) -> None:
        """End all runs and wait for them; the next refinery starts them again."""
        running = [check for check in state.checks.values() if check.live and not check.external]
        for check in running:
            self.cancel(check, "the refinery was stopped")
        deadline = time.monotonic() + _GIVE_UP_S
        for folder in [self._runs.folder(check.run) for check in running]:
            while os.path.isdir(folder) and checks.outcome(folder) is None:
                if time.monotonic() > deadline:
                    return  # it was asked to end, and the next refinery asks again
                time.sleep(_PAUSE_S)

    def release(self, state: State) -> bool:
        """Clean up the slots of ended runs; say whether one is still ending."""
        taken = {check.slot for check in state.checks.values() if check.live}
        for slot in sorted(self._used - taken):
            try:
                self._pool.release(slot)
            except Refused as refusal:
                if refusal.code != "slot_busy":
                    raise
            else:
                self._used.discard(slot)
        return bool(self._used - taken)

    def sweep(self, state: State) -> None:
        """End the processes of runs that the log has given up, and delete old folders."""
        live = {check.run for check in state.checks.values() if check.live}
        for run in self._runs.all():
            ours = run.id.startswith("R")  # else it is of a preflight or of the witness
            if (
                ours
                and run.id.removesuffix(_ON_TRUNK) not in live
                and checks.outcome(run.folder) is None
            ):
                checks.stop(run.folder)
        self._runs.end_strays()
        self._used.update(slot for slot in self._pool.slots() if slot < checks.RESERVED_SLOTS)
        self._runs.prune()

    def _start(self, state: State, check: CheckRun) -> bool:
        if check.kind == REGENERATE:
            commands = self._generated.commands(state, check)
        else:
            commands = self.commands(state, check.convoy, check.members)
        if self.key(commands) != check.key:
            self._end(check, CANCELLED, "the checks were changed")
            return True
        return self._begin(check, check.run, check.commit, commands)

    def _begin(self, check: CheckRun, name: str, commit: str, commands: Sequence[str]) -> bool:
        """Start commands in the slot of a run, or end the run; say False to try again soon."""
        try:
            self._runs.start(
                check.slot,
                name,
                commit,
                commands,
                deadline_s=check.deadline_s,
                prepare=self._config.trees,
            )
        except (CorralError, OSError) as error:
            if isinstance(error, Refused) and error.code == "slot_busy":
                return False  # what ran there before is still ending
            self._could_not(check, "it could not be started", error)
        else:
            self._used.add(check.slot)
            self._watch.add_complete(self._runs.folder(name))
        return True

    def _could_not(self, check: CheckRun, what: str, error: Exception) -> None:
        said = error.message if isinstance(error, CorralError) else str(error)
        self._end(check, LOST, f"{what}: {said}")
        self._log.alert(CANNOT_CHECK, check.convoy, f"the checks cannot be run: {said}")

    def _collect(self, check: CheckRun) -> None:
        folder = self._runs.folder(check.run)
        ended = self._ended(folder)
        if ended is None:
            return
        result = LOST if ended.disk_full else _RESULTS[ended.result]
        if ended.result is RunResult.NOT_SET_UP and self._changes_set_up(check):
            result = RED
        fault = self._runs.fault(folder, ended) if result == RED else None
        if fault is not None:
            shown = self._shown_on_trunk(check, fault, ended.command)
            if shown is None:
                return
            result = LOST if shown else RED
        told = "" if result == GREEN else _told(ended, fault.said if fault else "")
        if result == GREEN and check.kind == REGENERATE:
            # Before the tree changes.
            run = checks.read_run(folder)
            told = "the file that describes the run is gone"
            if run is not None:
                told = self._generated.take(self._log.look(), check, run.tree)
            result = RED if told else GREEN
        if result == LOST:
            self._log.alert(CANNOT_CHECK, check.convoy, f"{check.run} had no result: {told}")
        else:
            self._log.over(CANNOT_CHECK, check.convoy)
        self._log.note(
            queue_rules.end_check,
            check.run,
            result,
            command=ended.command,
            detail=told,
            took_ms=int(ended.wall_s * 1000),
        )

    def _changes_set_up(self, check: CheckRun) -> bool:
        """Say whether the work changes what its set-up depends on; else the machine is at fault."""
        trees = self._config.trees
        keys = {self._pool.setup_key(commit, trees) for commit in (check.tip, check.commit)}
        return len(keys) > 1

    def _shown_on_trunk(self, check: CheckRun, fault: Fault, command: str) -> bool | None:
        """Say whether the trunk alone shows the same fault: then it is the machine's.

        None while that is being tried, in the slot of the run that showed it.
        """
        if not check.members:
            return True
        name = f"{check.run}{_ON_TRUNK}"
        folder = self._runs.folder(name)
        if not os.path.isdir(folder):
            self._begin(check, name, check.tip, [command])
            return None
        ended = self._ended(folder)
        if ended is None:
            return None
        found = self._runs.fault(folder, ended)
        same = found is not None and (found.about, found.name) == (fault.about, fault.name)
        return same or ended.disk_full or _RESULTS[ended.result] in (LOST, CANCELLED)

    def _ended(self, folder: str) -> RunOutcome | None:
        """Return how a run ended; None while it is running."""
        self._watch.add_complete(folder)
        ended = checks.outcome(folder)
        if ended is not None:
            self._watch.drop(folder)
        elif checks.is_overdue(folder):
            checks.stop(folder)
        return ended

    def _end(self, check: CheckRun, result: str, detail: str) -> None:
        self._log.note(queue_rules.end_check, check.run, result, detail=detail)


def _told(ended: RunOutcome, cause: str) -> str:
    how = {
        RunResult.RED: f"signal {ended.signal}" if ended.signal else f"exit code {ended.code}",
        RunResult.TIMED_OUT: f"it took longer than {ended.wall_s:.0f} s",
    }.get(ended.result, ended.detail or ended.result)
    if ended.disk_full:
        how = f"{how}; the disk is full"
    if cause:
        how = f"{how}: {cause}"
    words = " / ".join(line.strip() for line in ended.last_lines[-_SAID_LINES:] if line.strip())
    return f"{how}; its last words: {words}" if words else how
