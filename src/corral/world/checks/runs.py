"""Starts check runs, finds those of an earlier refinery, stops them, and prunes old ones."""

import os
import re
import sys
from collections.abc import Mapping, Sequence
from os.path import isdir, join

import msgspec

from corral.core.config import EnvironmentSettings, TreeSettings
from corral.core.errors import BadInput, Refused
from corral.core.faults import FailedCommand, Fault
from corral.world import clock, processes
from corral.world.checks import runner
from corral.world.checks.model import ChecksRun, RunOutcome, RunResult
from corral.world.checks.outcomes import ASKED, outcome, read_run
from corral.world.checks.pool import Pool, end_strays, mark
from corral.world.environment import ProjectEnvironment
from corral.world.git.view import put
from corral.world.processes import (
    RUN_VARIABLE,
    SESSION_VARIABLE,
    EndReason,
    Launch,
    landlock,
)
from corral.world.trees import trash

GRACE_S = 2.0
OUTPUT_BYTES = 16 << 20
_DAY = 24 * 3_600_000
# No dot: a name like AF-1.2 is a session, and would be ended with it.
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}")
_MOST_COMMANDS = 1000
_LINES = 200  # of a run that failed, in which a fault is looked for
_DEFAULT, _NOTHING = EnvironmentSettings(), TreeSettings()


class Runs:
    def __init__(
        self,
        pool: Pool,
        *,
        environment: EnvironmentSettings = _DEFAULT,
        now: clock.Clock = clock.now,
    ) -> None:
        self._pool = pool
        self.environment = ProjectEnvironment(pool.repository, environment, pool.place)
        self._now = now

    def folder(self, run_id: str) -> str:
        if not _ID.fullmatch(run_id):
            raise BadInput(f"{run_id!r} is not a valid run id: use letters, digits, - and _")
        return join(self._pool.checks, run_id)

    def start(
        self,
        slot: int,
        run_id: str,
        commit: str,
        commands: Sequence[str],
        *,
        deadline_s: float,
        env: Mapping[str, str] | None = None,
        ports: Sequence[int] = (),
        prepare: TreeSettings = _NOTHING,
        grace_s: float = GRACE_S,
        output_bytes: int = OUTPUT_BYTES,
    ) -> ChecksRun:
        """Check out a commit and start the commands on it; they continue without us.

        Refused while another run uses the slot: stop that one, and wait for its outcome.
        """
        folder = self.folder(run_id)
        if not 0 < len(commands) <= _MOST_COMMANDS or deadline_s <= 0:
            raise BadInput("a run needs at least one command, and a deadline")
        with self._pool.hold(slot) as tree:
            if os.path.lexists(folder):
                raise Refused(f"there is a run {run_id} already; nothing was started")
            found = tree.check_out(commit)
            tree.prepare(prepare, self._pool.repository.main_worktree)
            hiding = self.environment.hiding(tree.path, tree.temporary, folder)
            run = ChecksRun(
                id=run_id,
                slot=slot,
                commit=found,
                commands=tuple(commands),
                deadline_s=deadline_s,
                folder=folder,
                tree=tree.path,
                temporary=tree.temporary,
                lock=self._pool.lock(slot),
                marker=self._pool.marker,
                asked_at=self._now(),
                setup=tree.set_up(found, prepare) if prepare.setup else None,
                confine=landlock.__file__ if hiding else "",
                hidden=hiding.hidden if hiding else (),
                shown=hiding.shown if hiding else (),
                doubted=self.environment.doubted(),
            )
            self._pool.used_by(slot, run_id)
            os.makedirs(folder, mode=0o700)
            put(join(folder, ASKED), msgspec.json.encode(run).decode())
            launch = Launch(
                session=mark(run_id),
                argv=[sys.executable, "-I", "-S", "-X", "utf8", runner.__file__, folder],
                cwd=tree.path,
                env=self._environment(run, env or {}, ports),
                folder=folder,
                wall_s=run.most_s,
                grace_s=grace_s,
                output_bytes=output_bytes,
            )
            processes.start(join(self._pool.git_dir, "corral", "run"), launch)
        return run

    def fault(self, folder: str, ended: RunOutcome, owned: Sequence[str] = ()) -> Fault | None:
        """Return the fault of the machine that a red run shows."""
        run = read_run(folder)
        if run is None or ended.result is not RunResult.RED:
            return None
        lines = processes.tail(folder, _LINES)
        failed = FailedCommand(ended.command, ended.code, lines, ended.disk_full)
        return self.environment.fault(run.tree, failed, owned)

    def all(self) -> list[ChecksRun]:
        """Return every run that has a folder, oldest first, whether running or not."""
        found = [run for folder in self._folders() if (run := read_run(folder)) is not None]
        return sorted(found, key=lambda run: (run.asked_at, run.id))

    def adopt(self) -> dict[str, RunOutcome | None]:
        """Take over the runs of an earlier refinery; None for those still running.

        Only one refinery may start runs here: a run that had not quite started never will.
        """
        found = self.all()
        for run in found:
            processes.withdraw(run.folder)
        return {run.id: outcome(run.folder) for run in found}

    def prune(self, *, keep: int = 50, failures_days: float = 7) -> int:
        """Delete old runs except the newest and recent failures; return how many."""
        trash.sweep(self._pool.checks)
        last = {run.folder for run in self.all()[-keep:]} if keep else set()
        old = [folder for folder in self._folders() if folder not in last]
        gone = [folder for folder in old if self._is_stale(folder, failures_days)]
        for folder in gone:
            trash.remove(folder)
        return len(gone)

    def end_strays(self) -> int:
        """End what is left of finished runs; return how many processes remain."""
        found = {stray.session for stray in processes.strays(self._pool.marker, live=())}
        return sum(
            end_strays(run.marker, run.id)
            for run in self.all()
            if mark(run.id) in found and outcome(run.folder) is not None
        )

    def _folders(self) -> list[str]:
        names = os.listdir(self._pool.checks) if isdir(self._pool.checks) else []
        return [join(self._pool.checks, name) for name in names if _ID.fullmatch(name)]

    def _is_stale(self, folder: str, failures_days: float) -> bool:
        ended = outcome(folder)
        if ended is None:
            return False
        age = self._now() - os.stat(folder).st_mtime_ns // 1_000_000
        return ended.green or age > failures_days * _DAY

    def _environment(
        self, run: ChecksRun, env: Mapping[str, str], ports: Sequence[int]
    ) -> dict[str, str]:
        """Return the environment of a run: nothing directs git elsewhere, and there are no keys."""
        return {
            **self.environment.of(run.tree).variables,
            # Anything that would prompt a person must fail, or the run would wait for its deadline.
            **{"GIT_EDITOR": "true", "GIT_TERMINAL_PROMPT": "0"},
            **env,
            **{f"CORRAL_PORT_{n}": str(port) for n, port in enumerate(ports, 1)},
            "TMPDIR": run.temporary,
            "CORRAL_CHECK": run.id,
            "CORRAL_COMMIT": run.commit,
            RUN_VARIABLE: self._pool.marker,
            SESSION_VARIABLE: mark(run.id),
        }


def stop(folder: str) -> bool:
    """End a run immediately with all its processes; False if there was nothing to end.

    Does not wait: its outcome says when it is over.
    """
    if not isdir(folder):
        return False
    if processes.withdraw(folder, "stopped before it started") or processes.ask_stop(folder):
        return True
    run, ended = read_run(folder), processes.outcome(folder)
    if run is not None and ended is not None and ended.reason is EndReason.LOST:
        end_strays(run.marker, run.id)
    return False
