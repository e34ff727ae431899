"""Fold stored records into a state, and check each one."""

from collections.abc import Iterable

from msgspec import MsgspecError

from corral.core.errors import LogDamaged
from corral.core.log.codec import chain, decode, event_of, load_sha256
from corral.core.log.fold import apply
from corral.core.log.requests import remember
from corral.core.log.state import State

Row = tuple[int, bytes, bytes]


def extend(state: State, records: Iterable[Row]) -> State:
    """Fold records into the state; raise LogDamaged at the first that does not fit.

    After an error the state is incomplete and must be discarded. A replay spends its time in this
    loop, so it is one function.
    """
    seq = 0
    if not state.seq:
        load_sha256(many=True)
    try:
        for seq, line, stored_hash in records:
            if seq != state.seq + 1:
                raise LogDamaged(state.seq + 1, f"is missing (the next one found is {seq})")
            head = chain(state.head, line)
            if head != stored_hash:
                raise LogDamaged(seq, "does not have the hash that it was stored with")
            record = decode(line)
            if record.seq != seq:
                raise LogDamaged(seq, f"says that it is event {record.seq}")
            apply(state, event_of(record), seq, record.at)
            if record.key:
                remember(state, record.actor, record.key, seq, record.at)
            state.head = head
    except (MsgspecError, KeyError, TypeError, ValueError) as error:
        raise LogDamaged(seq, f"does not fit the events before it ({error})") from error
    return state
