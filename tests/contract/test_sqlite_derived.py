"""Data derived from the log saves time; it may be wrong or missing at any moment."""

import shutil
import zlib
from pathlib import Path
from threading import Thread

import msgspec
import pytest

from corral.core.log.state import VERSION, Alert, State
from corral.store import snapshot
from corral.store.sqlite import SqliteStore
from tests.contract.stores import Open, encoded, joined, names, note
from tests.patience import PATIENCE_S


def marked(store: SqliteStore) -> State:
    """Return the store's state with an alert in it that is not in the log."""
    state = msgspec.msgpack.decode(encoded(store.state()), type=State)
    state.alerts["marker"] = Alert("marker", "note", "marker", "marker", 0)
    return state


def sealed_with(body: bytes) -> bytes:
    return zlib.crc32(body).to_bytes(4, "big") + body


def test_a_snapshot_is_what_a_command_starts_from(fresh: Open, folder: Path) -> None:
    store = fresh()
    store.transaction(note("a"))
    store.save()
    snapshot.save(str(folder / "derived" / "snapshot"), marked(store))
    store.transaction(note("b"))
    assert list(fresh().state().alerts) == ["a", "marker", "b"]


@pytest.mark.parametrize("fault", ["empty", "cut", "flipped", "version", "not msgpack", "shape"])
def test_a_snapshot_that_is_damaged_or_of_another_version_is_ignored(
    fresh: Open, folder: Path, fault: str
) -> None:
    store = fresh()
    store.transaction(note("a"))
    path = folder / "derived" / "snapshot"
    snapshot.save(str(path), marked(store))
    good = path.read_bytes()
    middle = len(good) // 2
    path.write_bytes(
        {
            "empty": b"",
            "cut": good[:-1],
            "flipped": good[:middle] + bytes([good[middle] ^ 1]) + good[middle + 1 :],
            "version": sealed_with(msgspec.msgpack.encode((VERSION + 1, marked(store)))),
            "not msgpack": sealed_with(b"\xc1"),
            "shape": sealed_with(msgspec.msgpack.encode((VERSION, {"seq": "two"}))),
        }[fault]
    )
    assert list(fresh().state().alerts) == ["a"]


@pytest.mark.parametrize("what", ["head", "longer", "zero"])
def test_a_snapshot_that_is_not_of_this_log_is_ignored(
    fresh: Open, folder: Path, what: str
) -> None:
    store = fresh()
    store.transaction(note("a"))
    state = marked(store)
    if what == "head":
        state.head = bytes(32)
    else:
        state.seq = 99 if what == "longer" else 0
    snapshot.save(str(folder / "derived" / "snapshot"), state)
    assert list(fresh().state().alerts) == ["a"]


def test_a_snapshot_is_written_when_enough_has_happened(fresh: Open, folder: Path) -> None:
    store = fresh()
    path = folder / "derived" / "snapshot"
    store.transaction(note(*(f"a{number}" for number in range(snapshot.EVERY - 2))))
    store.settle()
    assert not path.exists()
    store.transaction(note("b"))
    store.settle()
    first = path.read_bytes()
    store.transaction(note("c"))
    store.settle()
    assert path.read_bytes() == first
    assert fresh().state().seq == snapshot.EVERY + 1


@pytest.mark.parametrize("how", ["folder", "files", "forget"])
def test_what_is_derived_may_vanish_at_any_time(fresh: Open, folder: Path, how: str) -> None:
    store = fresh()

    def vanish() -> None:
        match how:
            case "folder":
                shutil.rmtree(folder / "derived", ignore_errors=True)
            case "files":
                for path in (folder / "derived").glob("*"):
                    path.unlink()
            case _:
                store.forget()

    told = []
    for name in "abc":
        for act in (store.verify, store.state, store.save, store.settle, lambda: names(store)):
            vanish()
            act()
        vanish()
        told.append(store.transaction(note(name))[-1])
        vanish()
        state = encoded(store.state())
        vanish()
        assert encoded(fresh().state()) == state
    assert told == [2, 3, 4]
    assert names(store) == ["a", "b", "c"]


def test_a_waiter_wakes_up_even_if_what_is_derived_has_vanished(fresh: Open, folder: Path) -> None:
    store, writer = fresh(), fresh()
    woken: list[bool] = []

    def watch() -> None:
        for length in range(2, 22):
            woken.append(store.wait(length - 1, PATIENCE_S))

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    for number in range(21):
        shutil.rmtree(folder / "derived", ignore_errors=True)
        writer.transaction(note(str(number)))
    joined(watcher)
    assert woken == [True] * 20
