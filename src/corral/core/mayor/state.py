"""The state of conversations with the mayor. Texts stay in the log; this has their numbers."""

from enum import StrEnum

from msgspec import Struct

from corral.core.engine.bill import Bill
from corral.core.ids import ConvoyId, TaskId

REMEMBERED = 60  # events of what was said


class MayorState(StrEnum):
    OPEN = "open"  # a question is due
    ASKING = "asking"  # a question was asked: the engine runs, has run, or is about to run
    PROPOSED = "proposed"  # a plan waits for approval
    IDLE = "idle"  # nothing is asked
    GAVE_UP = "gave_up"
    STOPPED = "stopped"


class MayorConversation(Struct, frozen=True, array_like=True, gc=False):
    """One conversation."""

    id: str
    state: MayorState
    engine: str  # the profile that was chosen
    replan: str
    goal_seq: int
    started_at: int
    changed_at: int
    turn: int = 0  # runs of the engine
    used: int = 0  # attempts at the question
    cause: str = "goal"  # of the question
    task: TaskId = TaskId("")  # that the question is about
    asked_seq: int = 0
    answered_seq: int = 0
    profile: str = ""  # of the last run
    resume: str = ""  # the conversation that the last run goes on with
    thread: str = ""  # the engine's name for the conversation
    place: str = ""  # the tree in which the engine knows it
    model: str = ""
    bill: Bill = Bill()
    talk: Bill = Bill()  # of the engine's conversation alone
    proposed_seq: int = 0  # the newest proposal
    approved_seq: int = 0  # the newest proposal that was approved
    convoy: ConvoyId = ConvoyId("")
    told: tuple[TaskId, ...] = ()  # the failures that it was asked about
    pending: bool = False  # the newest proposal was neither approved nor rejected
    reason: str = ""
    said: tuple[int, ...] = ()  # the events of questions and answers, the last ones

    @property
    def busy(self) -> bool:
        return self.state in (MayorState.OPEN, MayorState.ASKING)

    @property
    def over(self) -> bool:
        return self.state in (MayorState.GAVE_UP, MayorState.STOPPED)
