"""What only the log on disk promises: it survives, and any process can open it.

`test_sqlite_derived.py` is about snapshots and the like, `test_sqlite_seal.py` about damage,
`test_schema.py` about versions of the file.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread

import apsw
import pytest

from corral.core.errors import StoreFailed
from corral.store.sqlite import SqliteStore
from tests.contract.stores import Open, encoded, joined, names, note
from tests.patience import PATIENCE_S

# A separate process with its store open: it performs one operation per line of input.
OTHER = """
import sys
from corral.store.sqlite import SqliteStore
from tests.contract.stores import names, note
store = SqliteStore(sys.argv[1])
for line in sys.stdin:
    what, _, name = line.strip().partition(" ")
    if what == "append":
        print(store.transaction(note(name))[-1], flush=True)
    elif what == "replace":
        records = list(store.read(0, int(name)))
        store.replace(records, sys.argv[1] + "/aside")
        print(len(records), flush=True)
    else:
        print(" ".join(names(store)), flush=True)
"""


class Other:
    def __init__(self, folder: Path) -> None:
        root = Path(__file__).parents[2]
        self._process = subprocess.Popen(
            [sys.executable, "-c", OTHER, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=root,
        )

    def tell(self, line: str) -> str:
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()

    def close(self) -> None:
        self._process.communicate(timeout=PATIENCE_S)
        assert self._process.returncode == 0


@pytest.fixture
def other(folder: Path) -> Iterator[Other]:
    other = Other(folder)
    yield other
    other.close()


def test_what_was_acknowledged_is_there_when_the_file_is_opened_again(fresh: Open) -> None:
    first = fresh()
    first.transaction(note("a", "b"))
    state, records = encoded(first.state()), list(first.read())
    first.close()
    again = fresh()
    assert encoded(again.state()) == encoded(again.verify()) == state
    assert list(again.read()) == records


def test_two_open_stores_see_each_others_events(fresh: Open) -> None:
    one, two = fresh(), fresh()
    for name in "abcd":
        one, two = two, one
        one.transaction(note(name))
        assert list(two.state().alerts)[-1] == name
    assert names(one) == names(two) == ["a", "b", "c", "d"]


def test_nothing_is_made_until_there_is_something_to_store(fresh: Open, folder: Path) -> None:
    store = fresh()
    store.transaction(note())
    assert store.state().seq == 0
    assert not (folder / "log.db").exists()


def test_a_closed_store_can_be_used_again(fresh: Open) -> None:
    store = fresh()
    store.transaction(note("a"))
    store.close()
    store.transaction(note("b"))
    assert names(store) == ["a", "b"]


def test_a_process_is_woken_by_another(fresh: Open, other: Other) -> None:
    store = fresh()
    seqs: list[int] = []

    def watch() -> None:
        for turn in range(5):
            assert store.wait(1 + turn, PATIENCE_S)
            seqs.append(store.state().seq)

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    assert [other.tell(f"append {turn}") for turn in range(5)] == ["2", "3", "4", "5", "6"]
    joined(watcher)
    assert seqs[-1] == 6


def test_an_open_store_continues_with_the_log_that_replaced_it(
    fresh: Open, folder: Path, other: Other
) -> None:
    store = fresh()
    for name in "abc":
        store.transaction(note(name))
    assert other.tell("show") == "a b c"
    store.replace(list(store.read(0, 3)), str(folder / "aside"))
    assert other.tell("show") == "a b"
    assert other.tell("append d") == "4"
    assert names(store) == names(fresh()) == ["a", "b", "d"]
    kept = SqliteStore(folder / "aside")
    assert names(kept) == ["a", "b", "c"]
    kept.close()


def test_an_append_after_another_process_replaced_the_log_goes_into_the_new_one(
    fresh: Open, other: Other
) -> None:
    store = fresh()
    store.transaction(note("a", "b"))
    assert other.tell("replace 2") == "2"
    assert store.transaction(note("c")) == [3]
    assert list(store.state().alerts) == ["a", "c"]
    assert other.tell("show") == "a c"


def test_the_write_ahead_file_does_not_grow_with_the_log(fresh: Open, folder: Path) -> None:
    store = fresh()
    filler = "x" * 2000
    for turn in range(40):
        store.transaction(note(*(f"{turn}.{number}{filler}" for number in range(50))))
    assert (folder / "log.db").stat().st_size > 4_000_000
    assert (folder / "log.db-wal").stat().st_size < 4_000_000
    assert fresh().verify().seq == 2001


def test_a_reader_that_stays_does_not_keep_others_from_appending(fresh: Open, folder: Path) -> None:
    store = fresh()
    store.transaction(note("a"))
    reader = apsw.Connection(str(folder / "log.db"), flags=apsw.SQLITE_OPEN_READONLY)
    reader.execute("BEGIN")
    (before,) = reader.execute("SELECT count(*) FROM event").fetchone() or (0,)
    filler = "x" * 2000
    for turn in range(12):
        store.transaction(note(*(f"{turn}.{number}{filler}" for number in range(200))))
    (still,) = reader.execute("SELECT count(*) FROM event").fetchone() or (0,)
    assert before == still == 2
    reader.close()
    assert store.verify().seq == 2402
    store.transaction(note("b"))
    assert fresh().verify().seq == 2403


def test_a_folder_where_the_log_should_be_is_one_sentence(fresh: Open, folder: Path) -> None:
    (folder / "log.db").mkdir(parents=True)
    store = fresh()
    with pytest.raises(StoreFailed, match="nothing was changed") as caught:
        store.transaction(note("a"))
    assert "\n" not in caught.value.message
