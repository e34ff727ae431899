"""A draft is folded like any state, and leaves the one that it starts from as it was."""

from pathlib import Path

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from corral.core.log.codec import decode, event_of
from corral.core.log.draft import copied, draft
from corral.core.log.events import Event, every_event
from corral.core.log.fold import apply
from corral.core.log.state import State
from tests.core.memory_board import START, encoded

LINES = (Path(__file__).parent / "golden_events.txt").read_text("utf-8").splitlines()
LANDED = '{"type":"landing.ended","data":{"run":"R1","convoy":"auth-fix","landed":true}}'
EXAMPLES = [line.partition(" ")[2].replace('"m-1"', '"m-14"') for line in LINES] + [LANDED]
ENDS = ("cleared", "ended", "released", "lapsed", "acknowledged", "expired", "over", "resumed")
OF_ANOTHER_TASK = [line.replace("AF-1", "AF-2") for line in EXAMPLES if '"AF-1' in line]
SEQUENCES = st.lists(st.lists(st.sampled_from(EXAMPLES + OF_ANOTHER_TASK), max_size=4), max_size=20)


def event(line: str) -> Event:
    return event_of(decode(b'{"seq":1,"at":1,"actor":"ana",' + line[1:].encode()))


def fits(state: State, line: str) -> bool:
    """Say whether an event could come next: most need a task, a session or a run."""
    try:
        apply(again(state), event(line), 1, START)
    except (KeyError, IndexError):
        return False
    return True


def again(state: State) -> State:
    return msgspec.msgpack.decode(encoded(state), type=State)


def fold(state: State, line: str) -> None:
    apply(state, event(line), state.seq + 1, START + state.seq)


def full() -> State:
    """A state with something in every dictionary."""
    state = State()
    begun = [line for line in EXAMPLES if not event(line).type.endswith(ENDS)]
    for line in sorted(begun, key=lambda line: "created" not in line) * 3:
        if fits(state, line):
            fold(state, line)
    return state


def test_every_event_can_follow_the_state_that_the_sequences_start_from() -> None:
    state = full()
    assert {event(line).type for line in EXAMPLES if fits(state, line)} == {*every_event()}


@given(SEQUENCES)
def test_drafts_of_drafts_are_what_whole_copies_are(sequences: list[list[str]]) -> None:
    state = full()
    for lines in sequences:
        before, whole, new = encoded(state), again(state), draft(state)
        for line in lines:
            if fits(whole, line):
                fold(whole, line)
                fold(new, line)
        assert encoded(new.done()) == encoded(whole) == encoded(copied(whole))
        assert encoded(state) == before
        state = new.done()


def test_what_an_event_leaves_alone_is_not_copied() -> None:
    state = full()
    new = draft(state)
    fold(new, next(line for line in EXAMPLES if "chore.done" in line))
    done = new.done()
    assert type(done) is State
    assert done.chores is not state.chores
    assert done.tasks is state.tasks
    assert done.sessions is state.sessions
