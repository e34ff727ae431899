"""Which sessions need something, and what: a program begun, watched or stopped, its end judged.

What is remembered here (how each session was when it was last looked at, which folders are listened
to) saves looks and decides nothing: with an empty memory, every session is looked at.
"""

from enum import StrEnum
from os.path import dirname, join

from msgspec import Struct

from corral.core.ids import SessionId
from corral.core.log.state import Claim, Message, Session, State, Task
from corral.core.refs import branch_ref
from corral.core.session import rules as session_rules
from corral.roles.records.rooms import Room, launched
from corral.roles.witness.engine_watch import EngineWatch
from corral.world import processes
from corral.world.clock import Clock
from corral.world.processes import EndReason, Exit
from corral.world.trees import Tree, Trees
from corral.world.watch import Watch


class Need(StrEnum):
    BEGIN = "begin"  # its program is to be started
    WATCH = "watch"  # its program runs
    STOP = "stop"  # its claim is gone
    INSIST = "insist"  # it was asked to stop
    CLOSE = "close"  # its program has ended
    WAIT = "wait"  # its program has ended, and it waits for an answer


class Dispatch(Struct, frozen=True):
    """What one session needs, with what was found out on the way."""

    session: Session
    task: Task
    need: Need
    folder: str | None = None  # of the newest launch of its program
    exit: Exit | None = None
    tree: Tree | None = None
    mail: bool = False  # messages wait for it


class Dispatcher(Struct, frozen=True):
    folder: str
    engines: EngineWatch
    trees: Trees
    watch: Watch
    answer_s: int
    clock: Clock
    seen: dict[SessionId, tuple[Session, Claim | None, tuple[Message, ...]]] = {}
    folders: dict[SessionId, str] = {}  # that are listened to
    occupied: dict[SessionId, Tree] = {}

    def changed(
        self, session: Session, task: Task, mail: tuple[Message, ...], heard: set[str]
    ) -> bool:
        """Say whether something about a session has changed since it was last looked at."""
        seen = self.seen.get(session.id)
        if seen is None or seen[0] is not session or seen[1] is not task.claim or seen[2] != mail:
            return True
        tree = self.occupied.get(session.id)
        mine = {self.folders.get(session.id), *(_watched(tree) if tree else ())}
        return not heard.isdisjoint(mine)

    def look(self, session: Session, task: Task, mail: tuple[Message, ...]) -> Dispatch:
        """Return what a session needs that no step is busy with."""
        self.seen[session.id] = (session, task.claim, mail)
        held = session_rules.holds(session, task)
        room = Room(self.folder, session.id)
        folder = room.launch()
        unborn = folder is not None and not launched(folder) and processes.withdraw(folder)
        if folder is None or unborn or room.ran() < session.launches:
            if session.stop:
                return Dispatch(session, task, Need.CLOSE, exit=Exit(EndReason.STOPPED, 0))
            return Dispatch(session, task, Need.BEGIN if held else Need.STOP)
        self._listen(session, task, folder)
        ended = processes.outcome(folder)
        if ended is not None:
            waits = session_rules.idle(session, task, self.answer_s, self.clock())
            need = Need.WAIT if waits and not mail else Need.CLOSE
        elif session.stop:
            need = Need.INSIST
        else:
            need = Need.WATCH if held else Need.STOP
        tree = self.occupied.get(session.id)
        return Dispatch(session, task, need, folder, ended, tree, bool(mail))

    def due_at(self, state: State, busy: set[SessionId]) -> int | None:
        """Return when to look at a running engine next, even without news from it."""
        times = [
            self.engines.due_at(session)
            for session, _, _ in self.seen.values()
            if session.id in self.folders and session.id not in busy and not session.stop
            if self.engines.follows(session, state.tasks[session.task])
        ]
        return min(times, default=None)

    def forget_all_but(self, live: set[SessionId]) -> list[SessionId]:
        """Forget the sessions that have ended, and return them."""
        gone = [name for name in self.seen if name not in live]
        for session in gone:
            del self.seen[session]
            folder, tree = self.folders.pop(session, None), self.occupied.pop(session, None)
            if folder is not None:
                self.watch.drop(folder)
            # A tree may be another session's by now.
            if tree is not None and tree.path not in {one.path for one in self.occupied.values()}:
                for folder in _watched(tree):
                    self.watch.drop(folder)
        return gone

    def _listen(self, session: Session, task: Task, folder: str) -> None:
        known = self.folders.get(session.id)
        if known == folder:
            return
        if known is not None:
            self.watch.drop(known)
        self.folders[session.id] = folder
        follows = self.engines.follows(session, task)
        (self.watch.add_growing if follows else self.watch.add_complete)(folder)
        tree = self.trees.find(session.id)
        if tree is not None:
            self.occupied[session.id] = tree
            for watched in _watched(tree):
                self.watch.add_complete(watched)


def _watched(tree: Tree) -> tuple[str, ...]:
    """Return the folders in which a session's reports and the branch of a clone appear."""
    own = [dirname(join(tree.git_dir, branch_ref(tree.branch)))] if tree.kind == "clone" else []
    return (tree.path, *own)
