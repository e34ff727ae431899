"""`corral session send`, and the screen of a session that has a terminal."""

import time

from corral.core.board.commands import SendText
from corral.core.errors import Failed
from corral.core.log.codec import decode, event_of
from corral.core.log.state import Session
from corral.core.message.events import MessageDelivered
from corral.interfaces.cli.commands.board import decoded, perform_anywhere
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.parser import Options
from corral.roles.records.rooms import Room
from corral.store.sqlite import SqliteStore

_PROVED = {
    "record": "{} has received it, as its own record shows",
    "screen": "{} has received it, as its screen shows",
    "reacted": "{} has received it and is working on it",
    "none": "it was typed into the terminal of {}, but there is no proof that it arrived",
    "": "{} has read it",
    None: "{id} is queued for {}, which receives it when its current turn ends",
}


def send(context: Context, options: Options) -> None:
    text = context.read_text("-") if options.text == "-" else options.text
    command = SendText(session=options.session, text=text, answers=options.answers or "")
    sent = decoded(perform_anywhere(context, command))
    proof = _proof(context.store, sent["id"], sent["seq"], min(max(0, options.wait), 3600))
    session = sent["to"].removeprefix("session:")
    context.answer(
        {"session": session, "message": sent["id"], "proof": proof},
        lambda: _PROVED.get(proof, "{} has received it").format(session, id=sent["id"]),
    )


def _proof(store: SqliteStore, message: str, after: int, wait_s: float) -> str | None:
    """Wait for a message to be delivered; return the proof of it, None if there is none."""
    deadline = time.monotonic() + wait_s
    while True:
        for stored in store.read(after):
            record = decode(stored.line)
            after = record.seq
            event = event_of(record)
            if isinstance(event, MessageDelivered) and event.message == message:
                return event.proof
        left = deadline - time.monotonic()
        if left <= 0:
            return None
        store.wait(after, left)


def has_terminal(context: Context, session: Session) -> bool:
    """Say whether a session runs in a tmux of its own."""
    from corral.world import processes
    from corral.world.engines.runners import inbox

    room = Room(context.repository.folder, session.id)
    launch = room.launch()
    if launch is None or not session.live or not processes.alive(launch):
        return False
    return inbox.reader_of(room.path) == "tmux"


def screen(context: Context, session: Session, lines: int) -> list[str] | None:
    """Return the last lines on the terminal of a session; None if it has none."""
    if not has_terminal(context, session):
        return None
    from corral.world.engines.runners.tmux import server

    try:
        return server.capture(Room(context.repository.folder, session.id).path, lines)
    except server.Tmux as error:
        raise Failed(f"the terminal of {session.id} cannot be read: {error}") from error
