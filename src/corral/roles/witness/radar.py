"""The radar sees conflicts coming while sessions still work, using the object store alone.

It runs in a thread of the witness, which knows the sessions' trees and hears of changes in them.
Its memory decides nothing: with an empty memory the next sweep finds the same. After a sweep it
rests ten times as long as the sweep took, so it uses at most a tenth of one core.
"""

import sys
import time
import traceback
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from os.path import dirname, isdir, join

from corral.core.config import Config
from corral.core.errors import CorralError, described
from corral.core.ids import ConvoyId, SessionId
from corral.core.log.state import Session, State, Task, TaskState
from corral.core.queue import overlaps
from corral.core.queue.overlaps import FoundOverlap
from corral.core.refs import branch_ref, trunk_branch
from corral.roles.log import Log
from corral.roles.witness.radar_sweep import Sweeper, TaskWork
from corral.world.clock import Clock
from corral.world.git.merge import Merger
from corral.world.git.tree import read_branch
from corral.world.git.view import View
from corral.world.trees import Tree, Trees
from corral.world.watch import Watch

RADAR = "radar"
_OPEN = (TaskState.TODO, TaskState.DOING, TaskState.REVIEW)
_REST_S = 1.0  # between two sweeps, at least
_SHARE = 10  # or this many times as long as the last one took
_AGAIN_S = 15  # a conflict that comes and goes is reported again after this, doubled each time
_AGAIN_MOST_S = 3600


class Radar:
    def __init__(
        self, log: Log, view: View, trees: Trees, config: Config, *, watch: Watch, clock: Clock
    ) -> None:
        self._log = log
        self._trees = trees
        self._settings = config.radar
        self._continues = not config.trees.fresh
        self._watch = watch
        self._clock = clock
        self._sweeper = Sweeper(Merger(view, union=config.refinery.union), config.radar.every_s)
        self._worker = ThreadPoolExecutor(1, "corral-radar")
        self._busy = False
        self._failed = False
        self._heard: set[str] = set()
        self._listened: set[str] = set()
        self._seq = -1
        self._rested_at = 0  # the next sweep may begin then
        self._due_at: int | None = None
        self._told: dict[str, tuple[int, int]] = {}  # how often, and when last
        self._fetched: dict[SessionId, str] = {}  # commits of clones that were copied

    def consider(self, state: State, heard: set[str]) -> None:
        """Begin a sweep in a thread if one is due because something has changed."""
        live = [session for session in state.sessions.values() if session.live]
        if not (live and self._settings.enabled) and not state.overlaps:
            self._heard.clear()
            self._due_at = None
            return
        self._heard |= heard
        self._listen({state.tasks[session.task].convoy for session in live})
        if self._busy:
            return
        moved = state.seq != self._seq or bool(self._heard)
        now = self._clock()
        if moved and now < self._rested_at:
            self._due_at = self._rested_at
        elif moved or (self._due_at is not None and now >= self._due_at):
            heard, self._heard = self._heard, set()
            self._seq, self._due_at, self._busy = state.seq, None, True
            self._worker.submit(self._sweep, heard)

    def due_at(self) -> int | None:
        """Return when to consider another sweep even if nothing happens."""
        return None if self._busy else self._due_at

    def close(self) -> None:
        self._worker.shutdown(cancel_futures=True)
        self._sweeper.merger.close()

    def _listen(self, convoys: set[ConvoyId]) -> None:
        """Listen for branches that move."""
        for convoy in convoys:
            trunk = branch_ref(trunk_branch(convoy))
            folder = dirname(join(self._sweeper.merger.view.git_dir, trunk))
            if folder not in self._listened and isdir(folder):
                self._listened.add(folder)
                self._watch.add_complete(folder)

    def _sweep(self, heard: set[str]) -> None:
        began = time.monotonic()
        # A border: an error of the radar becomes an alert and harms no session.
        try:
            state = self._log.look()
            works = self._works(state) if self._settings.enabled else []
            found = self._sweeper.sweep(works, state, heard, self._clock())
            self._tell(state, found)
            if self._failed:
                self._log.over(RADAR, RADAR)
                self._failed = False
        except Exception as error:
            if not isinstance(error, CorralError):
                traceback.print_exception(error, file=sys.stderr)
            if self._failed:  # a single failure is chance: garbage collection, a tree being removed
                said = f"the radar cannot look for conflicts: {described(error)}"
                self._log.alert(RADAR, RADAR, said)
            self._failed = True
            self._sweeper.forget()
            self._fetched.clear()
            self._seq = -1
        finally:
            rest_s = max(_REST_S, _SHARE * (time.monotonic() - began))
            self._rested_at = self._clock() + int(rest_s * 1000)
            next_at = self._sweeper.next_at()
            self._due_at = None if next_at is None else max(self._rested_at, next_at)
            self._busy = False
            self._watch.ring()

    def _tell(self, state: State, found: Sequence[FoundOverlap]) -> None:
        now = self._clock()
        new = [one.name for one in found if one.name not in state.overlaps]
        quiet = frozenset(name for name in new if now < self._silent_until(name))
        if overlaps.update(state, found, quiet):
            self._log.note(overlaps.update, found, quiet)
            for name in new:
                if name not in quiet:
                    self._told[name] = (self._told.get(name, (0, 0))[0] + 1, now)

    def _silent_until(self, name: str) -> int:
        times, last = self._told.get(name, (0, 0))
        return last + min(_AGAIN_MOST_S, _AGAIN_S * 2**times) * 1000 if times else 0

    def _works(self, state: State) -> list[TaskWork]:
        """Return the work that is in progress, waits to land, or waits for another attempt."""
        trees = {tree.name: tree for tree in self._trees.list()}
        found = (self._work(state, task, trees) for task in state.tasks.values())
        return [work for work in found if work is not None]

    def _work(self, state: State, task: Task, trees: dict[str, Tree]) -> TaskWork | None:
        change = state.changes.get(task.id)
        if change is not None:
            return TaskWork(task.id, task.convoy, change.commit, change.fork, at_work=True)
        session = state.sessions.get(task.session)
        if session is None or task.state not in _OPEN:
            return None
        resting = task.state is TaskState.TODO
        if resting and not self._continues:
            return None  # the next attempt starts over
        tree = trees.get(session.id) if session.live else None
        commit = self._commit(session, tree)
        if commit is None:
            return None
        returned = None if session.live else state.returned.get(task.id)
        fork = (returned.fork if returned else "") or session.base
        return TaskWork(task.id, task.convoy, commit, fork, not resting, session.id, tree)

    def _commit(self, session: Session, tree: Tree | None) -> str | None:
        """Return the commit of a session's branch; copy it into the repository if necessary."""
        git_dir = self._sweeper.merger.view.git_dir
        if tree is None or tree.kind == "worktree":
            return read_branch(git_dir, session.branch)
        commit = read_branch(tree.git_dir, session.branch)
        if commit is not None and commit != self._fetched.get(session.id, session.base):
            self._trees.fetch(tree, commit)
            self._fetched[session.id] = commit
        return commit
