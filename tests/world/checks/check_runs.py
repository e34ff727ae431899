"""Real runs of checks for tests: in a repository of their own, ended whatever the test does."""

import os
import signal
from contextlib import suppress
from pathlib import Path

from corral.world import processes
from corral.world.checks import ChecksRun, Pool, RunOutcome, Runs, outcome, stop
from corral.world.processes import records, table
from corral.world.repository import find
from tests.patience import PATIENCE_S
from tests.world.processes.sessions import await_in, kill
from tests.world.trees.tree_repo import git, working_files


def parent_of(pid: str) -> str:
    """Return shell that prints the parent of a process; not every machine has ps."""
    return f"$(sed -n 's/^PPid:.//p' /proc/{pid}/status)"


class CheckRuns:
    def __init__(self, repo: Path, *, keep: tuple[str, ...] = ()) -> None:
        self.repo = repo
        self.pool = Pool(find(str(repo)), keep=keep)
        self.runs = Runs(self.pool)
        self._number = 0

    @property
    def folder(self) -> Path:
        return self.repo / ".git" / "corral" / "checks"

    def start(
        self, *commands: str, slot: int = 1, commit: str = "main", **more: object
    ) -> ChecksRun:
        self._number += 1
        given = {"deadline_s": 60, "grace_s": 0.3} | more
        return self.runs.start(slot, f"r{self._number}", commit, commands, **given)  # type: ignore[arg-type]  # a bag of options

    def ended(self, run: ChecksRun, limit_s: float = PATIENCE_S) -> RunOutcome:
        return await_in(run.folder, lambda: outcome(run.folder), limit_s)

    def run(
        self, *commands: str, slot: int = 1, commit: str = "main", **more: object
    ) -> RunOutcome:
        return self.ended(self.start(*commands, slot=slot, commit=commit, **more))

    def record(self, run: ChecksRun) -> records.Record:
        record = records.read(run.folder, records.PROCESS)
        assert record is not None
        return record

    def alive(self) -> set[int]:
        """Return every process that a run of this test started, by what the system says."""
        return {stray.pid for stray in processes.strays(str(self.repo / ".git"), live=())}

    def mentioned(self) -> list[str]:
        """Return the command lines that name a check tree, whatever their environment says."""
        lines = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError):
                lines.append(Path(f"/proc/{pid}/cmdline").read_text(errors="replace"))
        return [line for line in lines if self.pool.place in line]

    def assert_unaffected(self, slot: int = 1, commit: str = "main") -> None:
        """Show that the next run in a slot has exactly the commit's files, and is green."""
        script = 'test -z "$(git status --porcelain --ignored)" && test -z "$(ls -A $TMPDIR)"'
        head = f"test $(git rev-parse HEAD) = {git(self.repo, 'rev-parse', commit)}"
        done = self.run(script, head, "! git symbolic-ref -q HEAD", slot=slot, commit=commit)
        assert done.green, done
        assert working_files(self.pool.place + f"/check-{slot}") == committed(self.repo, commit)
        assert self.alive() == set()
        git(self.repo, "fsck", "--strict")

    def close(self) -> None:
        keepers = {}
        for run in self.runs.all():
            record = records.read(run.folder, records.PROCESS) or {}
            if record.get("keeper_pid"):
                keepers[record["keeper_pid"]] = record["keeper_start"]
            stop(run.folder)
            self.ended(run)
        while left := processes.strays(str(self.repo / ".git"), live=()):
            processes.end(left)
        for pid, start in keepers.items():
            found = table.look(pid)
            if found is not None and found.start == start and found.running:
                kill(found.pid, signal.SIGKILL)


def committed(repo: Path, commit: str) -> dict[bytes, object]:
    """Return the files of a commit as a fresh clone has them."""
    fresh = repo.parent / "fresh"
    git(repo, "worktree", "add", "--quiet", "--force", "--detach", str(fresh), commit)
    try:
        return working_files(fresh)
    finally:
        git(repo, "worktree", "remove", "--force", str(fresh))
