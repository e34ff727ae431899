"""The refinery's own working trees: `<place>/check-1`, `check-2`, …, one per slot.

They persist, detached and locked, beside the sessions' trees, which have other names and another
list. The state of one is in `<git dir>/corral/check-trees/check-1/`: the desk with our index, the
run that used it last, and a lock. Git inherits that lock, so even if the process that started a
checkout is killed, nothing touches the tree before git has ended.
"""

import fcntl
import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from os.path import isdir, join, realpath

from corral.core.config import TreeSettings
from corral.core.errors import BadInput, Refused
from corral.world import processes
from corral.world.checks.tree import LAST_RUN, LOCK, CheckTree
from corral.world.git.tree import read_plain
from corral.world.git.view import View
from corral.world.processes import EndReason
from corral.world.repository import Repository
from corral.world.trees.door import place_of
from corral.world.trees.seeds import setup_key

PREFIX = "check-"
_NAME = re.compile(r"check-([1-9][0-9]{0,3})")
_PATIENCE_S = 60.0
_PAUSE_S = 0.01


class Pool:
    def __init__(
        self, repository: Repository, *, place: str | None = None, keep: Sequence[str] = ()
    ) -> None:
        """The paths in `keep` (caches) survive from run to run, whatever they contain."""
        self.repository = repository
        self.marker = repository.git_dir
        self.git_dir = realpath(repository.git_dir)
        self.place = place_of(repository, place)
        self.checks = join(self.git_dir, "corral", "checks")
        self._desks = join(self.git_dir, "corral", "check-trees")
        self._keep = tuple(keep)
        self._view = View(self.git_dir)

    def checkout(self, slot: int, commit: str) -> str:
        """Bring the tree of a slot to exactly a commit; return its path."""
        with self.hold(slot) as tree:
            tree.check_out(commit)
        return tree.path

    def setup_key(self, commit: str, settings: TreeSettings) -> str:
        """Return the key of a set-up's result on a commit."""
        return setup_key(self._view, commit, settings)

    def left(self, slot: int, commit: str, settings: TreeSettings) -> tuple[list[str], list[str]]:
        """Return what the set-up in a slot left that git does not ignore, and what it changed."""
        with self.hold(slot) as tree:
            return tree.left(commit, settings)

    def release(self, slot: int) -> None:
        """Empty the TMPDIR of a slot whose run is over, and detach its tree again."""
        with self.hold(slot) as tree:
            tree.let_go()

    def slots(self) -> list[int]:
        """Return the slots that have a tree."""
        names = os.listdir(self._desks) if isdir(self._desks) else []
        return sorted(int(found[1]) for name in names if (found := _NAME.fullmatch(name)))

    def remove(self, slot: int) -> None:
        """Remove the tree of a slot; refused while it is in use."""
        with self.hold(slot, patience_s=0) as tree:
            tree.remove()

    def remove_unused(self, before: int) -> list[int]:
        """Remove the trees that have not been used since a time; return their slots."""
        removed = []
        for slot in self.slots():
            if os.stat(self.lock(slot)).st_mtime_ns // 1_000_000 < before:
                with suppress(Refused):  # it is in use after all
                    self.remove(slot)
                    removed.append(slot)
        return removed

    def lock(self, slot: int) -> str:
        return join(self._desks, f"{PREFIX}{slot}", LOCK)

    def used_by(self, slot: int, run_id: str) -> None:
        """Record the run that uses a slot, before it starts and while the slot is held."""
        path = join(self._desks, f"{PREFIX}{slot}", LAST_RUN)
        with open(path, "w", encoding="utf-8") as file:
            file.write(run_id)

    @contextmanager
    def hold(self, slot: int, *, patience_s: float = _PATIENCE_S) -> Iterator[CheckTree]:
        """Hold the tree of a slot exclusively; refused while a run uses it."""
        name = f"{PREFIX}{slot}"
        if not _NAME.fullmatch(name):
            raise BadInput(f"{slot} is not a slot number: slots are numbered 1, 2, 3, …")
        desk = join(self._desks, name)
        lock = self._take(slot, time.monotonic() + patience_s)
        try:
            self._refuse_busy(slot)
            os.makedirs(self.place, exist_ok=True)
            yield CheckTree(self._view, join(self.place, name), desk, self._keep, lock)
        finally:
            os.close(lock)

    def _take(self, slot: int, deadline: float) -> int:
        path = self.lock(slot)
        while True:
            os.makedirs(join(self._desks, f"{PREFIX}{slot}"), exist_ok=True)
            lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(lock)
                if time.monotonic() >= deadline:
                    raise Refused(
                        f"the check slot {slot} is being prepared by another process",
                        code="slot_busy",
                    ) from None
                time.sleep(_PAUSE_S)
                continue
            if os.path.exists(path) and os.path.samestat(os.stat(path), os.fstat(lock)):
                os.utime(lock)
                return lock
            os.close(lock)  # it was removed with its slot while we waited

    def _refuse_busy(self, slot: int) -> None:
        """Make sure that nothing of the previous run can still act in this slot."""
        said = read_plain(join(self._desks, f"{PREFIX}{slot}", LAST_RUN))
        last = os.fsdecode(said or b"")
        if not last:
            return
        folder = join(self.checks, last)
        processes.withdraw(folder)  # in case its starter was killed before starting it
        ended = processes.outcome(folder)
        if ended is None:
            raise Refused(f"the run {last} is still running in check slot {slot}", code="slot_busy")
        if (ended.reason is EndReason.LOST or ended.left) and end_strays(self.marker, last):
            raise Refused(
                f"processes of the run {last} cannot be ended, so its slot stays in use",
                code="slot_busy",
            )


def mark(run_id: str) -> str:
    """Return the name by which a run's processes are found; no session has such a name."""
    return f"check-{run_id}"


def end_strays(marker: str, run_id: str) -> int:
    """End what is left of a run that lost its shim and keeper; return how many processes remain."""
    found = processes.strays(marker, live=())
    return processes.end([stray for stray in found if stray.session == mark(run_id)])
