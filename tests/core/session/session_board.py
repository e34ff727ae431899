"""A board in memory whose sessions are started and ended as the witness does it."""

from collections.abc import Sequence

from corral.core.ids import SessionId, TaskId
from corral.core.log.state import Session
from corral.core.session import rules as session_rules
from corral.core.session.backoff import Patience
from corral.core.session.rules import Decision
from corral.core.session.slots import Limits
from corral.core.session.verdict import Judgement, Verdict
from tests.core.memory_board import TTL_S, Board

BASE, COMMIT = "a" * 40, "b" * 40
LIMITS = Limits(2)
PATIENCE = Patience(attempts=3, first_s=30, most_s=3600)
TASK, FIRST, SECOND = TaskId("AF-1"), SessionId("AF-1.1"), SessionId("AF-1.2")
PROVED = Judgement(Verdict.PROVED)
CRASHED = Judgement(Verdict.CRASHED, "signal 9")


class SessionBoard(Board):
    def start(
        self,
        task: TaskId = TASK,
        limits: Limits = LIMITS,
        pool: str = "",
        ports: Sequence[int] = (),
        wanted: int = 0,
    ) -> Decision:
        decided = session_rules.start(
            self.state,
            task,
            profile="default",
            pool=pool,
            base=BASE,
            limits=limits,
            ttl_s=TTL_S,
            wall_s=600,
            now=self.now,
            ports=ports,
            ports_wanted=wanted,
        )
        return self.record(decided)

    def end(self, judgement: Judgement = PROVED, session: SessionId = FIRST) -> Decision:
        proved = judgement.verdict is Verdict.PROVED
        decided = session_rules.end(
            self.state,
            session,
            judgement,
            commit=COMMIT if proved else "",
            code=0 if proved else None,
            signal=None if proved else 9,
            patience=PATIENCE,
            now=self.now,
        )
        return self.record(decided)

    def ask_stop(self, session: str = FIRST, why: str = Verdict.STOPPED) -> Decision:
        return self.record(session_rules.ask_stop(self.state, session, why, "enough"))

    def session(self, session: SessionId = FIRST) -> Session:
        return self.state.sessions[session]


def types(decision: Decision) -> list[str]:
    return [event.type for event in decision]
