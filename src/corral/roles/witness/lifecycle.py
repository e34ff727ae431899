"""What is done for one session: begin it, judge it, give its tree back. Each may be repeated.

A step reads where the session stands from the log, its room and its tree, never from memory, so a
witness that was just started takes the same steps as the one that was killed. A step that fails
ends the session with the reason, or is tried again; it never takes the witness with it.
"""

import os
import threading
from collections import defaultdict
from os.path import join

from msgspec.structs import replace

from corral.core.config import Config
from corral.core.engine import governor, money
from corral.core.engine.fold import MESSAGE, RESTART, RESUME
from corral.core.engine.money import Sums
from corral.core.errors import CorralError, Failed, NotFound
from corral.core.ids import SessionId, TaskId, task_branch
from corral.core.log.state import Session, State, Task
from corral.core.session import rules as session_rules
from corral.core.session.backoff import Patience
from corral.core.session.brief import done_so_far
from corral.core.session.profiles import budgets_of, limits_of
from corral.core.session.verdict import Judgement, LastWord, Verdict, after
from corral.core.text import cut
from corral.roles.log import Log, find_alert
from corral.roles.records.rooms import Room
from corral.roles.trunks import Trunks
from corral.roles.witness.delivery import Delivering
from corral.roles.witness.engine_watch import Watcher
from corral.roles.witness.judge import Judge
from corral.roles.witness.launch import Launcher
from corral.roles.witness.returned_work import Mender
from corral.world.clock import Clock
from corral.world.git.conflicts import ConflictState as Conflict
from corral.world.processes import EndReason, Exit
from corral.world.repository import Repository
from corral.world.trees import Tree, Trees

NOT_JUDGED = "not_judged"
_GIT_AT_ONCE = 4  # trees that are written or looked through at the same time
_GIVE_UP_MS = 30_000
_RELAUNCHES = 5  # of one session's program, for whatever reason


class Steps:
    def __init__(
        self, log: Log, repository: Repository, config: Config, trees: Trees, clock: Clock
    ) -> None:
        self._log = log
        self._config = config
        self._trees = trees
        self._clock = clock
        self.trunks = Trunks(log, repository, trees.keep)
        self._mender = Mender(self.trunks.view, trees.keep)
        self.launcher = Launcher(log, repository, config, self._mender)
        self.watcher = Watcher(
            log, config, self.launcher.engaging, trees, clock, folder=repository.folder
        )
        self.delivering = Delivering(
            log, self.launcher.engaging, self.watcher, clock, folder=repository.folder
        )
        self._budgets = budgets_of(config)
        self._accounts = limits_of(config).accounts
        self._git = threading.Semaphore(_GIT_AT_ONCE)
        # The next attempt waits until the tree of the last one was given back.
        self._turns: defaultdict[TaskId, threading.Lock] = defaultdict(threading.Lock)
        self._judge = Judge(
            log, config, trees, self.trunks, self.launcher, view=self.trunks.view, git=self._git
        )
        watch = config.watch
        self._patience = Patience(watch.attempts, watch.backoff_s, watch.backoff_most_s)

    def room(self, session: SessionId) -> Room:
        return self.launcher.room(session)

    def base(self, state: State, task: Task, trunk: str, *, fresh: bool) -> str:
        """Return the commit that the next session of a task starts from."""
        returned = state.returned.get(task.id)
        if returned is not None and self._config.trees.kind != "clone" and not fresh:
            branch = task_branch(task.convoy, task.id)
            if self._mender.starts_over(returned, branch, trunk):
                return trunk
        return self.trunks.base(task, trunk, fresh=fresh)

    def begin(self, session: Session, task: Task) -> None:
        """Make the tree and start the program; what stands in the way ends the session."""
        try:
            self.launcher.check(session, task)
            self.launcher.end_helpers(session.id)
            with self._turns[session.task], self._git:
                tree = self._tree(session)
            if session.launches == 1:
                self.room(session.id).note_tree(tree.path)
                self._set_up(session, task, tree)
            done, letters = self._done_so_far(session, task), self.delivering.prompt(session)
            self.launcher.start(session, task, tree, done, letters)
        except CorralError as error:
            self.refuse(session, error.message)

    def refuse(self, session: Session, reason: str) -> None:
        """End a session that never ran."""
        judgement = Judgement(Verdict.COULD_NOT_START, reason)
        with self._turns[session.task]:
            self._end(session, judgement, Exit(EndReason.COULD_NOT_START, 0))
            self.give_back(session.id, "it could not start")

    def judge(self, session: Session, task: Task, exit_: Exit) -> None:
        """Find out what the session came to, record it, and give its tree back."""
        self.launcher.end_helpers(session.id)
        if exit_.reason is EndReason.LOST or exit_.left:
            self.launcher.end_strays(session.id)
        commit = ""
        word = self._last_word(session, task)
        missed = self.delivering.settle(session, task, self.room(session.id).launch())
        session = self._log.look().sessions.get(session.id, session)
        judgement = self._judge.by_end(session, exit_, word)
        unfinished = judgement is not None
        can_go_on = not unfinished and self._can_go_on(session, task)
        if can_go_on and self._goes_on(session, task, missed):
            return
        tree = self._trees.find(session.id)
        if judgement is None and tree is None:
            judgement = Judgement(Verdict.CRASHED, "its working tree is not known any more")
        elif judgement is None and tree is not None:
            judgement, commit = self._judge.by_work(session, task, tree, word)
        assert judgement is not None
        if word is not None and tree is not None and tree.exists:
            # What the checks leave behind after the work was judged is nobody's work.
            if self._relaunch(session, task, judgement, missed):
                return
            if unfinished:
                self._judge.keep_unfinished(session, task, tree)
        self.delivering.resolve(session)
        with self._turns[session.task]:
            self._end(session, judgement, exit_, commit, missed=missed if can_go_on else None)
            if not self._log.look().sessions[session.id].live:
                self.give_back(session.id, f"{session.id} ended: {judgement.verdict}")

    def waits(self, session: Session, task: Task) -> bool:
        """Say whether a session whose program has ended is left until it has its answer."""
        held = task.claim is not None and task.claim.token == session.token
        return held and session_rules.idle(session, self._config.watch.answer_s, self._clock())

    def _can_go_on(self, session: Session, task: Task) -> bool:
        """Say whether a session's conversation can have another turn."""
        engaging, tree = self.launcher.engaging, self._trees.find(session.id)
        takes = session.thread and engaging.takes(session.profile, task)
        can = takes and engaging.resumes(session.profile)
        return bool(can and tree is not None and tree.exists)

    def _goes_on(self, session: Session, task: Task, missed: set[str]) -> bool:
        """Let a session that has ended well go on with what came in, or wait for its answer."""
        answer_s = self._config.watch.answer_s
        self._log.record(
            lambda state, now: session_rules.go_on(
                state, session.id, again=missed, answer_s=answer_s, now=now
            )
        )
        known = self._log.look().sessions[session.id]
        return known.launches > session.launches or self.waits(known, task)

    def _last_word(self, session: Session, task: Task) -> LastWord | None:
        folder = self.room(session.id).launch()
        if folder is None or not self.watcher.follows(session, task):
            return None
        word = self.watcher.last_word(session, task, folder)
        asked = self._log.look().messages.get(session.waits)
        if word is None or word.asked or asked is None:
            return word
        return replace(word, asked=cut(asked.text, 500))

    def _relaunch(
        self, session: Session, task: Task, judgement: Judgement, missed: set[str]
    ) -> bool:
        """Start the program once more, in the same tree, where that may mend it."""
        then, cause = after(judgement.verdict), judgement.verdict
        held = task.claim is not None and task.claim.token == session.token
        if not held or session.relaunched.count(cause) >= then.relaunches:
            return False
        if len(session.relaunched) - session.relaunched.count(MESSAGE) >= _RELAUNCHES:
            return False
        engaging = self.launcher.engaging
        if cause is Verdict.NEEDS_ANSWER and not engaging.profile(session.profile).answers:
            return False
        fresh = then.fresh or not session.thread or not engaging.resumes(session.profile)
        action, text = RESTART if fresh else RESUME, judgement.detail[:900]
        self._log.record(
            lambda state, now: session_rules.relaunch(
                state, session.id, cause, action, text, again=missed, now=now
            )
        )
        return True

    def _done_so_far(self, session: Session, task: Task) -> str:
        """Say what a conversation did that is given up for a new one, in the same tree."""
        if session.launches == 1 or not session.fresh:
            return ""
        folder = join(self.room(session.id).path, f"run-{session.launches - 1}")
        stream = self.watcher.summary(session, task, folder)
        calls = tuple(f"{call.tool} {call.what}".strip() for call in stream.calls[-5:])
        done = done_so_far(stream.said, stream.files, calls, self.delivering.had(session))
        return f"{session.reactions[-1]}\n\n{done}"

    def could_not_judge(self, session: Session, error: Exception) -> None:
        """Say that a judgement failed; it is tried again for a while before it is given up."""
        text = f"{session.id} could not be judged: {described(error)}"
        known = find_alert(self._log.look(), NOT_JUDGED, session.id)
        if known is None:
            self._log.alert(NOT_JUDGED, session.id, f"{text}; it is tried again")
        elif self._clock() - known.raised_at > _GIVE_UP_MS:
            self._end(session, Judgement(Verdict.CRASHED, text), Exit(EndReason.LOST, 0))
            self.give_back(session.id, "it could not be judged")

    def give_back(self, session: SessionId, reason: str) -> None:
        """Keep what is in the tree of a session that has ended, and free it for another."""
        tree = self._trees.find(session)
        if tree is None:
            return
        try:
            with self._git:
                self._trees.release(self._trees.adopt(session), reason)
        except NotFound:
            return  # the deacon was quicker
        except (CorralError, OSError) as error:
            self._log.alert(
                "not_kept",
                session,
                f"the tree {tree.path} of {session} stays, because what is in it could not be"
                f" kept: {described(error)}",
            )

    def _tree(self, session: Session) -> Tree:
        known = self._trees.find(session.id)
        if known is not None:
            return self._mended(session, self._trees.adopt(session.id))
        for other in self._trees.list():
            if other.branch == session.branch:  # of an attempt before this one
                self._trees.release(self._trees.adopt(other.name), f"{session.id} goes on")
        conflict = self._bring(session)
        tree = self._trees.make(
            session.id,
            session.branch,
            session.base,
            kind="clone" if self._config.trees.kind == "clone" else "worktree",
            fresh=self._config.trees.fresh or not self.trunks.continues(session),
            at=self.launcher.earlier_room(session).tree if session.conversation else "",
            leave=self._spoken_for,
        )
        if conflict is not None:
            self._trees.show_conflict(tree, conflict)
        return tree

    def _spoken_for(self) -> set[str]:
        """Return the paths of trees in which conversations are to go on."""
        waiting = session_rules.interrupted(self._log.look())
        return {self.room(other).tree for other in waiting} - {""}

    def _mended(self, session: Session, tree: Tree) -> Tree:
        """Show the conflict in a tree that was made, if whoever made it was killed over it."""
        if self.room(session.id).launch() is None:
            conflict = self._bring(session)
            if conflict is not None:
                self._trees.show_conflict(tree, conflict)
        return tree

    def _bring(self, session: Session) -> Conflict | None:
        """Put work that came back from the queue on the trunk; return the conflict to be shown."""
        returned = self._log.look().returned.get(session.task)
        if returned is None or self._config.trees.fresh or self._config.trees.kind == "clone":
            return None
        return self._mender.bring(session, returned)

    def _set_up(self, session: Session, task: Task, tree: Tree) -> None:
        for path in task.inputs:
            if not os.path.exists(join(tree.path, path)):
                raise NotFound(f"the input {path!r} does not exist in {session.base[:12]}")
        self._trees.prepare(tree, self._config.trees.copy)
        for argv in self._config.trees.setup:
            ended, said = self.launcher.to_end(
                session, "setup", list(argv), tree, self._config.trees.setup_s
            )
            if ended.code != 0:
                how = f"exit code {ended.code}"
                if ended.reason is EndReason.TIMED_OUT:
                    how = f"it took longer than {self._config.trees.setup_s} s"
                words = f"; its last words: {said}" if said else ""
                raise Failed(f"the set-up command {' '.join(argv)!r} failed: {how}{words}")

    def _end(
        self,
        session: Session,
        judgement: Judgement,
        exit_: Exit,
        commit: str = "",
        missed: set[str] | None = None,
    ) -> None:
        """End a session; unless (`missed`: it could go on) there is something for it by now."""
        if judgement.verdict is Verdict.REFUSED and session.account:
            # Before the end: nothing may start on this account again until a person has acted.
            text = f"{session.profile} was refused: {judgement.detail}"
            self._log.alert(governor.REFUSED, session.account, text, again=True)

        def decide(state: State, now: int) -> session_rules.Decision:
            if missed is not None:
                more = session_rules.go_on(state, session.id, again=missed, answer_s=0, now=now)
                if more:
                    return more
            return session_rules.end(
                state,
                session.id,
                judgement,
                commit=commit,
                code=exit_.code,
                signal=exit_.signal,
                killed=exit_.killed,
                patience=self._patience,
                now=now,
                parked=self._short_of_money(state, session, judgement, now),
                accounts=self._accounts,
            )

        self._log.record(decide)

    def _short_of_money(
        self, state: State, session: Session, judgement: Judgement, now: int
    ) -> str:
        """Say which budget ended a session, if it is not the task's own: no attempt is used up."""
        if judgement.verdict is not Verdict.OVER_BUDGET:
            return ""
        task = state.tasks[session.task]
        # What others spend that is not recorded yet may be what used it up.
        sums = Sums(state, now, self.watcher.bills(state))
        found = money.over(sums, task, session.profile, self._budgets)
        return found.text if found is not None and found.what != "task" else ""


def described(error: Exception) -> str:
    """Return an error in one line: what it says, or its kind if it is not one of ours."""
    return error.message if isinstance(error, CorralError) else f"{type(error).__name__}: {error}"
