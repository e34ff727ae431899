"""The deacon's chores: look at the machine, ask the core what to do about it, and do it.

Each may be repeated at any time, and touches only what provably belongs to a session: a tree must
be Corral's by name, a process must carry the marks of this repository and of a session that has
ended. The machine is looked at before the log is read (`core/chores` says why).
"""

import os
from collections.abc import Callable
from functools import cached_property
from os.path import isdir, islink, join

from corral.core import chores
from corral.core.chores import ChoreOutcome, Saved
from corral.core.config import Config
from corral.core.errors import CorralError
from corral.core.ids import SessionId
from corral.core.log.state import State
from corral.core.message import rules as messages
from corral.core.text import counted
from corral.roles import locks
from corral.roles.deacon.traces import TraceSender
from corral.roles.records.rooms import Room
from corral.store.port import Decide, Store
from corral.store.service import record
from corral.world import processes
from corral.world.checks import Pool, Runs
from corral.world.clock import Clock
from corral.world.git import Git, garbage
from corral.world.git.worktrees import remove
from corral.world.processes import EndReason
from corral.world.repository import Repository
from corral.world.trees import Trees

DEACON = "deacon"
NAMES = (
    *("processes", "trees", "rooms", "kept", "checks", "trash", "objects"),
    *("claims", "leases", "messages", "sessions", "alerts"),
)
TRACES = "traces"  # only if they are configured
_COLLECT_AGAIN_MS = 3_600_000  # after one that left much, or that the user has forbidden
Chore = Callable[[], ChoreOutcome]


class Chores:
    def __init__(self, store: Store, repository: Repository, config: Config, clock: Clock) -> None:
        self._store = store
        self._repository = repository
        self._config = config
        self._clock = clock
        self._traces = TraceSender(store, repository, config.telemetry.endpoint, DEACON)
        self._collected_at = 0
        # The witness claims for as long, and renews at half of that.
        self.grace_s = max(60, 3 * config.watch.beat_s)

    def quick(self) -> dict[str, Chore]:
        """Return the chores to do whenever the log has changed; they cost next to nothing."""
        return {
            "claims": self._claims,
            "leases": lambda: self._all_of(chores.lapsed_leases),
            "messages": lambda: self._all_of(messages.expire),
            "sessions": self._sessions,
            "alerts": self._alerts,
            **({TRACES: self._traces.send} if self._config.telemetry.endpoint else {}),
        }

    def thorough(self) -> dict[str, Chore]:
        """Return the chores about processes, folders and refs; processes end before trees go."""
        return {
            "processes": self._processes,
            "trees": self._trees,
            "rooms": self._rooms,
            "kept": self._kept,
            "checks": self._checks,
            "trash": self._trash,
            "objects": self._objects,
        }

    @property
    def watched(self) -> bool:
        """Say whether a witness looks after the sessions."""
        return locks.taken(self._repository.folder, "witness")

    def guarded(self, state: State) -> set[SessionId]:
        """Return the sessions past their claim that still seem to run or to be watched."""
        late = chores.holders(state, self._clock())
        if late and self.watched:
            return set(late)
        return {session for session in late if self._runs(session)}

    @cached_property
    def _door(self) -> Trees:
        trees = self._config.trees
        return Trees(self._repository, place=trees.folder or None, pool=trees.pool, now=self._clock)

    def _claims(self) -> ChoreOutcome:
        guarded, grace_s = self.guarded(self._store.state()), self.grace_s
        return self._all_of(lambda state, now: chores.lapsed_claims(state, guarded, grace_s, now))

    def _sessions(self) -> ChoreOutcome:
        """Find live sessions without a process or a witness; the next witness adopts them."""
        live = chores.live(self._store.state())
        if not live or self.watched:
            return ChoreOutcome()
        lost = [session for session in sorted(live) if self._is_lost(SessionId(session))]
        lost = [session for session in lost if session in chores.live(self._store.state())]
        text = (
            "it has no process, no exit code and no witness; continue it with: corral witness run"
        )
        return ChoreOutcome(len(lost), worries=dict.fromkeys(lost, text))

    def _alerts(self) -> ChoreOutcome:
        """Count what `settle` is about to clear."""
        number = len(chores.outdated(self._store.state()))
        return ChoreOutcome(number, number)

    def _processes(self) -> ChoreOutcome:
        seen = processes.strays(self._repository.git_dir, live=())
        live = chores.live(self._store.state())
        ours = [stray for stray in seen if chores.of_session(stray.session)]
        strays = [stray for stray in ours if stray.session not in live]
        left = processes.end(strays) if strays else 0
        names = ", ".join(sorted({stray.session for stray in strays}))[:200]
        text = f"could not stop {left} of {counted(len(strays), 'process', 'processes')} ({names})"
        return ChoreOutcome(len(strays), len(strays) - left, {"processes": text} if left else {})

    def _trees(self) -> ChoreOutcome:
        trees = {tree.name: tree for tree in self._door.list()}
        busy = {stray.session for stray in processes.strays(self._repository.git_dir, live=())}
        if not chores.orphans(self._store.state(), trees, self._clock(), watched=False):
            return ChoreOutcome()
        with locks.kept_out(self._repository.folder, "witness") as alone:
            state = self._store.state()
            orphans = chores.orphans(state, trees, self._clock(), watched=not alone)
            worries = dict.fromkeys(busy & set(orphans), "something still runs in its tree")
            for name in orphans:
                if name in worries:
                    continue
                try:
                    self._door.release(trees[name], f"{name} is over")
                except (CorralError, OSError) as error:
                    worries[name] = f"its tree was left untouched: {_said(error)}"
        return ChoreOutcome(len(orphans), len(orphans) - len(worries), worries)

    def _rooms(self) -> ChoreOutcome:
        home = join(self._repository.folder, "sessions")
        names = os.listdir(home) if isdir(home) and not islink(home) else []
        rooms = {name: _changed_at(join(home, name)) for name in names}
        days = self._config.trees.keep_days
        old = chores.stale_rooms(self._store.state(), rooms, days, self._clock())
        old = [name for name in old if not self._runs(SessionId(name))]
        worries = {}
        for name in old:
            try:
                remove(join(home, name))
            except OSError as error:
                worries[name] = f"its room cannot be deleted: {_said(error)}"
        return ChoreOutcome(len(old), len(old) - len(worries), worries)

    def _kept(self) -> ChoreOutcome:
        listed = self._door.keep.list_kept()
        saved = [Saved(kept.ref, kept.record.task, kept.at) for kept in listed]
        days = self._config.trees.keep_days
        old = chores.expired(self._store.state(), saved, days, self._clock())
        git = Git(self._repository.git_dir, self._repository.worktree)
        for ref in old:
            git.delete(ref)
        return ChoreOutcome(len(old), len(old))

    def _checks(self) -> ChoreOutcome:
        """Remove unused check trees and old runs; end processes that runs left behind."""
        if not isdir(join(self._repository.folder, "check-trees")):
            return ChoreOutcome()
        pool = Pool(self._repository, place=self._config.trees.folder or None)
        runs = Runs(pool, now=self._clock)
        stay = runs.end_strays()
        unused = self._clock() - self._config.trees.keep_days * chores.DAY
        gone = len(pool.remove_unused(unused)) + runs.prune()
        text = f"could not stop {counted(stay, 'process', 'processes')} of ended runs"
        return ChoreOutcome(gone + stay, gone, {"checks": text} if stay else {})

    def _trash(self) -> ChoreOutcome:
        before = _count(self._door.place)
        left = self._door.sweep()
        gone = max(0, before - _count(self._door.place))
        text = f"could not delete {counted(left, 'folder')} in {self._door.place}"
        return ChoreOutcome(gone + left, gone, {"trash": text} if left else {})

    def _objects(self) -> ChoreOutcome:
        """Pack the objects of many sessions, which have git's own collection switched off."""
        due = garbage.is_due(self._repository.git_dir)
        if not due or self._clock() < self._collected_at + _COLLECT_AGAIN_MS:
            return ChoreOutcome()
        self._collected_at = self._clock()
        garbage.collect(self._repository.git_dir)
        return ChoreOutcome(1, int(not garbage.is_due(self._repository.git_dir)))

    def _all_of(self, decide: Decide) -> ChoreOutcome:
        """Append all events that are decided; write nothing if there are none."""
        if not decide(self._store.state(), self._clock()):
            return ChoreOutcome()
        number = record(self._store, DEACON, decide)
        return ChoreOutcome(number, number)

    def _runs(self, session: SessionId) -> bool:
        folder = Room(self._repository.folder, session).launch()
        return folder is not None and processes.alive(folder)

    def _is_lost(self, session: SessionId) -> bool:
        folder = Room(self._repository.folder, session).launch()
        if folder is None:
            return True
        ended = processes.outcome(folder)
        lost = ended is not None and ended.reason is EndReason.LOST
        return lost and processes.read_exit(folder) is None


def _said(error: CorralError | OSError) -> str:
    return error.message if isinstance(error, CorralError) else (error.strerror or str(error))


def _changed_at(room: str) -> int:
    """Return when a file was last added to a room or to one of its folders."""
    paths = [room]
    if isdir(room) and not islink(room):
        paths += [entry.path for entry in os.scandir(room)]
    return max(os.lstat(path).st_mtime_ns for path in paths) // 1_000_000


def _count(folder: str) -> int:
    return len(os.listdir(folder)) if isdir(folder) else 0
