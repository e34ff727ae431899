"""Messages: to a session, to whoever works on a task, to a role, or to people.

A message is delivered once: taking it is an event, and who reads later finds it taken. To a role it
goes to one of its sessions, the first that reads. What nobody takes in time is given up. A question
leaves its sender waiting until it is answered, and that can be seen.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from corral.core import commands as c
from corral.core import events as e
from corral.core import text
from corral.core.errors import BadInput, NotFound, Refused
from corral.core.graph import find_task
from corral.core.ids import SessionId
from corral.core.state import Message, State

Decision = Sequence[e.Event]

PEOPLE = "people"
TEXT = 4_000
_OPEN = 2_000  # messages that are not over, in all
_AT_ONCE = 20  # delivered by one reading: an agent pays for every word


def address(state: State, to: str) -> str:
    """Return the canonical form of a recipient: session:ID, task:ID, role:NAME or people."""
    name = text.line(to, "the recipient", text.NAME)
    kind, _, rest = name.partition(":")
    if name == PEOPLE:
        return name
    if kind == "role" and rest:
        return name
    wanted = rest if kind in ("session", "task") and rest else name
    session = state.sessions.get(SessionId(wanted.upper()))
    if session is not None and kind != "task":
        if not session.live:
            raise Refused(
                f"{session.id} has ended; nothing was sent",
                f"send it to the task: {session.task}",
                code="session_ended",
            )
        return f"session:{session.id}"
    if kind == "session" or "." in wanted:
        raise NotFound(f"there is no session {text.printable(wanted)!r}", "corral session list")
    return f"task:{find_task(state, wanted).id}"


def inbox(state: State, reader: str) -> set[str]:
    """Return the addresses whose messages are for somebody."""
    session = state.sessions.get(SessionId(reader))
    if session is not None:
        if not session.live:
            return set()
        role = state.tasks[session.task].role
        own = {f"session:{session.id}", f"task:{session.task}"}
        return own | ({f"role:{role}"} if role else set())
    held = (t.id for t in state.tasks.values() if t.claim and t.claim.holder == reader)
    return {PEOPLE, *(f"task:{task}" for task in held)}


def waiting(state: State, reader: str, now: int) -> Iterator[Message]:
    """Yield the messages that somebody has not taken yet, oldest first."""
    own = inbox(state, reader)
    for message in state.messages.values():
        if message.to in own and not message.reader and message.expires_at > now:
            yield message


def asking(state: State, now: int) -> dict[str, str]:
    """Return the senders that wait for an answer, each with its oldest question."""
    found: dict[str, str] = {}
    for message in state.messages.values():
        if message.question and message.expires_at > now:
            found.setdefault(message.sender, message.id)
    return found


def expire(state: State, now: int) -> list[e.Event]:
    """Return what gives up the messages whose time is over."""
    over = (m for m in state.messages.values() if m.expires_at <= now)
    return [e.MessageExpired(message=message.id) for message in over]


def _send(state: State, command: c.SendMessage, actor: str, now: int) -> Decision:
    if not command.text.strip():
        raise BadInput("the message is empty: give it at least one visible character")
    said = text.prose(command.text, "the message", TEXT)
    expires_at = now + text.number(command.ttl_s, "the time to live", 1, text.TTL_S) * 1000
    to = address(state, command.to)
    if command.reply_to:
        _find(state, command.reply_to)
    gone = expire(state, now)
    if len(state.messages) - len(gone) >= _OPEN:
        raise Refused(
            f"{_OPEN} messages are open: nobody reads them; nothing was sent",
            "corral message list",
            code="too_many_messages",
        )
    sent = e.MessageSent(
        message=f"m-{state.seq + len(gone) + 1}",
        sender=actor,
        to=to,
        text=said,
        expires_at=expires_at,
        question=command.question,
        reply_to=command.reply_to,
    )
    return [*gone, sent]


def _read(state: State, command: c.ReadMessages, actor: str, now: int) -> Decision:
    found = list(waiting(state, actor, now))[:_AT_ONCE]
    return [e.MessageDelivered(message=message.id, reader=actor) for message in found]


def _acknowledge(state: State, command: c.AcknowledgeMessage, actor: str, now: int) -> Decision:
    found = _find(state, command.message)
    if found.reader != actor:
        who = f"was taken by {found.reader}" if found.reader else "was not taken yet"
        raise Refused(
            f"{found.id} {who}; nothing was changed", "corral message read", code="not_delivered"
        )
    return [] if found.acknowledged else [e.MessageAcknowledged(message=found.id)]


def _find(state: State, message: str) -> Message:
    found = state.messages.get(message)
    if found is None:
        raise NotFound(f"no message {text.printable(message)!r} is open", "corral message list")
    return found


RULES: dict[type[c.Command], Callable[[State, Any, str, int], Decision]] = {
    c.SendMessage: _send,
    c.ReadMessages: _read,
    c.AcknowledgeMessage: _acknowledge,
}
