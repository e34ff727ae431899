"""The fold of messages: where each is, and which sessions wait for an answer."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from corral.core.copies import filled
from corral.core.ids import SessionId
from corral.core.log import events as e
from corral.core.log.state import Message, State
from corral.core.message import events as post


def sent(state: State, event: post.MessageSent, seq: int, at: int) -> None:
    asked = state.messages.get(event.reply_to)
    if asked is not None and asked.question:
        _change(state, asked.id, question=False)
    state.messages[event.message] = filled(Message, event, id=event.message, sent_at=at)
    if asked is not None:
        _note_waiting(state, asked.sender, at)
    if event.question:
        _note_waiting(state, event.sender, at)


def expired(state: State, event: post.MessageExpired, seq: int, at: int) -> None:
    found = state.messages.pop(event.message, None)
    if found is not None and found.question:
        _note_waiting(state, found.sender, at)


def session_ended(state: State, session: SessionId) -> None:
    """Acknowledge what a session was told: after its end nobody else will."""
    for message in list(state.messages.values()):
        if message.reader == session and message.read_at:
            _change(state, message.id, acknowledged=True)


def _change(state: State, name: str, **changes: Any) -> None:
    """Change a message, and keep it for as long as it is open."""
    message = replace(state.messages[name], **changes)
    if message.acknowledged and not message.question:
        state.messages.pop(message.id, None)
    else:
        state.messages[message.id] = message


def _note_waiting(state: State, sender: str, at: int) -> None:
    """Note which question a session is waiting on, or that it no longer waits."""
    session = state.sessions.get(SessionId(sender))
    if session is None or not session.live:
        return
    asked = (m.id for m in state.messages.values() if m.question and m.sender == sender)
    waits = next(asked, "")
    waited_at = at if session.waits and not waits else session.waited_at
    state.sessions[session.id] = replace(session, waits=waits, waited_at=waited_at)


APPLY: dict[type[e.Event], Callable[[State, Any, int, int], None]] = {
    post.MessageSent: sent,
    post.MessageTaken: lambda state, event, *_: _change(
        state, event.message, reader=event.session, read_at=0, launch=event.launch
    ),
    post.MessageDelivered: lambda state, event, _, at: _change(
        state, event.message, reader=event.reader, read_at=at
    ),
    post.MessageReturned: lambda state, event, *_: _change(
        state, event.message, to=event.to, reader="", launch=0
    ),
    post.MessageAcknowledged: lambda state, event, *_: _change(
        state, event.message, acknowledged=True
    ),
    post.MessageExpired: expired,
}
