"""Deliver each message to its session exactly once, in the best way that its engine offers.

A message is taken (an event), handed over with its number in it, and delivered (an event, with the
proof). A program with a runner (ACP, tmux) gets it between two turns, through its inbox; any other
in a prompt: of the conversation that continues, of the next launch, or of the next attempt. What a
killed witness took but did not deliver is sent again, unless there is proof that it arrived.
"""

from collections.abc import Callable

from msgspec import Struct

from corral.core.engine.stream import Stream
from corral.core.log.state import Message, Session, Task
from corral.core.message import rules as messages
from corral.roles.log import Log
from corral.roles.records.rooms import Room
from corral.roles.witness.engine_profile import EngineProfiles
from corral.roles.witness.engine_watch import EngineWatch
from corral.world import processes
from corral.world.clock import Clock
from corral.world.engines import conversations
from corral.world.engines.runners import inbox

RECORD, REACTED, STARTED = "record", "reacted", "started"


class Delivery(Struct, frozen=True):
    log: Log
    profiles: EngineProfiles
    watcher: EngineWatch
    clock: Clock
    folder: str

    def tend(self, session: Session, task: Task, folder: str) -> None:
        """Hand over messages that wait for a running session, and record those that arrived."""
        self._prove(session, task, folder)
        room = Room(self.folder, session.id).path
        stream = self.watcher.stream(session.id)
        if stream is None or not inbox.reader_of(room):
            return
        fit = _fit(stream)
        if fit is not None:
            taking = fit
            self.log.record(lambda state, at: messages.take(state, session.id, at, fit=taking))
        elif any(True for _ in messages.waiting(self.log.look(), session.id, self.clock())):
            inbox.knock(room)
        handed = [m for m in messages.handed(self.log.look(), session.id) if not m.launch]
        for m in handed:
            told = messages.told(m)
            inbox.put(room, inbox.InboxMessage(m.id, m.text, m.answers, m.sender, told, m.plain))
        if stream.ready and not handed:
            inbox.dismiss(room)  # the agent has read its messages on its own

    def settle(self, session: Session, task: Task, folder: str | None) -> set[str]:
        """Return the messages that a session did not get before its program ended.

        A message that a runner took without a receipt is left to the next runner, which can ask
        the program.
        """
        self._prove(session, task, folder)
        room = Room(self.folder, session.id).path
        left = messages.handed(self.log.look(), session.id)
        return {m.id for m in left if m.launch or not inbox.taken(room, m.id)}

    def resolve(self, session: Session) -> None:
        """Before a session ends, settle doubtful messages by the engine's own record."""
        home = self.profiles.home(session.id)
        left = messages.handed(self.log.look(), session.id)
        found = {m.id: RECORD for m in left if conversations.has(home, messages.mark(m))}
        self._record(session, found)

    def prompt(self, session: Session) -> str:
        """Return the messages for the prompt of the newest launch, withdrawn from the inbox."""
        left = messages.handed(self.log.look(), session.id)
        given = [m for m in left if m.launch == session.launches]
        for message in given:
            inbox.withdraw(Room(self.folder, session.id).path, message.id)
        return "\n\n".join(map(messages.told, given))

    def had(self, session: Session) -> str:
        """Return the messages that a session had received before its conversation was dropped."""
        found = messages.had(self.log.look(), session.id)
        return "\n\n".join(map(messages.told, found))

    def _prove(self, session: Session, task: Task, folder: str | None) -> None:
        """Record which of the messages that were handed over have arrived."""
        room = Room(self.folder, session.id).path
        proofs = {}
        for message in messages.handed(self.log.look(), session.id):
            if not message.launch:
                proof: str | None = inbox.receipt(room, message.id)
            elif message.launch == session.launches and folder is not None:
                proof = self._proof(session, task, folder, message)
            else:
                proof = None
            if proof is not None:
                proofs[message.id] = proof
        self._record(session, proofs)

    def _proof(self, session: Session, task: Task, folder: str, message: Message) -> str | None:
        """Return the proof that a conversation has a message of its prompt, if there is one."""
        recipe = self.profiles.recipe(session.profile, task)
        if recipe is None:
            return STARTED if processes.ran(folder) else None
        home = self.profiles.home(session.id)
        if session.conversation and conversations.has(home, messages.mark(message)):
            return RECORD
        stream = self.watcher.stream(session.id)
        if stream is None or not stream.heard:
            return None
        # An engine may react and be killed before its record says to what, but not after its turn
        # has ended well.
        well = stream.finished is not None and stream.finished.trouble is None
        return REACTED if well or not (recipe.records and session.conversation) else None

    def _record(self, session: Session, proofs: dict[str, str]) -> None:
        if proofs:
            self.log.note(messages.deliver, session.id, proofs)


def _fit(stream: Stream) -> Callable[[Message], bool] | None:
    """Return a test for messages that a program can take now; None if no turn has ended."""
    if stream.asked is not None:
        return lambda message: message.plain  # a person's answer; other messages can wait
    return (lambda message: True) if stream.ready else None
