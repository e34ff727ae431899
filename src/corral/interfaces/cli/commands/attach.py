"""`corral session attach`: follow the output of a session, without changing anything.

Unless the session has a terminal of its own (tmux): then one sits down at that.
"""

import codecs
import gc
import os
import re
import sys
from os.path import dirname, isdir
from typing import TYPE_CHECKING

import msgspec

from corral.core.log.state import Session
from corral.core.show.views import session_view
from corral.interfaces.cli.commands import send
from corral.interfaces.cli.context import Context
from corral.interfaces.cli.output import paint, say_json, warn
from corral.interfaces.cli.parser import Options
from corral.roles import locks
from corral.roles.records import earlier
from corral.roles.records.follow import OutputFollower
from corral.roles.records.rooms import Room

if TYPE_CHECKING:
    from corral.world.watch import Watch

# No file changes when a process is killed, so look at this interval as well.
_LONGEST_S = 60.0
# On a terminal colours may pass; what moves the cursor, sets titles or reads the clipboard may not.
_UNSAFE = re.compile("\x1b(?!\\[[0-9;]*m)|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f]")
_UNFINISHED = re.compile("\x1b(\\[[0-9;]{0,30})?$")


def attach(context: Context, options: Options) -> None:
    session = earlier.find(context.store, context.store.state(), options.session)
    if send.has_terminal(context, session) and sys.stdout.isatty() and not context.as_json:
        _sit_down(context, session)
        return
    gc.enable()  # unlike other commands, this one keeps running
    screen = _Screen(as_json=context.as_json)
    try:
        ended = _Attached(context, session, screen, max(0, options.lines)).follow()
    except KeyboardInterrupt:
        warn(f"detached from {session.id}, which keeps running")
        raise
    if context.as_json:
        say_json(session_view(ended))


def _sit_down(context: Context, session: Session) -> None:
    from corral.world.engines.runners.tmux import server

    room = Room(context.repository.folder, session.id)
    context.close()  # a person may stay there for hours
    warn(f"this is the terminal of {session.id}: Ctrl-B D detaches, and it keeps running")
    server.attach(room.path)


class _Attached:
    def __init__(self, context: Context, session: Session, screen: "_Screen", lines: int) -> None:
        self._context = context
        self._session = session
        self._screen = screen
        self._lines = lines
        self._room = Room(context.repository.folder, session.id)
        self._following: OutputFollower | None = None
        self._launch = ""

    def follow(self) -> Session:
        """Show the output until the session has ended; return what is known of it then."""
        from corral.world.watch import Watch

        derived = self._context.store.derived
        os.makedirs(derived, exist_ok=True)
        with Watch(derived) as watch:
            while True:
                self._look(watch)
                # Look for the end first: everything that was printed before it can then be read.
                end = self._end()
                self._show()
                if end:
                    self._close()
                    self._screen.end()
                    warn(end)
                    return self._session
                watch.wait(_LONGEST_S)

    def _look(self, watch: "Watch") -> None:
        """Find the newest launch; a launch that failed may be followed by another."""
        room = self._room.path
        places = (room, dirname(room), self._context.repository.folder)
        watch.add(next(place for place in places if isdir(place)))
        launch = self._room.launch()
        if launch is not None and launch != self._launch:
            watch.add(launch)
            self._close()
            self._following = OutputFollower(launch, self._lines)
            self._launch = launch

    def _show(self) -> None:
        while self._following is not None:
            part = self._following.read()
            if part.gap:
                warn("some output was skipped: it came faster than it could be shown")
            if not part.data:
                break
            self._screen.show(part.data)

    def _end(self) -> str:
        """Return how the session ended, as far as that is known; None while it goes on."""
        from corral.world import processes

        store = self._context.store
        self._session = found = earlier.find(store, store.state(), self._session.id)
        if found.ended_at:
            detail = f": {found.detail}" if found.detail else ""
            return f"{found.id} ended: {found.verdict}{detail}"
        over = bool(self._launch) and processes.outcome(self._launch) is not None
        if over and not locks.taken(self._context.repository.folder, "witness"):
            return (
                f"the program of {found.id} has ended; a witness must judge its result:"
                " corral witness run"
            )
        return ""

    def _close(self) -> None:
        if self._following is not None:
            self._following.close()
        self._following = None


class _Screen:
    """Where the output goes: raw bytes into a pipe, harmless text onto a terminal."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._terminal = sys.stdout.isatty()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self._whole = True

    def show(self, data: bytes) -> None:
        if self._as_json:
            text = self._decoder.decode(data)
            sys.stdout.buffer.write(msgspec.json.encode({"output": text}) + b"\n")
        elif self._terminal:
            self._write(self._held + self._decoder.decode(data))
        else:
            sys.stdout.buffer.write(data)
        sys.stdout.flush()

    def end(self) -> None:
        """Leave a terminal in its own colours and at the beginning of a line."""
        if self._terminal and not self._as_json:
            sys.stdout.write(paint("", "dim") + ("" if self._whole else "\n"))
            sys.stdout.flush()

    def _write(self, text: str) -> None:
        unfinished = _UNFINISHED.search(text)
        at = unfinished.start() if unfinished else len(text)
        self._held = text[at:]
        shown = _UNSAFE.sub("", text[:at])
        self._whole = shown.endswith("\n") if shown else self._whole
        sys.stdout.write(shown)
