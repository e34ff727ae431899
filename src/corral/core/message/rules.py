"""Messages to a session, to whoever works on a task, to a role, or to people.

A message is delivered once. A reader that asks for its messages takes and gets them in one event.
To a session the witness delivers in three steps: it takes the message (so that no other session can
get it), hands it over with its number, and records the delivery once it is known that the session
has it. Messages that a session did not get before its end go to its task's next session.

A message to a role goes to one of its sessions, the first that comes to a turn. A message that
nobody takes in time expires, and its sender is told. The sender of a question visibly waits until
it is answered.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from corral.core import text
from corral.core.board import commands as c
from corral.core.board.graph import find_task
from corral.core.errors import BadInput, NotFound, Refused
from corral.core.ids import SessionId
from corral.core.log import events as e
from corral.core.log.state import Message, Session, State, Task
from corral.core.message import events as post

Decision = Sequence[e.Event]

PEOPLE = "people"
POLICY = "policy"  # answers an engine's questions as its profile says
CORRAL = "corral"  # the sender of notices about undelivered messages
QUESTION = "question"  # the alert about an agent that is waiting for a person
UNDELIVERED = "undelivered"
TEXT = 4_000
_OPEN = 2_000  # open messages in total
_AT_ONCE = 20  # messages per delivery: an agent pays for every word
_DAY_S = 86_400


def address(state: State, to: str) -> str:
    """Return the canonical form of a recipient: session:ID, task:ID, role:NAME or people."""
    name = text.line(to, "the recipient", text.NAME)
    kind, _, rest = name.partition(":")
    if name == PEOPLE or (kind == "role" and rest):
        return name
    wanted = rest if kind in ("session", "task") and rest else name
    session = state.sessions.get(SessionId(wanted.upper()))
    if session is not None and kind != "task":
        if not session.live:
            said = f"{session.id} has ended; nothing was sent"
            raise Refused(said, f"send it to the task: {session.task}", code="session_ended")
        return f"session:{session.id}"
    if kind == "session" or "." in wanted:
        raise NotFound(f"there is no session {text.printable(wanted)!r}", "corral session list")
    return f"task:{find_task(state, wanted).id}"


def inbox(state: State, reader: str) -> set[str]:
    """Return the addresses whose messages are for this reader."""
    session = state.sessions.get(SessionId(reader))
    if session is not None:
        mine = {f"session:{session.id}", *_of_task(state.tasks[session.task])}
        return mine if session.live else set()
    held = (t.id for t in state.tasks.values() if t.claim and t.claim.holder == reader)
    return {PEOPLE, *(f"task:{task}" for task in held)}


def _of_task(task: Task) -> set[str]:
    return {f"task:{task.id}", *([f"role:{task.role}"] if task.role else [])}


def waiting(state: State, reader: str, now: int) -> Iterator[Message]:
    """Yield the messages that wait for a reader, oldest first."""
    return _open(state, inbox(state, reader), now)


def _open(state: State, own: set[str], now: int) -> Iterator[Message]:
    for message in state.messages.values():
        if message.to in own and not message.reader and message.expires_at > now:
            yield message


def handed(state: State, session: str) -> list[Message]:
    """Return the messages taken for a session that are not known to be delivered."""
    return [m for m in state.messages.values() if m.reader == session and not m.read_at]


def concerned(state: State, now: int) -> dict[SessionId, tuple[Message, ...]]:
    """Return the sessions for which there are messages to deliver, with these messages."""
    live = [s.id for s in state.sessions.values() if s.live] if state.messages else []
    mail = {one: (*handed(state, one), *waiting(state, one, now)) for one in live}
    return {session: found for session, found in mail.items() if found}


def had(state: State, session: str) -> list[Message]:
    """Return the messages that a session got and has not acknowledged."""
    found = (m for m in state.messages.values() if m.reader == session and m.read_at)
    return [message for message in found if not message.acknowledged]


def mark(message: Message) -> str:
    """Return the mark by which a message is recognised, for example in an engine's own record."""
    return f"[{message.id} from "


def told(message: Message) -> str:
    """Return a message as an agent sees it, indented so that its text cannot fake another."""
    head = f"{mark(message)}{message.sender}"
    head += f", in answer to {message.reply_to}]" if message.reply_to else "]"
    if message.question:
        to = message.sender if "." in message.sender else PEOPLE
        head += f' It is a question. Answer: corral message send {to} "…" --reply-to {message.id}'
    return "\n".join([head, *(f"  {line}" for line in message.text.splitlines())])


def take(
    state: State,
    session: SessionId,
    now: int,
    *,
    launch: int = 0,
    fit: Callable[[Message], bool] = lambda message: True,
) -> list[e.Event]:
    """Take the fitting messages for a session, for its inbox or for the prompt of a launch."""
    found = [message for message in waiting(state, session, now) if fit(message)]
    return [
        post.MessageTaken(message=m.id, session=session, launch=launch) for m in found[:_AT_ONCE]
    ]


def take_first(state: State, task: Task, session: SessionId, now: int) -> list[e.Event]:
    """Take the messages for a task's next session, for its brief."""
    found = list(_open(state, _of_task(task), now))[:_AT_ONCE]
    return [post.MessageTaken(message=m.id, session=session, launch=1) for m in found]


def by_policy(
    state: State, session: SessionId, answer: str, call: str, now: int
) -> post.MessageSent:
    """Answer a session's question; it must be the first event of its transaction."""
    return post.MessageSent(
        message=f"m-{state.seq + 1}",
        sender=POLICY,
        to=f"session:{session}",
        text=answer,
        expires_at=now + _DAY_S * 1000,
        plain=True,
        answers=call,
    )


def deliver(state: State, session: str, proofs: Mapping[str, str]) -> list[e.Event]:
    """Record that a session has got messages, and how that is known."""
    return [
        post.MessageDelivered(message=m.id, reader=session, proof=proofs[m.id])
        for m in handed(state, session)
        if m.id in proofs
    ]


def give_back(state: State, session: Session) -> list[e.Event]:
    """Give back the messages that an ending session did not get."""
    mine = f"session:{session.id}"
    left = [m for m in state.messages.values() if m.to == mine and not m.reader]
    return [
        post.MessageExpired(message=m.id)  # this session asked what it answers
        if m.sender == POLICY
        else post.MessageReturned(message=m.id, to=f"task:{session.task}" if m.to == mine else m.to)
        for m in (*handed(state, session.id), *left)
    ]


def expire(state: State, now: int) -> list[e.Event]:
    """Let messages expire, and tell the senders of those that nobody took.

    A message that is being handed over does not expire: its session will get it or give it back.
    """
    over = [m for m in state.messages.values() if m.expires_at <= now]
    over = [m for m in over if m.read_at or not m.reader]
    gone = {message.id for message in over}
    events: list[e.Event] = []
    for message in over:
        events.append(post.MessageExpired(message=message.id))
        if message.question:
            events += _answered(state, message, gone)
        if not message.reader or message.question:
            events += _given_up(state, message, state.seq + len(events) + 1, now)
    return events


def _given_up(state: State, message: Message, number: int, now: int) -> list[e.Event]:
    what = "answered" if message.reader else "took"
    said = f"nobody {what} {message.id} to {message.to} in time, so it has expired"
    words = f"{said}: {text.cut(message.text, 200)}"
    sender = state.sessions.get(SessionId(message.sender))
    if message.sender == CORRAL:
        return []
    if sender is not None and sender.live:
        return [
            post.MessageSent(
                message=f"m-{number}",
                sender=CORRAL,
                to=f"session:{sender.id}",
                text=words[0].upper() + words[1:],
                expires_at=now + _DAY_S * 1000,
            )
        ]
    return [
        e.AlertRaised(alert=f"alert-{number}", kind=UNDELIVERED, subject=message.id, text=words)
    ]


def _send(state: State, command: c.SendMessage, actor: str, now: int) -> Decision:
    to = address(state, command.to)
    if command.reply_to:
        _find(state, command.reply_to)
    message = post.MessageSent(
        message="",
        sender=actor,
        to=to,
        text=command.text,
        expires_at=now + text.number(command.ttl_s, "the time to live", 1, text.TTL_S) * 1000,
        question=command.question,
        reply_to=command.reply_to,
    )
    return _sent(state, message, now)


def _send_text(state: State, command: c.SendText, actor: str, now: int) -> Decision:
    session = session_of(state, command.session)
    if not session.live:
        hint = f"to reach the task's next session: corral message send {session.task} …"
        raise Refused(f"{session.id} has ended; nothing was sent", hint, code="session_ended")
    if not session.takes:
        raise Refused(
            f"the engine of {session.id} cannot receive text while it runs; nothing was sent",
            f"to leave it a message: corral message send {session.id} …",
            code="takes_no_text",
        )
    message = post.MessageSent(
        message="",
        sender=actor,
        to=f"session:{session.id}",
        text=command.text,
        expires_at=now + _DAY_S * 1000,
        reply_to=session.waits,
        plain=True,
        answers=text.line(command.answers, "the question", text.NAME, empty=True),
    )
    return _sent(state, message, now)


def _sent(state: State, message: post.MessageSent, now: int) -> list[e.Event]:
    """Check a message, number it, and raise or clear the alert about a question."""
    if not message.text.strip():
        raise BadInput("the message is empty: give it at least one visible character")
    text.prose(message.text, "the message", TEXT)
    events = expire(state, now)
    gone = {event.message for event in events if isinstance(event, post.MessageExpired)}
    if len(state.messages) - len(gone) >= _OPEN:
        said = f"there are {_OPEN} unread messages, which is the limit; nothing was sent"
        raise Refused(said, "corral message list", code="too_many_messages")
    asked = state.messages.get(message.reply_to)
    if asked is not None and asked.question:
        events += _answered(state, asked, gone | {asked.id})
    if message.question and message.to == PEOPLE and not _alerts(state, message.sender):
        words = f"it asks: {text.cut(message.text, 500)}"
        alert = f"alert-{state.seq + len(events) + 1}"
        raised = {"kind": QUESTION, "subject": message.sender, "text": words}
        events.append(e.AlertRaised(alert=alert, **raised))
    return [*events, replace(message, message=f"m-{state.seq + len(events) + 1}")]


def _answered(state: State, asked: Message, gone: set[str]) -> list[e.Event]:
    """Clear the alert about a sender that has no open question to people left."""
    others = (m for m in state.messages.values() if m.question and m.sender == asked.sender)
    if any(m.to == PEOPLE and m.id not in gone for m in others):
        return []
    return [e.AlertCleared(alert=alert) for alert in _alerts(state, asked.sender)]


def _alerts(state: State, sender: str) -> list[str]:
    return [a.id for a in state.alerts.values() if (a.kind, a.subject) == (QUESTION, sender)]


def session_of(state: State, name: str) -> Session:
    found = state.sessions.get(SessionId(name)) or state.sessions.get(SessionId(name.upper()))
    if found is None:
        raise NotFound(f"there is no session {text.printable(name)!r}", "corral session list")
    return found


def _read(state: State, command: c.ReadMessages, actor: str, now: int) -> Decision:
    found = list(waiting(state, actor, now))[:_AT_ONCE]
    return [post.MessageDelivered(message=message.id, reader=actor) for message in found]


def _acknowledge(state: State, command: c.AcknowledgeMessage, actor: str, now: int) -> Decision:
    found = _find(state, command.message)
    if found.reader != actor:
        who = f"was read by {found.reader}" if found.reader else "has not been read yet"
        said = f"{found.id} {who}; nothing was changed"
        raise Refused(said, "corral message read", code="not_delivered")
    return [] if found.acknowledged else [post.MessageAcknowledged(message=found.id)]


def _find(state: State, message: str) -> Message:
    found = state.messages.get(message)
    if found is None:
        raise NotFound(f"no message {text.printable(message)!r} is open", "corral message list")
    return found


RULES: dict[type[c.Command], Callable[[State, Any, str, int], Decision]] = {
    c.SendMessage: _send,
    c.SendText: _send_text,
    c.ReadMessages: _read,
    c.AcknowledgeMessage: _acknowledge,
}
