"""Events of messages between agents, roles and people.

`core/log/events` says how events may change.
"""

from corral.core.ids import SessionId
from corral.core.log.events import Event


class MessageSent(Event, frozen=True, kw_only=True):
    """A message was sent to a session, a task, a role or people; it expires at `expires_at`."""

    type = "message.sent"
    message: str
    sender: str
    to: str
    text: str
    expires_at: int
    question: bool = False
    reply_to: str = ""
    plain: bool = False  # deliver the text as it is, without naming the sender
    answers: str = ""  # the engine's own id of the question that it answers


class MessageTaken(Event, frozen=True, kw_only=True):
    """A message is being delivered to a session: in the prompt of `launch`, or (0) in its inbox."""

    type = "message.taken"
    message: str
    session: SessionId
    launch: int = 0


class MessageDelivered(Event, frozen=True, kw_only=True):
    """A message was delivered to `reader`, exactly once; `proof` says how that is known."""

    type = "message.delivered"
    message: str
    reader: str
    proof: str = ""


class MessageReturned(Event, frozen=True, kw_only=True):
    """The session ended before it got the message, which goes to the task's next session."""

    type = "message.returned"
    message: str
    to: str


class MessageAcknowledged(Event, frozen=True, kw_only=True):
    """The reader of a message acknowledged it."""

    type = "message.acknowledged"
    message: str


class MessageExpired(Event, frozen=True, kw_only=True):
    """A message was not picked up in time, or a question not answered."""

    type = "message.expired"
    message: str
