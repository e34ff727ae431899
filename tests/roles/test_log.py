"""A role looks at copies of the state: each is whole, and none changes after it was given."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from corral.core.board import commands as c
from corral.core.ids import ConvoyId, TaskId
from corral.core.log import events as e
from corral.core.log.state import State
from corral.roles.log import Log
from corral.store.service import perform, record
from corral.store.sqlite import SqliteStore

TASKS = 2_000  # with as many, a few new events are folded instead of copying everything


def encoded(state: State) -> bytes:
    return msgspec.msgpack.encode(state)


def filled_store(folder: Path, title: str = "Auth fix") -> SqliteStore:
    store = SqliteStore(folder / "corral")
    perform(store, c.CreateConvoy(title=title), "ana", lambda state, new: None)
    convoy = ConvoyId(next(iter(store.state().convoys)))
    added = [
        e.TaskAdded(task=TaskId(f"AF-{number}"), convoy=convoy, title="T")
        for number in range(1, TASKS + 1)
    ]
    record(store, "ana", lambda state, now: added)
    return store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    store = filled_store(tmp_path / "one")
    yield store
    store.close()


def comment(number: int) -> c.CommentTask:
    return c.CommentTask(task=TaskId(f"AF-{number}"), text="hello")


def test_a_look_shares_what_did_not_change_with_the_look_before(store: SqliteStore) -> None:
    log = Log(store, "witness")
    first = log.look()
    log.alert("slow", "AF-1", "odd")
    second = log.look()
    assert (len(first.alerts), len(second.alerts)) == (0, 1)
    assert second.tasks is first.tasks
    assert encoded(second) == encoded(store.state())


@pytest.mark.parametrize("new", [1, 3, 50])
def test_a_look_is_the_whole_state_however_much_is_new(store: SqliteStore, new: int) -> None:
    other = SqliteStore(store.folder)  # as another process has it
    log = Log(store, "witness")
    for turn in range(3):
        last = log.look()
        before = encoded(last)
        for number in range(1, new + 1):
            perform(other, comment(turn * new + number), "ben", lambda state, new: None)
        assert encoded(log.look()) == encoded(other.state())
        assert encoded(last) == before
    other.close()


def test_a_log_that_took_the_place_of_another_is_copied_whole(
    store: SqliteStore, tmp_path: Path
) -> None:
    log = Log(store, "witness")
    log.look()
    other = filled_store(tmp_path / "other", "Other work")
    perform(other, comment(1), "ben", lambda state, new: None)
    store.replace(list(other.read()), str(tmp_path / "aside"))
    assert encoded(log.look()) == encoded(other.state())
    other.close()
