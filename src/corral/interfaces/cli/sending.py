"""`corral session send`, and the screen of a session that has a terminal."""

import time

from corral.core.errors import Failed, Refused
from corral.core.state import Session
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.parser import Options
from corral.roles import past
from corral.roles.files import Room

_PROVED = {
    "record": "{} has it: its own record says so",
    "screen": "{} has it: it was seen on its screen",
    "none": "it was typed for {}, but nothing shows that it arrived",
    None: "it waits for {}, which takes it when its turn is over",
}


def send(context: Context, options: Options) -> None:
    from corral.world.engines import inbox

    found = past.find(context.store, context.store.state(), options.session)
    text = context.read_text("-") if options.text == "-" else options.text
    room = Room(context.repository.folder, found.id).path
    if not _reader(context, found):
        raise Refused(
            f"{found.id} takes no text: it has ended, is still starting, or its engine cannot;"
            " nothing was sent",
            "only engines with transport acp or tmux take text while they run",
            code="takes_no_text",
        )
    number = inbox.send(room, text, answers=options.answers or "", by=context.actor)
    proof = _proof(room, number, min(max(0, options.wait), 3600))
    context.answer(
        {"session": found.id, "number": number, "proof": proof},
        lambda: _PROVED[proof].format(found.id),
    )


def has_terminal(context: Context, session: Session) -> bool:
    """Say whether a session runs in a tmux of its own."""
    return _reader(context, session) == "tmux"


def screen(context: Context, session: Session, lines: int) -> list[str] | None:
    """Return the last lines on the terminal of a session; None if it has none."""
    if not has_terminal(context, session):
        return None
    from corral.world.engines.tmux import server

    try:
        return server.capture(Room(context.repository.folder, session.id).path, lines)
    except server.Tmux as error:
        raise Failed(f"the terminal of {session.id} cannot be read: {error}") from error


def _reader(context: Context, session: Session) -> str:
    """Return which kind of runner reads what is sent to a session; empty if none runs."""
    from corral.world import processes
    from corral.world.engines import inbox

    room = Room(context.repository.folder, session.id)
    launch = room.launch()
    if launch is None or not session.live or not processes.alive(launch):
        return ""
    return inbox.reader_of(room.path)


def _proof(room: str, number: int, wait_s: float) -> str | None:
    from corral.world.engines import inbox
    from corral.world.watch import Watch

    deadline = time.monotonic() + wait_s
    with Watch() as watch:
        watch.add_complete(inbox.done_folder(room))
        while (proof := inbox.receipt(room, number)) is None:
            left = deadline - time.monotonic()
            if left <= 0:
                return None
            watch.wait(left)
    return proof
