"""The events of a plan survive the mirror, and a hostile log is refused."""

import pytest

from corral.core.errors import Refused
from corral.core.ids import ConvoyId, TaskId
from corral.core.log.codec import GENESIS, chain, encode
from corral.core.log.events import ConvoyCreated, Event, LogCreated, TaskAdded
from corral.core.log.state import State
from corral.store.foreign import extend
from tests.e2e.corral_command import Board

PLAN = b"# Auth fix\n- [ ] a\n  path: x\n  unproved: yes\n- [ ] b\n  path: x\n  unproved: yes\n"


def test_reasons_are_rebuilt_from_the_mirror(empty_board: Board) -> None:
    empty_board.corral("plan", "apply", "-", stdin=PLAN)
    before = empty_board.data("task", "show", "AF-2")
    assert before["reasons"] == {"AF-1": "both may change x"}
    empty_board.corral("log", "push", ".")
    for file in empty_board.folder.glob("log.db*"):
        file.unlink()
    empty_board.corral("rebuild", "--from-mirror")
    assert empty_board.data("task", "show", "AF-2") == before


@pytest.mark.parametrize("reason", ["a\x1b[2J", "x" * 20_000])
def test_a_hostile_reason_in_another_log_is_refused(reason: str) -> None:
    events: list[Event] = [
        LogCreated(log="00", format=1),
        ConvoyCreated(convoy=ConvoyId("a"), title="A", prefix="A"),
        TaskAdded(task=TaskId("A-1"), convoy=ConvoyId("a"), title="T"),
        TaskAdded(
            task=TaskId("A-2"),
            convoy=ConvoyId("a"),
            title="T",
            needs=(TaskId("A-1"),),
            reasons={TaskId("A-1"): reason},
        ),
    ]
    head, rows = GENESIS, []
    for seq, event in enumerate(events, 1):
        line = encode(seq, 1, "ana", event)
        head = chain(head, line)
        rows.append((seq, line, head))
    with pytest.raises(Refused, match="event 4 of that log is not acceptable: its reasons"):
        extend(State(), rows)
