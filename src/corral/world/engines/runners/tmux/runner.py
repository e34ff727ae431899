"""The life of one session with an interactive program: start, deliver text, wait for the end."""

import os
import signal
import threading
import time
from collections.abc import Callable

from corral.core.engine.facts import Began, Finished, Ready, Told, Trouble
from corral.world.engines.runners.emit import remark, shortened, tell
from corral.world.engines.runners.inbox import DeliveryProof, Inbox, InboxMessage
from corral.world.engines.runners.orders import TmuxOrder
from corral.world.engines.runners.tmux import claude
from corral.world.engines.runners.tmux.server import Tmux, TmuxServer
from corral.world.watch import Watch

NO_START, STOPPED = 2, 143
_LOOK_AGAIN_S = 60.0
_PAUSE_S = 0.1
_BUSY_PAUSE_S = 0.5
_STILL_S = 0.6  # without change before a screen counts as ready
_ECHO_S = 3.0  # for a pasted text to appear before Enter is pressed
_LAST_LINES = 30
_BUSY_S = 900.0  # a screen that changes for longer than this always does
_LONGEST_PART = 60  # of a text, to look for on the screen


def _record(whose: str) -> claude.Transcript | None:
    """Return a program's own record, if it has one that we can read."""
    home = os.environ.get("CLAUDE_CONFIG_DIR", "")
    if whose != "claude" or not home:
        return None
    claude.seed(home, os.getcwd(), os.environ.get("ANTHROPIC_API_KEY", ""))
    return claude.Transcript(home)


def _times_on_screen(text: str, screen: list[str]) -> int:
    """Count the places where a text's last line begins on the screen, however it wraps."""
    lines = [line for line in text.split("\n") if line.strip()]
    wanted = claude.squeezed(lines[-1])[:_LONGEST_PART]
    return claude.squeezed(" ".join(screen)).count(wanted)


class TmuxRunner:
    def __init__(self, order: TmuxOrder, inbox: Inbox) -> None:
        self._order = order
        self._inbox = inbox
        self._record = _record(order.record)
        self._stopping = False
        self._watch = Watch()
        self._watch.add_complete(inbox.folder)

    def run(self, first: str) -> int:
        """Run the session to its end; return the exit code."""
        signal.signal(signal.SIGTERM, self._on_stop)
        texts = self._undelivered()
        try:
            server = TmuxServer(self._order, os.getcwd(), os.environ)
        except Tmux as error:
            tell(Finished(trouble=Trouble.OTHER, text=str(error)))
            return NO_START
        try:
            threading.Thread(target=self._await_end, args=[server], daemon=True).start()
            tell(Began())
            self._talk(server, first, texts)
        finally:
            server.end()
        code, finished = self._outcome(server.code())
        tell(finished)
        return code

    def _undelivered(self) -> list[InboxMessage]:
        """Return what an earlier runner took and the program's record does not contain."""
        texts = []
        for message in self._inbox.doubtful():
            if self._record is not None and self._record.has(message.typed):
                self._inbox.done(message, DeliveryProof.RECORD)
            else:
                texts.append(message)
        return texts

    def _talk(self, server: TmuxServer, first: str, texts: list[InboxMessage]) -> None:
        """Deliver text until the program ends or we are stopped."""
        try:
            self._await_stillness(server, self._order.ready_s)
            if first.strip() and not self._stopping:
                self._hand_over(server, first)
            while not self._stopping and not server.is_over():
                message = texts.pop(0) if texts else self._inbox.take()
                if message is not None:
                    self._await_stillness(server, _BUSY_S)
                    self._inbox.done(message, self._hand_over(server, message.typed))
                elif self._inbox.knocked():
                    # The screen changes while a program works, and not at its prompt.
                    self._await_stillness(server, _BUSY_S)
                    tell(Ready())
                else:
                    self._watch.wait(_LOOK_AGAIN_S)
            for line in [line for line in server.screen() if line][-_LAST_LINES:]:
                remark(line)
        except Tmux as error:
            if not server.is_over():
                raise
            # The program or its server went away; undelivered messages stay in the inbox.
            remark(str(error))

    def _hand_over(self, server: TmuxServer, text: str) -> DeliveryProof:
        """Type a text, press Enter, and find out whether it arrived."""
        before = _times_on_screen(text, server.screen())
        if self._record is not None:
            self._record.mark()

        def is_shown() -> bool:
            return _times_on_screen(text, server.screen()) > before

        server.paste(text)
        # Some programs treat an Enter that follows too soon as part of the paste.
        shown = self._await(is_shown, _ECHO_S)
        server.press("Enter")
        if self._record is None:
            shown = shown or self._await(is_shown, self._order.proof_s)
            proof = DeliveryProof.SCREEN if shown else DeliveryProof.NONE
        else:
            record = self._record
            # A text that ends the program, like /exit, may never be recorded.
            self._await(lambda: record.has(text) or server.is_over(), self._order.proof_s)
            proof = DeliveryProof.RECORD if record.has(text) else DeliveryProof.NONE
        tell(Told(text=shortened(text, 200), proof=proof))
        return proof

    def _await_stillness(self, server: TmuxServer, limit_s: float) -> None:
        """Wait until the program's screen stops changing."""
        seen: list[str] = []
        since = time.monotonic()

        def is_still() -> bool:
            nonlocal seen, since
            now = server.screen()
            if now != seen or not any(now):
                seen, since = now, time.monotonic()
            return time.monotonic() - since > _STILL_S or server.is_over()

        self._await(is_still, limit_s, _PAUSE_S if limit_s < _BUSY_S else _BUSY_PAUSE_S)

    def _await(
        self, condition: Callable[[], bool], limit_s: float, pause_s: float = _PAUSE_S
    ) -> bool:
        deadline = time.monotonic() + limit_s
        while not (true := condition()) and time.monotonic() < deadline and not self._stopping:
            time.sleep(pause_s)
        return true

    def _await_end(self, server: TmuxServer) -> None:
        server.wait()
        self._watch.ring()

    def _outcome(self, code: int | None) -> tuple[int, Finished]:
        if self._stopping:
            return STOPPED, Finished(trouble=Trouble.OTHER, text="stopped")
        if code is None:
            words = "the program's window was closed"
            return 128 + signal.SIGHUP, Finished(trouble=Trouble.OTHER, text=words)
        if code:
            words = f"the program ended with exit code {code}"
            return code, Finished(trouble=Trouble.OTHER, text=words)
        return 0, Finished()

    def _on_stop(self, *_: object) -> None:
        self._stopping = True
        self._watch.ring()
