"""The log as a role uses it from several threads: look at a copy, record what was decided.

The store changes its own state in place whenever somebody reads or writes, so a thread that walks
over a state needs a copy of it.
"""

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Concatenate, ParamSpec

from corral.core.board import recurrence
from corral.core.board.commands import RaiseAlert
from corral.core.errors import LogDamaged
from corral.core.log import events as e
from corral.core.log.draft import copied, draft
from corral.core.log.state import Alert, State
from corral.core.redaction import redacted
from corral.core.text import unstyled
from corral.roles.secrets import Secrets
from corral.store.port import Decide, Store
from corral.store.replay import extend
from corral.store.service import record, request
from corral.world.clock import Clock, now

_P = ParamSpec("_P")
_SHOWN = 900  # characters of an alert
_WORTH = 200  # folding an event takes as long as copying about this many tasks


class Log:
    def __init__(self, store: Store, actor: str, secrets: Secrets | None = None) -> None:
        self.store = store
        self._actor = actor
        self._secrets = secrets
        self._turn = threading.RLock()
        self._last = State()
        # After a person has cleared an alert, the same trouble does not raise it again.
        self._told: set[tuple[str, str]] = set()

    def look(self) -> State:
        """Return the state as it is now, to keep; looks between two events share one copy."""
        with self._turn:
            state = self.store.state()
            if self._last.head != state.head:
                self._last = self._continued(state) or copied(state)
            return self._last

    def _continued(self, state: State) -> State | None:
        """Fold new events into the last copy; only the parts that change are copied.

        Return None where it would take longer than a whole copy, or if this is another log: with
        the same hash, it is the same fold.
        """
        last, new = self._last, state.seq - self._last.seq
        if 0 < new * _WORTH <= len(state.tasks):
            with suppress(LogDamaged):
                found = draft(last)
                extend(found, self.store.read(last.seq, new))
                return found.done() if found.head == state.head else None
        return None

    def record(self, decide: Decide, key: str = "") -> None:
        """Decide and append the events, without secrets: this is the one place that removes them.

        AlreadyDone is raised if a request with the same key was carried out before.
        """
        secrets = self._secrets

        def hidden(state: State, now: int) -> Sequence[e.Event]:
            events = decide(state, now)
            return secrets.hidden(events) if secrets else events

        with self._turn:
            record(self.store, self._actor, hidden, key)

    def note(
        self,
        rule: Callable[Concatenate[State, _P], Sequence[e.Event]],
        *args: _P.args,
        **named: _P.kwargs,
    ) -> None:
        """Record what a rule that does not depend on the time decides."""
        self.record(lambda state, _: rule(state, *args, **named))

    def recur(self, beat_s: int, clock: Clock) -> int | None:
        """Put recurring tasks that are due on the board; return when to look again."""
        with self._turn:
            return recur(self.store, self._actor, beat_s, clock)

    def alert(self, kind: str, subject: str, text: str, *, again: bool = False) -> None:
        """Raise an alert, once while the trouble lasts; with `again`, even after it was cleared."""
        if (kind, subject) in self._told and not again:
            return
        self._told.add((kind, subject))
        said = "".join(c if c.isprintable() else " " for c in redacted(unstyled(text)))
        command = RaiseAlert(subject=subject, kind=kind, text=said[:_SHOWN].strip() or "-")
        self.record(request(command, self._actor).decide)

    def over(self, kind: str, subject: str) -> None:
        """Clear an alert whose trouble is over."""
        self._told.discard((kind, subject))
        if find_alert(self.look(), kind, subject) is None:
            return

        def decide(state: State, now: int) -> list[e.Event]:
            found = find_alert(state, kind, subject)
            return [e.AlertCleared(alert=found.id)] if found else []

        self.record(decide)


def recur(store: Store, actor: str, beat_s: int, clock: Clock = now) -> int | None:
    """Put due tasks on the board; return when to call again, or None if nothing will be due.

    Nothing is written, and no lock is taken, unless something is due. A task that ends or is added
    may be due earlier, so call this after each change of the log as well. However often this is
    called, each date is used once, because the decision is made in the log's transaction.
    """
    if recurrence.due(store.state(), clock(), beat_s):
        record(store, actor, lambda state, at: recurrence.decide(state, at, beat_s))
    return recurrence.next_at(store.state(), clock(), beat_s)


def find_alert(state: State, kind: str, subject: str) -> Alert | None:
    return next((a for a in state.alerts.values() if (a.kind, a.subject) == (kind, subject)), None)
