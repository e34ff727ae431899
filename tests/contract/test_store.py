"""What every store promises to one writer and one reader.

`test_store_sharing.py` is the other half of the suite: many at once, and other logs.
"""

from collections.abc import Callable
from hashlib import sha256

import pytest

from corral.core.board import commands as c
from corral.core.errors import NotFound, Refused
from corral.core.log.codec import FORMAT, GENESIS, decode
from corral.core.log.events import AlertRaised
from corral.core.log.state import State
from corral.store.port import Request, Store
from corral.store.service import perform
from tests.contract.memory_store import MemoryStore
from tests.contract.stores import (
    START,
    Clock,
    alert,
    encoded,
    names,
    note,
    numbers,
    raising,
    raising_late,
)

Raising = Callable[[Exception], Request[None]]


def test_a_new_store_is_an_empty_log(store: Store) -> None:
    assert encoded(store.state()) == encoded(State())
    assert list(store.read()) == []
    assert store.verify().seq == 0
    assert not store.wait(0, 0)


def test_the_first_append_begins_the_log(store: Store) -> None:
    assert store.transaction(note("a")) == [1, 2]
    first = decode(next(store.read()).line)
    assert (first.actor, first.type, first.at) == ("corral", "log.created", START)
    assert store.state().log
    assert f'"log":"{store.state().log}","format":{FORMAT}'.encode() in bytes(first.data)


def test_no_two_logs_are_the_same(store: Store) -> None:
    store.transaction(note("a"))
    other = MemoryStore()
    other.transaction(note("a"))
    assert store.state().log != other.state().log


def test_a_number_handed_out_by_the_first_decision_is_the_right_one(store: Store) -> None:
    command = c.AcquireLease(resource="port:1")
    assert perform(store, command, "ana", numbers) == [1, 2]
    assert store.state().leases["port:1"].token == "2"


@pytest.mark.parametrize("before", [(), ("a",)])
def test_a_refusal_appends_nothing_and_reaches_the_caller(
    store: Store, before: tuple[str, ...]
) -> None:
    if before:
        store.transaction(note(*before))
    length = store.state().seq
    refusal = Refused("no", "because", code="just_so")
    with pytest.raises(Refused) as caught:
        store.transaction(raising(refusal))
    assert caught.value is refusal
    assert store.state().seq == length
    assert names(store) == list(before)


def test_a_decision_to_do_nothing_appends_nothing(store: Store) -> None:
    assert store.transaction(note()) == []
    assert store.state().seq == 0
    store.transaction(note("a"))
    assert store.transaction(note()) == []
    assert store.state().seq == 2


@pytest.mark.parametrize("make", [raising, raising_late])
@pytest.mark.parametrize("error", [ZeroDivisionError("bug"), NotFound("gone")])
@pytest.mark.parametrize("before", [(), ("a",)])
def test_whatever_is_raised_nothing_is_appended_and_the_store_still_works(
    store: Store, make: Raising, error: Exception, before: tuple[str, ...]
) -> None:
    if before:
        store.transaction(note(*before))
    with pytest.raises(type(error)):
        store.transaction(make(error))
    assert names(store) == list(before)
    assert list(store.state().alerts) == list(before)
    store.transaction(note("b"))
    assert names(store) == [*before, "b"]


def test_the_answer_is_made_from_the_state_with_the_events_in_it(store: Store) -> None:
    request = Request(
        "ana",
        lambda state, now: [alert("a"), alert("b")],
        lambda state, stored: (list(state.alerts), state.seq, [s.seq for s in stored][-2:]),
    )
    assert store.transaction(request) == (["a", "b"], 3, [2, 3])


def test_a_decision_is_made_on_everything_before_it(store: Store) -> None:
    seen: list[list[str]] = []

    def grow(state: State, now: int) -> list[AlertRaised]:
        seen.append(list(state.alerts))
        return [alert(f"n{len(state.alerts)}")]

    for _ in range(3):
        store.transaction(Request("ana", grow, numbers))
    assert seen[-3:] == [[], ["n0"], ["n0", "n1"]]


def test_events_carry_the_injected_time_and_the_actor(store: Store, clock: Clock) -> None:
    store.transaction(note("a", actor="ana"))
    clock.now += 5
    store.transaction(note("b", actor="bob"))
    clock.now -= 100  # clocks do go back; the log's order is that of its numbers
    store.transaction(note("c", actor="eve"))
    records = [decode(stored.line) for stored in store.read(1)]
    assert [(r.seq, r.actor, r.at) for r in records] == [
        (2, "ana", START),
        (3, "bob", START + 5),
        (4, "eve", START - 95),
    ]


def test_the_decision_is_given_the_time_of_its_events(store: Store, clock: Clock) -> None:
    clock.now += 7
    times: list[int] = []

    def decide(state: State, now: int) -> list[AlertRaised]:
        times.append(now)
        return [alert("a")]

    store.transaction(Request("ana", decide, numbers))
    assert set(times) == {clock.now}


def test_a_batch_answers_in_order_and_each_sees_those_before(store: Store) -> None:
    see = Request("ana", lambda state, now: [], lambda state, stored: list(state.alerts))
    answers = store.batch([see, note("a"), see, note("b", "c"), see])
    assert answers == [[], [1, 2], ["a"], [3, 4], ["a", "b", "c"]]
    assert store.batch([]) == []


def test_a_refusal_in_a_batch_harms_no_other(store: Store) -> None:
    refusal = Refused("no")
    answers = store.batch([raising(refusal), note("a"), raising(refusal), note("b")])
    assert answers == [refusal, [1, 2], refusal, [3]]
    assert names(store) == ["a", "b"]


@pytest.mark.parametrize("make", [raising, raising_late])
def test_a_batch_in_which_something_unexpected_happens_never_happened(
    store: Store, make: Raising
) -> None:
    store.transaction(note("before"))
    with pytest.raises(ZeroDivisionError):
        store.batch([note("a"), make(ZeroDivisionError("bug")), note("b")])
    assert names(store) == list(store.state().alerts) == ["before"]


def test_every_event_is_chained_to_the_one_before(store: Store) -> None:
    for name in "abc":
        store.transaction(note(name))
    head = GENESIS
    for seq, stored in enumerate(store.read(), 1):
        head = sha256(head + stored.line).digest()
        assert (stored.seq, decode(stored.line).seq, stored.hash) == (seq, seq, head)
    assert store.state().head == head


def test_reading_starts_and_stops_where_it_is_told(store: Store) -> None:
    store.transaction(note(*(str(number) for number in range(2499))))
    everything = list(store.read())
    assert [stored.seq for stored in everything] == list(range(1, 2501))
    for after in (0, 1, 999, 1000, 2499, 2500, 3000):
        for limit in (None, 0, 1, 1000, 1001, 5000):
            end = None if limit is None else after + limit
            assert list(store.read(after, limit)) == everything[after:end]


def test_what_others_append_is_seen_by_a_reader_that_has_begun(store: Store) -> None:
    store.transaction(note("a"))
    reader = store.read()
    next(reader)
    store.transaction(note("b"))
    assert [stored.seq for stored in reader][:1] == [2]
    assert names(store) == ["a", "b"]


def test_settling_changes_nothing_that_can_be_seen(store: Store) -> None:
    store.settle()
    store.transaction(note("a"))
    before = encoded(store.state())
    store.settle()
    assert encoded(store.state()) == before
