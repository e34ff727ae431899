"""What can happen to messages between agents, roles and people.

Like all events these are facts; `core/log/events` says how they may grow.
"""

from corral.core.ids import SessionId
from corral.core.log.events import Event


class MessageSent(Event, frozen=True, kw_only=True):
    """A message is on its way to a session, a task, a role or people, until `expires_at`."""

    type = "message.sent"
    message: str
    sender: str
    to: str
    text: str
    expires_at: int
    question: bool = False
    reply_to: str = ""
    plain: bool = False  # to be said as it is, without who sent it
    answers: str = ""  # the engine's own name of the question that it answers


class MessageTaken(Event, frozen=True, kw_only=True):
    """A message is being handed to a session: in the prompt of a launch, or (0) in its inbox."""

    type = "message.taken"
    message: str
    session: SessionId
    launch: int = 0


class MessageDelivered(Event, frozen=True, kw_only=True):
    """A message was given to `reader`, which happens once; `proof` says how that is known."""

    type = "message.delivered"
    message: str
    reader: str
    proof: str = ""


class MessageReturned(Event, frozen=True, kw_only=True):
    """The session ended without having got a message: it is for whoever works on the task next."""

    type = "message.returned"
    message: str
    to: str


class MessageAcknowledged(Event, frozen=True, kw_only=True):
    """The reader of a message says that it was understood."""

    type = "message.acknowledged"
    message: str


class MessageExpired(Event, frozen=True, kw_only=True):
    """Nobody has taken a message in time, or answered a question."""

    type = "message.expired"
    message: str
