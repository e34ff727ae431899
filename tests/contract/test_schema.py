"""The log file carries a schema version; an older file is migrated or left as it is."""

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from corral.core.errors import LogDamaged, LogTooNew, StoreFailed
from corral.store import schema
from corral.store.sqlite import SqliteStore
from tests.contract.stores import Clock, encoded, names, note


def add_table(connection: apsw.Connection) -> None:
    connection.execute("CREATE TABLE extra (id INTEGER PRIMARY KEY) STRICT")


def fail(connection: apsw.Connection) -> None:
    connection.execute("DELETE FROM event")
    raise ZeroDivisionError


SECOND: dict[int, schema.Step] = {**schema.STEPS, 2: add_table}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    store = SqliteStore(tmp_path, Clock())
    store.transaction(note("a", "b"))
    store.close()
    return tmp_path / "log.db"


@pytest.fixture
def connection(path: Path) -> Iterator[apsw.Connection]:
    connection = apsw.Connection(str(path))
    yield connection
    connection.close()


def content(path: Path) -> tuple[object, ...]:
    connection = apsw.Connection(str(path))
    tables = connection.execute("SELECT name FROM sqlite_schema ORDER BY 1").fetchall()
    events = connection.execute("SELECT * FROM event ORDER BY seq").fetchall()
    found = (schema.version_of(connection), tables, events)
    connection.close()
    return found


def test_a_new_file_has_the_newest_version_and_says_whose_it_is(
    connection: apsw.Connection,
) -> None:
    assert schema.version_of(connection) == max(schema.STEPS) == 1
    assert connection.pragma("application_id") == schema.APPLICATION_ID


def test_an_empty_file_goes_through_every_step(tmp_path: Path) -> None:
    connection = apsw.Connection(str(tmp_path / "log.db"))
    schema.upgrade(connection, str(tmp_path / "log.db"), SECOND)
    assert schema.version_of(connection) == 2
    connection.close()
    assert [found.name for found in tmp_path.glob("log.db*")] == ["log.db"]


def test_an_older_file_reaches_the_newest_version_and_a_copy_stays(
    path: Path, connection: apsw.Connection
) -> None:
    before = content(path)
    schema.upgrade(connection, str(path), SECOND)
    version, tables, events = content(path)
    assert (version, events) == (2, before[2])
    assert ("extra",) in tables  # type: ignore[operator]  # a list of rows
    assert content(path.with_name("log.db.v1")) == before


def test_several_steps_are_taken_in_order(path: Path, connection: apsw.Connection) -> None:
    def fill(connection: apsw.Connection) -> None:
        connection.execute("INSERT INTO extra VALUES (7)")

    schema.upgrade(connection, str(path), {**SECOND, 3: fill})
    assert schema.version_of(connection) == 3
    assert connection.execute("SELECT id FROM extra").fetchall() == [(7,)]


def test_an_upgrade_that_was_done_is_not_done_again(
    path: Path, connection: apsw.Connection
) -> None:
    schema.upgrade(connection, str(path), SECOND)
    path.with_name("log.db.v1").unlink()
    schema.upgrade(connection, str(path), SECOND)
    assert not path.with_name("log.db.v1").exists()


def test_a_copy_that_an_earlier_attempt_left_is_replaced(
    path: Path, connection: apsw.Connection
) -> None:
    before = content(path)
    path.with_name("log.db.v1").write_bytes(b"half a copy")
    schema.upgrade(connection, str(path), SECOND)
    assert content(path.with_name("log.db.v1")) == before


def test_a_step_that_fails_changes_nothing(path: Path, connection: apsw.Connection) -> None:
    before = content(path)
    with pytest.raises(ZeroDivisionError):
        schema.upgrade(connection, str(path), {**SECOND, 3: fail})
    assert content(path) == before
    store = SqliteStore(path.parent, Clock())
    store.transaction(note("c"))
    assert names(store) == ["a", "b", "c"]
    store.close()


def test_stored_lines_are_the_same_after_an_upgrade(path: Path) -> None:
    store = SqliteStore(path.parent, Clock())
    before, state = list(store.read()), encoded(store.state())
    store.close()
    connection = apsw.Connection(str(path))
    schema.upgrade(connection, str(path), SECOND)
    connection.pragma("user_version", 1)  # as if this version knew the second one
    connection.close()
    again = SqliteStore(path.parent, Clock())
    assert list(again.read()) == before
    assert encoded(again.verify()) == state
    again.close()


def test_a_newer_file_is_refused_and_left_alone(path: Path, connection: apsw.Connection) -> None:
    schema.upgrade(connection, str(path), SECOND)
    before = content(path)
    with pytest.raises(LogTooNew, match="version 2; this Corral knows versions up to 1"):
        schema.upgrade(connection, str(path))
    store = SqliteStore(path.parent, Clock())
    for way in (store.state, lambda: store.transaction(note("c")), store.verify):
        with pytest.raises(LogTooNew) as caught:
            way()
        assert caught.value.exit_code == 1
    store.close()
    assert content(path) == before


def test_a_file_of_another_program_is_not_a_log(tmp_path: Path) -> None:
    connection = apsw.Connection(str(tmp_path / "log.db"))
    connection.execute("CREATE TABLE event (seq, line, hash)")
    connection.pragma("user_version", 1)
    connection.close()
    store = SqliteStore(tmp_path, Clock())
    with pytest.raises(LogDamaged, match="not a Corral log"):
        store.transaction(note("a"))
    store.close()


@pytest.mark.parametrize(
    ("version", "fine"),
    [
        ("3.51.3", True),
        ("3.52.0", True),
        ("4.0.0", True),
        ("3.50.7", True),
        ("3.50.10", True),
        ("3.44.6", True),
        ("3.51.2", False),
        ("3.51.0", False),
        ("3.50.6", False),
        ("3.49.9", False),
        ("3.45.0", False),
        ("3.44.5", False),
        ("3.40.1", False),
        ("3.9.2", False),
    ],
)
def test_a_library_that_corrupts_shared_logs_is_refused(version: str, fine: bool) -> None:
    if fine:
        schema.check_library(version)
        return
    with pytest.raises(StoreFailed, match=f"SQLite {version} can corrupt") as caught:
        schema.check_library(version)
    assert caught.value.hint == "pip install --upgrade apsw"


def test_the_library_in_use_is_a_fixed_one() -> None:
    schema.check_library()
