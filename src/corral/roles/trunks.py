"""The convoys' trunks: sessions start from them and may never move them.

The log knows where a trunk is, and the branch always contains that commit. If the branch is ahead,
the reflog says who moved it: a person may do so, and the log follows. If a session moved it, or if
what was known is no longer in its history, its commit is kept and the trunk is put back. A person
who reverts landed work does it with a commit, and the task's alert names that commit.
"""

import os
import re
import threading
from collections.abc import Sequence
from os.path import join

from corral.core.board.claims import REVERTED
from corral.core.errors import Refused
from corral.core.ids import ConvoyId, SessionId, TaskId, mail_of
from corral.core.log.state import Session, State, Task, TaskState
from corral.core.queue import rules as queue_rules
from corral.core.queue.fold import trunk_of
from corral.core.refs import branch_ref, task_branch, trunk_branch
from corral.core.session.verdict import settings_in
from corral.core.text import printable
from corral.roles.log import Log
from corral.world.git.objects import CommitObject, Objects
from corral.world.git.paths import unlike
from corral.world.git.reverts import merged_by, reverted
from corral.world.git.tree import Tree, read_branch, read_plain
from corral.world.git.view import View
from corral.world.keep import Keep
from corral.world.repository import Repository

MOVED = "trunk_moved"
SETTINGS = "settings_changed"
_TASK = re.compile(rb"^Task: (\S+)$", re.MULTILINE)


class Trunks:
    def __init__(self, log: Log, repository: Repository, keep: Keep) -> None:
        self._log = log
        self._repository = repository
        self._keep = keep
        self.view = View(os.path.realpath(repository.git_dir))
        self._turn = threading.Lock()

    def base(self, task: Task, trunk: str, *, fresh: bool) -> str:
        """Return the commit that a new session starts from.

        A session that continues the last attempt's commits starts where they left the trunk.
        """
        tip = None if fresh else self.view.tip(task_branch(task.convoy, task.id))
        return (self.view.fork(trunk, tip) if tip else None) or trunk

    def continues(self, session: Session) -> bool:
        """Say whether the session's branch exists and has the base in its history."""
        tip = self.view.tip(session.branch)
        return tip is not None and self.view.contains(tip, session.base)

    def at(self, convoy: ConvoyId, judged: Session | None = None) -> str:
        """Return where a trunk is; create it on first use, and put it back if it was moved."""
        with self._turn:
            here, state = self._both(convoy)
            trunk = trunk_of(state, convoy)
            if trunk.landing is not None and here in (trunk.landing.old, trunk.landing.new):
                return here  # the refinery is moving it
            known = trunk.tip or _started_from(state, convoy)
            if not known:
                if here is None:
                    here = start_of(self.view, state.convoys[convoy].base)
                    self.view.move(branch_ref(trunk_branch(convoy)), here, None)
            elif here is None or not (here == known or self._may_be_at(state, convoy, here, known)):
                self._mend(state, convoy, here, known, judged)
                here = known
            if here != trunk.tip:
                self._note_move(state, convoy, trunk.tip, here)
            return here

    def _note_move(self, state: State, convoy: ConvoyId, old: str, new: str) -> None:
        """Record a move, and say whose landed work it reverts."""
        if not old:
            self._log.note(queue_rules.move_trunk, convoy, old, new, "")
            return
        undone: dict[TaskId, str] = {}
        with Objects(self.view) as objects:
            for commit, by in reverted(objects, old, new).items():
                task = _whose(objects, state, convoy, commit, new)
                if task:
                    undone[task] = f"{by[:12]} ({_subject(objects.commit(by))})"
                    continue
                for first in reverted(objects, f"{commit}^", commit):  # a revert was reverted
                    task = _whose(objects, state, convoy, first, new)
                    if task:
                        self._log.over(REVERTED, task)
        who = printable(self._mover(convoy, new))
        self._log.note(queue_rules.move_trunk, convoy, old, new, who, reverted=undone)

    def settings_in(
        self, state: State, convoy: ConvoyId, changed: Sequence[str], commit: str, tree: Tree | None
    ) -> tuple[str, ...]:
        """Return the settings of Corral that work changes; not those that a person changed.

        These are on the trunk or on the base branch, and the work has taken them over.
        """
        base = state.convoys[convoy].base
        theirs = [tip for tip in (trunk_of(state, convoy).tip, self.view.tip(base)) if tip]
        found = settings_in(tuple(changed))
        return unlike(self.view, found, commit, theirs, tree.borrowed if tree else ())

    def guard(self, convoy: ConvoyId) -> None:
        """Put a trunk back that was moved while nothing was landing.

        A person may delete the trunk of a convoy that has no work left.
        """
        state = self._log.look()
        gone = read_branch(self._repository.git_dir, trunk_branch(convoy)) is None
        if trunk_of(state, convoy).tip and not (gone and queue_rules.over(state, convoy)):
            self.at(convoy)

    def follow(self, convoy: ConvoyId) -> None:
        """Move a trunk on which nothing has landed to where its base is now, if that is ahead."""
        with self._turn:
            here, state = self._both(convoy)
            trunk, base = trunk_of(state, convoy), state.convoys[convoy].base
            if here is None or here != trunk.tip or trunk.learned.landed or trunk.landing:
                return
            ahead = start_of(self.view, base)
            if ahead != here and self.view.surely_contains(ahead, here):
                self.view.move(branch_ref(trunk_branch(convoy)), ahead, here)
                self._log.note(queue_rules.move_trunk, convoy, here, ahead, "")

    def _both(self, convoy: ConvoyId) -> tuple[str | None, State]:
        """Return the trunk and the state of the log, as they were at one moment.

        The refinery announces a move before it makes it and records it afterwards. If the branch
        is at the same commit before and after the log is read, the log is not behind it.
        """
        while True:
            here = read_branch(self._repository.git_dir, trunk_branch(convoy))
            state = self._log.look()
            if here == read_branch(self._repository.git_dir, trunk_branch(convoy)):
                return here, state

    def _may_be_at(self, state: State, convoy: ConvoyId, here: str, known: str) -> bool:
        """Say whether nothing is lost and a person moved the trunk; a session never may."""
        if not self.view.surely_contains(here, known):
            return False
        done = [task for task in state.tasks.values() if task.state is TaskState.DONE]
        if (convoy, here) in {(task.convoy, task.commit) for task in done}:
            return True  # it was landed by hand
        mail = self._mover(convoy, here)
        sessions = {mail_of(session.id) for session in state.sessions.values()}
        return not _live(state, convoy) or (bool(mail) and mail not in sessions)

    def _mend(
        self, state: State, convoy: ConvoyId, here: str | None, known: str, judged: Session | None
    ) -> None:
        ref = branch_ref(trunk_branch(convoy))
        culprits = self._culprits(state, convoy, here, known, judged)
        if here is not None and self.view.commit(here):
            holder = culprits[0] if culprits else convoy
            self._keep.hold(holder, trunk_branch(convoy), here, "moved trunk")
            self.view.move(ref, known, here)
        else:
            loose = join(self._repository.git_dir, ref)
            if os.path.lexists(loose) and not os.path.isdir(loose):
                os.unlink(loose)  # it names no commit: there is nothing to keep
            self.view.move(ref, known, None)
        where = (here or "nowhere")[:12]
        blamed: list[SessionId | None] = [*culprits] or [None]
        for who in blamed:
            self._log.alert(
                MOVED,
                who or convoy,
                f"{who or 'somebody'} moved the trunk of {convoy} to {where};"
                f" it was reset to {known[:12]}, and the commit that it was moved to is kept",
                again=True,
            )

    def _culprits(
        self, state: State, convoy: ConvoyId, here: str | None, known: str, judged: Session | None
    ) -> list[SessionId]:
        """Return the sessions that moved the trunk, by the reflog or as the only live one."""
        mails = self._movers(convoy, here or "", known)
        found = [session.id for session in state.sessions.values() if mail_of(session.id) in mails]
        if found:
            return found
        live = _live(state, convoy)
        return [judged.id] if judged and [one.id for one in live] == [judged.id] else []

    def _mover(self, convoy: ConvoyId, here: str) -> str:
        """Return the reflog address of whoever last moved the trunk."""
        return next(iter(self._movers(convoy, here)), "")

    def _movers(self, convoy: ConvoyId, here: str, known: str = "") -> list[str]:
        """Return the reflog addresses of those who moved the trunk since a commit, newest first."""
        record = join(self._repository.git_dir, "logs", branch_ref(trunk_branch(convoy)))
        moves: list[str] = []
        for line in reversed((read_plain(record) or b"").splitlines()):
            about, _, rest = line.partition(b"<")
            old, new = [*about.split(b" ")[:2], b"", b""][:2]
            if here and not moves and new != here.encode():
                break
            moves.append(rest.partition(b">")[0].decode("utf-8", "replace"))
            if not known or old == known.encode():
                break
        return moves


def _whose(
    objects: Objects, state: State, convoy: ConvoyId, commit: str, trunk: str
) -> TaskId | None:
    """Return the task with which a commit of a trunk has landed."""
    done = [t for t in state.tasks.values() if t.convoy == convoy and t.state is TaskState.DONE]
    landed = {task.commit: task.id for task in done}
    if commit in landed:
        return landed[commit]
    if not objects.view.surely_contains(trunk, commit):
        return None
    merge = merged_by(objects, commit, trunk, landed)
    if merge is not None:
        return landed[merge]
    named = _TASK.findall(objects.commit(commit).message)  # one of several that were replayed
    return next((task.id for task in done if named and task.id.encode() == named[-1]), None)


def _subject(commit: CommitObject) -> str:
    return printable(commit.message.decode("utf-8", "replace").strip().partition("\n")[0])


def start_of(view: View, base: str) -> str:
    """Return the commit that a convoy starts from: its base (a branch, or any name that git knows),
    or HEAD if it has no base. A base that does not exist is an error."""
    names = [branch_ref(base), base] if base else [_head(view.git_dir)]
    found = next((commit for name in names for commit in view.commits(name) if commit), None)
    if found is None and not view.commit(_head(view.git_dir)):
        raise Refused("the repository has no commit to start from", "git commit")
    if found is None:
        raise Refused(f"there is no branch {printable(base)!r} to start from", f"git branch {base}")
    return found


def _started_from(state: State, convoy: ConvoyId) -> str:
    """Return where the convoy's newest session found the trunk, for logs of older versions."""
    started = [s for s in state.sessions.values() if state.tasks[s.task].convoy == convoy]
    newest = max(started, key=lambda s: (s.started_at, int(s.token)), default=None)
    return newest.trunk if newest else ""


def _live(state: State, convoy: ConvoyId) -> list[Session]:
    return [s for s in state.sessions.values() if s.live and state.tasks[s.task].convoy == convoy]


def _head(git_dir: str) -> str:
    head = (read_plain(join(git_dir, "HEAD"), 4096) or b"-").decode("utf-8", "replace").strip()
    return head.removeprefix("ref: ")
