"""The end of a session's program: judge what it left, then let it go on, or record the end.

Every step may be repeated: nothing about an end is remembered until the event that records it, and
a witness that finds a program that has ended goes through all of it again.
"""

from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from corral.core.config import Config
from corral.core.engine import governor, money
from corral.core.engine.fold import MESSAGE, RESTART, RESUME
from corral.core.engine.money import Sums
from corral.core.errors import described
from corral.core.log.state import Session, State, Task
from corral.core.session import rules as session_rules
from corral.core.session.backoff import Patience
from corral.core.session.profiles import budgets_of, limits_of
from corral.core.session.verdict import Judgement, LastWord, Verdict, after
from corral.core.text import cut
from corral.roles.log import Log, find_alert
from corral.roles.witness.delivery import Delivery
from corral.roles.witness.engine_watch import EngineWatch
from corral.roles.witness.judge import Judge
from corral.roles.witness.launch import Launcher
from corral.roles.witness.session_trees import SessionTrees
from corral.world.clock import Clock
from corral.world.processes import EndReason, Exit
from corral.world.trees import Tree

NOT_JUDGED = "not_judged"
_GIVE_UP_MS = 30_000
_RELAUNCHES = 5  # of one session's program, for whatever reason


class EndPhase(StrEnum):
    """What the end of a program means for its session."""

    UNFINISHED = "unfinished"  # it was cut short, so the way it ended is the judgement
    RESUMABLE = "resumable"  # it ended well, and its conversation can have another turn
    FINISHED = "finished"  # it ended well, and its work decides


class SessionEnd(Struct, frozen=True):
    """How a session's program ended, and what is known about its work so far."""

    session: Session
    task: Task
    exit: Exit
    phase: EndPhase
    missed: frozenset[str] = frozenset()  # messages that were handed over and did not arrive
    word: LastWord | None = None  # None: an engine whose output says nothing to us
    tree: Tree | None = None
    judgement: Judgement | None = None
    commit: str = ""  # that was proved


class SessionCloser(Struct, frozen=True):
    log: Log
    config: Config
    launcher: Launcher
    trees: SessionTrees
    engines: EngineWatch
    delivery: Delivery
    judge: Judge
    clock: Clock

    def close(self, session: Session, task: Task, exit_: Exit) -> None:
        """Judge a session; let it go on if it can, else record its end and give its tree back."""
        self.launcher.end_helpers(session.id)
        if exit_.reason is EndReason.LOST or exit_.left:
            self.launcher.end_strays(session.id)
        end = self._observed(session, task, exit_)
        if end.phase is EndPhase.RESUMABLE and self._goes_on(end):
            return
        end = self._judged(end)
        if end.word is not None and end.tree is not None and end.tree.exists:
            # What the checks leave behind after the work was judged is nobody's work.
            if self._relaunched(end):
                return
            if end.phase is EndPhase.UNFINISHED:
                self.judge.keep_unfinished(end.session, task, end.tree)
        self.delivery.resolve(end.session)
        self._record(end)

    def accept(self, session: Session, task: Task, tree: Tree) -> bool:
        """Judge the work of an earlier session again, without an agent; say if that is all."""
        judgement, commit = self.judge.by_work(session, task, tree)
        if judgement.verdict not in (Verdict.PROVED, Verdict.UNFIT):
            return False
        end = SessionEnd(session, task, Exit(EndReason.EXITED, 0, code=0), EndPhase.FINISHED)
        self._record(replace(end, judgement=judgement, commit=commit))
        return True

    def refuse(
        self, session: Session, reason: str, verdict: Verdict = Verdict.COULD_NOT_START
    ) -> None:
        """End a session that never ran."""
        judgement = Judgement(verdict, reason)
        self._give_up(session, judgement, EndReason.COULD_NOT_START)

    def could_not_close(self, session: Session, error: Exception) -> None:
        """Report a failed judgement, which is retried for a while before Corral gives up."""
        text = f"{session.id} could not be judged: {described(error)}"
        known = find_alert(self.log.look(), NOT_JUDGED, session.id)
        if known is None:
            self.log.alert(NOT_JUDGED, session.id, f"{text}; it is tried again")
        elif self.clock() - known.raised_at > _GIVE_UP_MS:
            self._give_up(session, Judgement(Verdict.CRASHED, text), EndReason.LOST)

    def _give_up(self, session: Session, judgement: Judgement, reason: EndReason) -> None:
        task = self.log.look().tasks[session.task]
        exit_ = Exit(reason, 0)
        self._record(SessionEnd(session, task, exit_, EndPhase.UNFINISHED, judgement=judgement))

    def _observed(self, session: Session, task: Task, exit_: Exit) -> SessionEnd:
        """Read what the program said and got until its end, and tell how it ended."""
        word = self._last_word(session, task)
        missed = self.delivery.settle(session, task, self.launcher.room(session.id).launch())
        session = self.log.look().sessions.get(session.id, session)
        judgement = self.judge.by_end(session, exit_, word)
        tree = self.trees.trees.find(session.id)
        phase = EndPhase.UNFINISHED
        if judgement is None:
            phase = EndPhase.RESUMABLE if self._resumes(session, task, tree) else EndPhase.FINISHED
        return SessionEnd(session, task, exit_, phase, frozenset(missed), word, tree, judgement)

    def _last_word(self, session: Session, task: Task) -> LastWord | None:
        folder = self.launcher.room(session.id).launch()
        if folder is None or not self.engines.follows(session, task):
            return None
        word = self.engines.last_word(session, task, folder)
        asked = self.log.look().messages.get(session.waits)
        if word is None or word.asked or asked is None:
            return word
        return replace(word, asked=cut(asked.text, 500))

    def _resumes(self, session: Session, task: Task, tree: Tree | None) -> bool:
        """Say whether a session's conversation can have another turn."""
        takes = session.thread and self.launcher.profiles.takes(session.profile, task)
        can = takes and self.launcher.profiles.resumes(session.profile)
        return bool(can and tree is not None and tree.exists)

    def _goes_on(self, end: SessionEnd) -> bool:
        """Let a session that has ended well go on with what came in, or wait for its answer."""
        session = end.session
        self.log.record(
            lambda state, now: session_rules.go_on(
                state, session.id, again=end.missed, answer_s=self.config.watch.answer_s, now=now
            )
        )
        known = self.log.look().sessions[session.id]
        waits = session_rules.idle(known, end.task, self.config.watch.answer_s, self.clock())
        return known.launches > session.launches or waits

    def _judged(self, end: SessionEnd) -> SessionEnd:
        """Judge by the work where the way the program ended decides nothing."""
        if end.judgement is not None:
            return end
        if end.tree is None:
            lost = Judgement(Verdict.CRASHED, "its working tree is gone")
            return replace(end, judgement=lost)
        judgement, commit = self.judge.by_work(end.session, end.task, end.tree, end.word)
        # The name of a file may be any bytes; the log is text.
        detail = judgement.detail.encode("utf-8", "replace").decode()
        judgement = replace(judgement, detail=detail)
        return replace(end, judgement=judgement, commit=commit)

    def _relaunched(self, end: SessionEnd) -> bool:
        """Start the program once more, in the same tree, where that may mend it."""
        session, judgement = end.session, end.judgement
        assert judgement is not None
        then, cause = after(judgement.verdict), judgement.verdict
        before, profile = session.relaunched, session.profile
        if (
            not session_rules.holds(session, end.task)
            or before.count(cause) >= then.relaunches
            or len(before) - before.count(MESSAGE) >= _RELAUNCHES
        ):
            return False
        if cause is Verdict.NEEDS_ANSWER and not self.launcher.profiles.profile(profile).answers:
            return False
        fresh = then.fresh or not session.thread or not self.launcher.profiles.resumes(profile)
        action, text = RESTART if fresh else RESUME, judgement.detail[:900]
        self.log.record(
            lambda state, now: session_rules.relaunch(
                state, session.id, cause, action, text, again=end.missed, now=now
            )
        )
        return True

    def _record(self, end: SessionEnd) -> None:
        """Record an end and give the tree back, unless there is more for the session by now."""
        session, judgement = end.session, end.judgement
        assert judgement is not None
        with self.trees.turns[session.task]:
            if judgement.verdict is Verdict.REFUSED and session.account:
                # Before the end: nothing may start on this account until a person has acted.
                text = f"{session.profile} was refused: {judgement.detail}"
                self.log.alert(governor.REFUSED, session.account, text, again=True)
            self.log.record(lambda state, now: self._decide(state, end, judgement, now))
            if not self.log.look().sessions[session.id].live:
                reason = f"{session.id} ended: {judgement.verdict}"
                self.trees.give_back(session.id, reason)

    def _decide(
        self, state: State, end: SessionEnd, judgement: Judgement, now: int
    ) -> session_rules.Decision:
        session, watch = end.session, self.config.watch
        if end.phase is EndPhase.RESUMABLE:
            more = session_rules.go_on(state, session.id, again=end.missed, answer_s=0, now=now)
            if more:
                return more
        return session_rules.end(
            state,
            session.id,
            judgement,
            commit=end.commit,
            code=end.exit.code,
            signal=end.exit.signal,
            killed=end.exit.killed,
            patience=Patience(watch.attempts, watch.backoff_s, watch.backoff_most_s),
            now=now,
            parked=self._short_of_money(state, session, judgement, now),
            accounts=limits_of(self.config).accounts,
        )

    def _short_of_money(
        self, state: State, session: Session, judgement: Judgement, now: int
    ) -> str:
        """Say which budget ended a session, if it is not the task's own: no attempt is used up."""
        if judgement.verdict is not Verdict.OVER_BUDGET:
            return ""
        task = state.tasks[session.task]
        # What others spend that is not recorded yet may be what used it up.
        sums = Sums(state, now, self.engines.bills(state))
        found = money.over(sums, task, session.profile, budgets_of(self.config))
        return found.text if found is not None and found.what != "task" else ""
