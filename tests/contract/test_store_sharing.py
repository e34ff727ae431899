"""What every store promises to many concurrent writers, and about other logs."""

from itertools import islice
from pathlib import Path
from threading import Barrier, Thread

import pytest

from corral.core.board import commands as c
from corral.core.errors import Failed, LogDamaged, NotFound
from corral.core.log.codec import Stored, decode
from corral.store.port import Store, follow
from corral.store.service import perform
from tests.contract.memory_store import MemoryStore
from tests.contract.stores import Behind, Clock, encoded, joined, names, note, numbers, opened
from tests.patience import PATIENCE_S


def test_waiting_ends_at_once_if_the_log_is_longer(store: Store) -> None:
    store.transaction(note("a"))
    assert store.wait(0)
    assert store.wait(1)
    assert not store.wait(2, 0)


def test_two_waiters_wake_each_other(store: Store) -> None:
    store.transaction(note("start"))
    rounds = 10
    woken: list[bool] = []

    def play(mine: int) -> None:
        for turn in range(rounds):
            woken.append(store.wait(1 + 2 * turn + mine, PATIENCE_S))
            store.transaction(note(f"{turn}.{mine}"))

    players = [Thread(target=play, args=(mine,), daemon=True) for mine in (0, 1)]
    for player in players:
        player.start()
    joined(*players)
    assert woken == [True] * 2 * rounds
    assert names(store)[1:] == [f"{turn}.{mine}" for turn in range(rounds) for mine in (0, 1)]


def test_a_follower_sees_what_was_there_and_what_comes(store: Store) -> None:
    store.transaction(note("a", "b"))
    found: list[int] = []
    half_way = Barrier(2, timeout=PATIENCE_S)

    def watch() -> None:
        for stored in islice(follow(store, 1), 4):
            found.append(stored.seq)
            if stored.seq == 3:
                half_way.wait()

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    half_way.wait()
    store.transaction(note("c"))
    store.transaction(note("d"))
    joined(watcher)
    assert found == [2, 3, 4, 5]


def test_records_of_another_log_are_taken_in_as_they_are(store: Store) -> None:
    other = MemoryStore()
    other.transaction(note("a", "b"))
    store.adopt(list(other.read(0, 2)))
    store.adopt(list(other.read(2)))
    store.adopt([])
    assert list(store.read()) == list(other.read())
    assert encoded(store.state()) == encoded(other.state())
    other.transaction(note("c"))
    store.adopt(list(other.read(3)))
    store.transaction(note("d"))
    assert names(store) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("bad", ["gap", "again", "line", "hash", "number", "other log"])
def test_what_does_not_continue_the_chain_is_refused_whole(store: Store, bad: str) -> None:
    other = MemoryStore()
    other.transaction(note("a"))
    store.adopt(list(other.read()))
    other.transaction(note("b", "c", "d"))
    three, four, five = other.read(2)
    stranger = MemoryStore()
    stranger.transaction(note("x", "y", "z"))
    pages = {
        "gap": [three, five],
        "again": [three, three],
        "line": [three, Stored(4, four.line.replace(b'"c"', b'"q"'), four.hash)],
        "hash": [three, Stored(4, four.line, bytes(32))],
        "number": [three, Stored(5, four.line, four.hash)],
        "other log": [three, *stranger.read(3)],
    }
    with pytest.raises(LogDamaged):
        store.adopt(pages[bad])
    assert names(store) == list(store.state().alerts) == ["a"]
    store.adopt([three, four, five])
    assert names(store) == ["a", "b", "c", "d"]


def test_many_threads_at_once_lose_nothing(store: Store) -> None:
    people, each = 8, 12
    start = Barrier(people, timeout=PATIENCE_S)
    told: dict[int, str] = {}

    def work(person: int) -> None:
        start.wait()
        for turn in range(each):
            name = f"{person}.{turn}"
            told[store.transaction(note(name))[-1]] = name

    workers = [Thread(target=work, args=(person,), daemon=True) for person in range(people)]
    for worker in workers:
        worker.start()
    joined(*workers)
    assert names(store) == [told[seq] for seq in sorted(told)]
    assert sorted(told) == list(range(2, 2 + people * each))


def test_many_claimers_each_get_their_own_task(store: Store) -> None:
    people, tasks = 6, 18
    perform(store, c.CreateConvoy(title="Auth fix"), "ana", numbers)
    for _ in range(tasks):
        perform(store, c.AddTask(title="T"), "ana", numbers)
    before = store.state().seq
    start = Barrier(people, timeout=PATIENCE_S)

    def work(person: int) -> None:
        start.wait()
        for _ in range(tasks // people):
            perform(store, c.ClaimTask(), f"p{person}", numbers)

    workers = [Thread(target=work, args=(person,), daemon=True) for person in range(people)]
    for worker in workers:
        worker.start()
    joined(*workers)
    claims = [decode(stored.line) for stored in store.read(before)]
    assert [claim.type for claim in claims] == ["task.claimed"] * tasks
    assert sorted(claim.actor for claim in claims) == sorted(
        f"p{person}" for person in range(people) for _ in range(tasks // people)
    )
    with pytest.raises(NotFound):
        perform(store, c.ClaimTask(), "late", numbers)


@pytest.mark.parametrize("kind", ["writer-memory", "writer-sqlite"])
def test_a_closed_writer_refuses_instead_of_hanging(kind: str, tmp_path: Path) -> None:
    store = opened(kind, tmp_path, Clock())
    assert isinstance(store, Behind)
    store.transaction(note("a"))
    store.writer.close()
    store.writer.close()
    with pytest.raises(Failed, match="closed; nothing was changed"):
        store.transaction(note("b"))
    assert names(store) == ["a"]
    store.close()
