"""Any change to the stored log that Corral did not make is noticed before it is built on."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from corral.core.errors import CorralError, LogDamaged
from corral.store.seal import Mark
from corral.store.sqlite import SqliteStore
from tests.contract.stores import Clock, encoded, names, note

LENGTH = 6
Break = Callable[[apsw.Connection], object]

BREAKS: dict[str, tuple[Break, int]] = {
    "a changed line": (
        lambda log: log.execute(
            "UPDATE event SET line = CAST(replace(line, 'n3', 'N3') AS BLOB) WHERE seq = 4"
        ),
        4,
    ),
    "a changed hash": (lambda log: log.execute("UPDATE event SET hash = x'00' WHERE seq = 3"), 3),
    "a lost line": (lambda log: log.execute("DELETE FROM event WHERE seq = 3"), 3),
    "a lost start": (lambda log: log.execute("DELETE FROM event WHERE seq < 3"), 1),
    "a lost end": (lambda log: log.execute("DELETE FROM event WHERE seq > 4"), 5),
    "nothing left": (lambda log: log.execute("DELETE FROM event"), 1),
    "one too many": (lambda log: log.execute("INSERT INTO event VALUES (7, x'7b7d', x'00')"), 7),
    "an empty line": (lambda log: log.execute("UPDATE event SET line = x'' WHERE seq = 2"), 2),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A log of six events, all of it in the file itself."""
    store = SqliteStore(tmp_path / "corral", Clock())
    for number in range(1, LENGTH):
        store.transaction(note(f"n{number}"))
    store.close()
    log = connected(tmp_path / "corral")
    log.execute("SELECT count(*) FROM event").fetchall()  # only then it knows of the WAL
    log.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    log.close()
    opened = SqliteStore(tmp_path / "corral", Clock())
    assert opened.verify().seq == LENGTH
    opened.close()
    return tmp_path / "corral"


@pytest.fixture
def store(folder: Path) -> Iterator[SqliteStore]:
    store = SqliteStore(folder, Clock())
    assert store.state().seq == LENGTH
    yield store
    store.close()


def connected(folder: Path) -> apsw.Connection:
    connection = apsw.Connection(str(folder / "log.db"))
    connection.set_busy_timeout(10_000)
    return connection


def rows(folder: Path) -> list[object]:
    connection = connected(folder)
    found = list(connection.execute("SELECT * FROM event ORDER BY seq"))
    connection.close()
    return found


def damage(error: pytest.ExceptionInfo[LogDamaged]) -> int:
    assert error.value.exit_code == 1
    assert error.value.message.startswith("the log is damaged: event ")
    assert "rebuild --from-mirror" in error.value.hint
    return error.value.seq


@pytest.mark.parametrize("name", BREAKS)
@pytest.mark.parametrize("who", ["open", "new"])
def test_a_change_by_others_is_noticed_by_every_way_in(
    store: SqliteStore, folder: Path, name: str, who: str
) -> None:
    change, first_bad = BREAKS[name]
    connection = connected(folder)
    change(connection)
    connection.close()
    broken = rows(folder)
    asked = store if who == "open" else SqliteStore(folder, Clock())
    ways: list[Callable[[], object]] = [
        asked.state,
        lambda: asked.transaction(note("late")),
        lambda: list(asked.read()),
        lambda: asked.wait(0, 0),
        asked.verify,
        asked.state,
    ]
    for way in ways:
        with pytest.raises(LogDamaged) as caught:
            way()
        assert damage(caught) == first_bad
    assert rows(folder) == broken
    asked.close()


@pytest.mark.parametrize("seq", range(1, LENGTH + 1))
def test_one_flipped_byte_in_a_line_is_found_and_named(folder: Path, seq: int) -> None:
    line = b'"actor":"corral"' if seq == 1 else b'"alert":"n%d"' % (seq - 1)
    content = bytearray((folder / "log.db").read_bytes())
    assert content.count(line) == 1
    content[content.index(line) + 9] ^= 1
    (folder / "log.db").write_bytes(content)
    store = SqliteStore(folder, Clock())
    for way in (store.state, store.verify):
        with pytest.raises(LogDamaged) as caught:
            way()
        assert damage(caught) == seq
    store.close()


def test_a_flipped_byte_anywhere_is_noticed_or_harmless(folder: Path) -> None:
    good = (folder / "log.db").read_bytes()
    store = SqliteStore(folder, Clock())
    whole = encoded(store.state())
    store.close()
    noticed = 0
    for at in range(0, len(good), 61):
        (folder / "log.db").write_bytes(good[:at] + bytes([good[at] ^ 4]) + good[at + 1 :])
        for leftover in ("log.db-wal", "log.db-shm"):
            (folder / leftover).unlink(missing_ok=True)
        opened = SqliteStore(folder, Clock())
        try:
            assert encoded(opened.verify()) == whole
        except CorralError as error:
            noticed += 1
            assert "\n" not in error.message  # noqa: PT017 - noticed or harmless: both are right
        finally:
            opened.close()
    assert noticed


@pytest.mark.parametrize(
    "content", [b"not a database at all, but a letter to a friend", b"\0" * 999]
)
def test_a_file_that_is_no_log_is_damage(folder: Path, content: bytes) -> None:
    for path in folder.glob("log.db*"):
        path.unlink()
    (folder / "log.db").write_bytes(content)
    store = SqliteStore(folder, Clock())
    with pytest.raises(LogDamaged):
        store.transaction(note("late"))
    store.close()
    assert (folder / "log.db").read_bytes() == content


def test_an_older_copy_put_back_is_noticed_even_though_its_hashes_fit(folder: Path) -> None:
    shutil.copy(folder / "log.db", folder / "backup")
    store = SqliteStore(folder, Clock())
    store.transaction(note("newer"))
    store.close()
    for path in folder.glob("log.db*"):
        path.unlink()
    (folder / "backup").rename(folder / "log.db")
    again = SqliteStore(folder, Clock())
    with pytest.raises(LogDamaged) as caught:
        again.state()
    assert damage(caught) == LENGTH + 1
    again.close()


@pytest.mark.parametrize("who", ["open", "new"])
def test_a_log_that_has_vanished_is_not_an_empty_log(
    store: SqliteStore, folder: Path, who: str
) -> None:
    for path in folder.glob("log.db*"):
        path.unlink()
    asked = store if who == "open" else SqliteStore(folder, Clock())
    for way in (asked.state, asked.verify, lambda: asked.transaction(note("late"))):
        with pytest.raises(LogDamaged) as caught:
            way()
        assert damage(caught) == 1
    asked.close()


def test_a_lost_end_is_noticed_without_the_seal_if_somebody_else_remembers_it(
    folder: Path,
) -> None:
    store = SqliteStore(folder, Clock())
    state = store.state()
    mark = Mark(state.seq, state.head)
    store.close()
    connection = connected(folder)
    connection.execute("DELETE FROM event WHERE seq > 4")
    connection.close()
    shutil.rmtree(folder / "derived")
    again = SqliteStore(folder, Clock(), anchor=lambda: mark)
    with pytest.raises(LogDamaged) as caught:
        again.state()
    assert damage(caught) == 5
    again.close()


def test_a_crash_between_the_append_and_the_seal_is_no_damage(folder: Path) -> None:
    seal = folder / "derived" / "seal"
    before = seal.read_bytes()
    store = SqliteStore(folder, Clock())
    store.transaction(note("newer"))
    seal.write_bytes(before)
    other = SqliteStore(folder, Clock())
    assert names(other)[-1] == names(store)[-1] == "newer"
    other.transaction(note("newest"))
    assert store.state().seq == LENGTH + 2
    store.close()
    other.close()


@pytest.mark.parametrize("torn", [b"", b"[1,", b"\0" * 512, b"null", b'[1,"",[]]'])
def test_a_torn_seal_costs_a_check_and_nothing_else(folder: Path, torn: bytes) -> None:
    (folder / "derived" / "seal").write_bytes(torn)
    store = SqliteStore(folder, Clock())
    assert store.state().seq == LENGTH
    store.close()


def test_a_flipped_byte_in_the_write_ahead_file_is_noticed(folder: Path) -> None:
    store = SqliteStore(folder, Clock())
    store.transaction(note("newer"))
    store.close()
    wal = bytearray((folder / "log.db-wal").read_bytes())
    wal[wal.index(b"newer")] ^= 1
    (folder / "log.db-wal").write_bytes(wal)
    (folder / "log.db-shm").unlink()
    again = SqliteStore(folder, Clock())
    with pytest.raises(LogDamaged) as caught:
        again.transaction(note("newest"))
    assert damage(caught) == LENGTH + 1
    again.close()


def test_what_is_left_of_a_damaged_log_can_be_salvaged(folder: Path) -> None:
    connection = connected(folder)
    connection.execute("DELETE FROM event WHERE seq = 5")
    connection.close()
    store = SqliteStore(folder, Clock())
    assert [stored.seq for stored in store.salvage(0)] == [1, 2, 3, 4, 6]
    assert [stored.seq for stored in store.salvage(3)] == [4, 6]
    store.close()
