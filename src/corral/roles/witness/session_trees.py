"""The working trees of sessions: where one starts, how it is made and set up, and how it goes back.

Everything here may be repeated: a tree that was made is found again by the name of its session.
"""

import os
import threading
from collections import defaultdict
from os.path import join

from msgspec import Struct, field

from corral.core.config import Config
from corral.core.errors import CorralError, Failed, NotFound, described
from corral.core.ids import SessionId, TaskId, session_before
from corral.core.log.state import Session, State, Task
from corral.core.refs import task_branch
from corral.core.session import rules as session_rules
from corral.core.session.verdict import REPORTS
from corral.roles.log import Log
from corral.roles.trunks import Trunks
from corral.roles.witness.launch import Launcher
from corral.roles.witness.returned_work import ReturnedWork
from corral.world import setups
from corral.world.git.conflicts import ConflictState
from corral.world.processes import CouldNotStart, EndReason
from corral.world.trees import Tree, Trees
from corral.world.trees.seeds import setup_key

_GIT_AT_ONCE = 4  # trees that are written or read through at the same time


class NotSetUp(Exception):
    """A tree could not be set up, although the work does not change what its set-up depends on."""


class SessionTrees(Struct, frozen=True):
    log: Log
    config: Config
    trees: Trees
    trunks: Trunks
    returned_work: ReturnedWork
    launcher: Launcher
    git: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(_GIT_AT_ONCE))
    # The next attempt at a task waits until the tree of the last one was given back.
    turns: defaultdict[TaskId, threading.Lock] = field(
        default_factory=lambda: defaultdict(threading.Lock)
    )

    def origin(self, state: State, task: Task, *, fresh: bool) -> tuple[str, str]:
        """Return where the trunk is, and the commit that the next session of a task starts from."""
        trunk = self.trunks.at(task.convoy)
        returned = state.returned.get(task.id)
        if returned is not None and not fresh:
            branch = task_branch(task.convoy, task.id)
            if self.returned_work.starts_over(returned, branch, trunk):
                return trunk, trunk
        return trunk, self.trunks.base(task, trunk, fresh=fresh)

    def provide(self, session: Session) -> Tree:
        """Find or make the tree of a session, and show in it the conflict that it is to resolve."""
        with self.turns[session.task], self.git:
            if self.trees.find(session.id) is None:
                for other in self.trees.list():
                    if other.branch == session.branch:  # of an attempt before this one
                        self.trees.release(self.trees.adopt(other.name), f"{session.id} continues")
                conflict = self._returned_conflict(session)
                tree = self._make(session)
            else:
                tree = self.trees.adopt(session.id)
                # Its maker may have been killed before it had shown the conflict.
                begun = self.launcher.room(session.id).launch() is not None
                conflict = None if begun else self._returned_conflict(session)
            if conflict is not None:
                self.trees.show_conflict(tree, conflict)
            return tree

    def set_up(self, session: Session, task: Task, tree: Tree) -> None:
        """Copy files into a tree and run the set-up commands in it; an error says what failed."""
        self.launcher.room(session.id).note_tree(tree.path)
        for path in task.inputs:
            if not os.path.exists(join(tree.path, path)):
                raise NotFound(f"the input {path!r} does not exist in {session.base[:12]}")
        if self.config.trees.setup:
            self.trees.clean(tree)  # a witness may have been killed while it was being set up
        self._prepare(session, tree)

    def set_up_again(self, session: Session, tree: Tree) -> None:
        """Repeat the set-up if the work has changed what it depends on, as the refinery will.

        Acceptance commands would otherwise judge what was built before the work.
        """
        settings = self.config.trees
        if settings.setup and self._changes_set_up(tree, tree.base):
            with self.git:
                self.trees.clean_again(tree, sorted(REPORTS))
            self._prepare(session, tree)

    def _prepare(self, session: Session, tree: Tree) -> None:
        settings = self.config.trees
        self.trees.prepare(tree, settings.copy, settings.seed)
        if settings.setup:
            store, key = self.trees.setup_store(tree, settings)
            if not setups.give(store, key, tree.path):
                before = setups.listing(tree.path)
                self._run_set_up(session, tree)
                setups.keep(store, key, tree.path, before)
            left = self.trees.pass_over(tree)
            self.launcher.room(session.id).note_left(left)  # the session is not blamed for it

    def _run_set_up(self, session: Session, tree: Tree) -> None:
        limit_s = self.config.trees.setup_s
        for argv in self.config.trees.setup:
            try:
                ended, said = self.launcher.to_end(session, "setup", list(argv), tree, limit_s)
            except CouldNotStart as error:
                raise NotSetUp(f"the set-up command {argv[0]!r} cannot be run: {error}") from error
            if ended.code != 0:
                how = f"exit code {ended.code}"
                if ended.reason is EndReason.TIMED_OUT:
                    how = f"it took longer than {limit_s} s"
                words = f"; its last words: {said}" if said else ""
                said = f"the set-up command {' '.join(argv)!r} failed: {how}{words}"
                raise Failed(said) if self._changes_set_up(tree, session.trunk) else NotSetUp(said)

    def _changes_set_up(self, tree: Tree, start: str) -> bool:
        """Say whether the work on the branch since then changes what the set-up depends on."""
        trees = self.config.trees
        keys = {
            setup_key(self.trunks.view, commit, trees)
            for commit in (start, self.trees.collect(tree))
        }
        return len(keys) > 1

    def give_back(self, session: SessionId, reason: str) -> None:
        """Keep what is in the tree of a session that has ended, and free it for another."""
        tree = self.trees.find(session)
        if tree is None:
            return
        try:
            with self.git:
                self.trees.release(self.trees.adopt(session), reason)
        except NotFound:
            return  # the deacon was quicker
        except (CorralError, OSError) as error:
            self.log.alert(
                "not_kept",
                session,
                f"the tree {tree.path} of {session} was not removed, because its content could not"
                f" be saved: {described(error)}",
            )

    def _make(self, session: Session) -> Tree:
        earlier = self.launcher.room(session_before(session.id))
        return self.trees.make(
            session.id,
            session.branch,
            session.base,
            kind=self.config.trees.kind,
            fresh=self.config.trees.fresh or not self.trunks.continues(session),
            at=earlier.tree if session.conversation else "",
            leave=self._spoken_for,
        )

    def _spoken_for(self) -> set[str]:
        """Return the paths of trees in which conversations are to go on."""
        waiting = session_rules.interrupted(self.log.look())
        return {self.launcher.room(other).tree for other in waiting} - {""}

    def _returned_conflict(self, session: Session) -> ConflictState | None:
        """Put work that came back from the queue on the trunk; return the conflict to be shown."""
        returned = self.log.look().returned.get(session.task)
        if returned is None or self.config.trees.fresh:
            return None
        return self.returned_work.bring(session, returned)
