"""Carry a state over stored records, checking each one on the way."""

from collections.abc import Iterable

from msgspec import MsgspecError

from corral.core.codec import Stored, chain, decode
from corral.core.errors import LogDamaged
from corral.core.fold import fold
from corral.core.state import State


def extend(state: State, records: Iterable[Stored]) -> State:
    """Fold records into the state; raise LogDamaged at the first that does not belong there.

    After an error the state is part of the way and must be thrown away.
    """
    for stored in records:
        seq, line = stored.seq, stored.line
        if seq != state.seq + 1:
            raise LogDamaged(state.seq + 1, f"is missing (the next one found is {seq})")
        try:
            head = chain(state.head, line)
            if head != stored.hash:
                raise LogDamaged(seq, "does not have the hash that it was stored with")
            record = decode(line)
            if record.seq != seq:
                raise LogDamaged(seq, f"says that it is event {record.seq}")
            fold(state, record, head)
        except (MsgspecError, KeyError, TypeError, ValueError) as error:
            raise LogDamaged(seq, f"does not fit the events before it ({error})") from error
    return state
