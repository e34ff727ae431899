"""Put recurring tasks back on the board. However often this is called, each date is used once,
because the decision is made in the log's transaction."""

from corral.core.board import recurrence
from corral.store.port import Store
from corral.store.service import record
from corral.world.clock import Clock, now

ACTOR = "witness"


def recur(store: Store, beat_s: int, clock: Clock = now) -> int | None:
    """Put due tasks on the board; return when to call again, or None if nothing will be due.

    Nothing is written, and no lock is taken, unless something is due. A task that ends or is added
    may be due earlier, so call this after each change of the log as well.
    """
    if recurrence.due(store.state(), clock(), beat_s):
        record(store, ACTOR, lambda state, at: recurrence.decide(state, at, beat_s))
    return recurrence.next_at(store.state(), clock(), beat_s)
