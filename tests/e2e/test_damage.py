"""One flipped byte anywhere in the stored log is found, refused and repaired."""

import os
import random
import shutil
from collections import Counter
from pathlib import Path

import pytest

from corral.core.board.commands import CommentTask
from corral.core.ids import TaskId
from corral.store.service import perform
from corral.store.sqlite import SqliteStore
from tests.e2e.corral_command import Answer, Board, assert_one_sentence, make_repository

DATABASE, WAL = "log.db", "log.db-wal"
CHOSEN = "the chosen event, which lies in the database"
NEWEST = "the newest event, which lies in the write-ahead log"


class Sample:
    """A repository with a long log, of which every trial gets a fresh copy."""

    def __init__(self, origin: Board, place: Path) -> None:
        self.pristine = place / "pristine"
        shutil.copytree(origin.folder, self.pristine, ignore=shutil.ignore_patterns("*-shm"))
        self.board = origin
        # Whether the last event of a trial is mirrored depends on how long it took.
        self._mirror = origin.path / ".git" / "refs" / "corral" / "log"
        self._mirrored = self._mirror.read_bytes()
        self.status = origin.here("status", "--json", code=0).out
        self.length = len(origin.events())

    def fresh(self) -> Board:
        """Put the log back as it was, files, mirror and all."""
        shutil.rmtree(self.board.folder)
        shutil.copytree(self.pristine, self.board.folder)
        self._mirror.write_bytes(self._mirrored)
        return self.board

    def content(self, name: str) -> bytes:
        return (self.pristine / name).read_bytes()

    def flipped(self, name: str, offset: int, bit: int) -> tuple[Board, bytes]:
        """Flip one bit in place, after Corral has used the log; return what the file is now."""
        board = self.fresh()
        assert board.here("status", "--json").out == self.status
        with (board.folder / name).open("r+b") as file:
            file.seek(offset)
            (old,) = file.read(1)
            file.seek(offset)
            file.write(bytes([old ^ 1 << bit]))
        return board, (board.folder / name).read_bytes()


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    place = tmp_path_factory.mktemp("damage")
    board = make_repository(place / "project")
    board.here("init", code=0)
    board.here("convoy", "create", "Auth fix", code=0)
    for number in range(1, 8):
        needs = () if number < 3 else ("--needs", "AF-1")
        board.here("task", "add", f"Task {number}", "--brief", f"do {number} " * 50, *needs, code=0)
    store = SqliteStore(board.folder)
    for number in range(1, 251):
        said = CHOSEN if number == 20 else f"comment {number} " * 5
        perform(store, CommentTask(task=TaskId("AF-1"), text=said), "setup", lambda *_: None)
    store.close()
    board.here("task", "comment", "AF-2", NEWEST, code=0)
    board.git("init", "--quiet", "--bare", str(place / "remote.git"))
    board.here("log", "push", str(place / "remote.git"), code=0)
    found = Sample(board, place)
    assert CHOSEN.encode() in found.content(DATABASE)
    assert NEWEST.encode() in found.content(WAL)
    assert NEWEST.encode() not in found.content(DATABASE)
    return found


def names_an_event(answer: Answer) -> int:
    """Return the number of the event that a refusal names."""
    words = answer.err.split("event ", 1)
    assert len(words) == 2, answer
    return int(words[1].split()[0])


def try_flip(sample: Sample, name: str, offset: int, bit: int) -> str:
    """Flip one bit, and check that it is either refused everywhere or does not matter."""
    board, damaged = sample.flipped(name, offset, bit)
    status = board.here("status", "--json")
    verified = board.here("log", "verify")
    if status.code == 0:
        assert status.out == sample.status, (name, offset, bit)
        assert verified.code == 0, (name, offset, bit, verified)
        return "harmless"
    assert verified.code == 1, (name, offset, bit, verified)
    assert_one_sentence(verified)
    assert 1 <= names_an_event(verified) <= sample.length + 1
    added = board.here("task", "add", "built on sand")
    for refusal in (board.here("status"), added):
        assert refusal.code == 1, (name, offset, bit, refusal)
        assert_one_sentence(refusal)
        assert "damaged" in refusal.err, (name, offset, bit, refusal)
        assert "corral rebuild --from-mirror" in refusal.err, (name, offset, bit, refusal)
    assert (board.folder / name).read_bytes() == damaged, (name, offset, bit)
    for other in {DATABASE, WAL} - {name}:
        assert (board.folder / other).read_bytes() == sample.content(other), (name, offset, bit)
    restored = board.here("rebuild", "--from-mirror", "--json")
    assert restored.code == 0, (name, offset, bit, restored)
    assert (restored.data["lost"], restored.data["seq"]) == (0, sample.length), (name, offset)
    assert (Path(restored.data["kept"]) / name).read_bytes() == damaged, (name, offset, bit)
    assert board.here("status", "--json").out == sample.status, (name, offset, bit)
    assert board.here("log", "verify").code == 0
    return "refused"


def places_of(sample: Sample, name: str, line: str, number: int) -> list[int]:
    """Return offsets all over the stored line of the event that says something."""
    content = sample.content(name)
    middle = content.rindex(line.encode())
    start = content.rindex(b'{"seq":', 0, middle)
    end = content.index(b"}}", middle) + 2
    return [start + (end - 1 - start) * i // (number - 1) for i in range(number)]


@pytest.mark.parametrize(("name", "line"), [(DATABASE, CHOSEN), (WAL, NEWEST)])
def test_a_flipped_bit_anywhere_in_a_stored_line_is_found(
    sample: Sample, name: str, line: str
) -> None:
    dice = random.Random(1)
    for offset in places_of(sample, name, line, 12):
        assert try_flip(sample, name, offset, dice.randrange(8)) == "refused", offset


def test_the_first_bad_event_is_named(sample: Sample) -> None:
    events = sample.fresh().events()
    chosen = next(event["seq"] for event in events if event["data"].get("text") == CHOSEN)
    offset = places_of(sample, DATABASE, CHOSEN, 3)[1]
    board, _ = sample.flipped(DATABASE, offset, 0)
    answer = board.corral("log", "verify", code=1)
    assert names_an_event(answer) == chosen
    refusal = board.refused("log", "verify", code=1)
    assert refusal["code"] == "log_damaged"
    assert f"event {chosen} " in refusal["message"]


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 6))]
)
def test_a_flipped_bit_at_any_place_is_refused_or_does_not_matter(
    sample: Sample, seed: int
) -> None:
    dice = random.Random(seed)
    outcomes: Counter[str] = Counter()
    for _ in range(15):
        offset = dice.randrange(len(sample.content(DATABASE)))
        outcomes[try_flip(sample, DATABASE, offset, dice.randrange(8))] += 1
    for _ in range(11):
        offset = dice.randrange(len(sample.content(WAL)))
        outcomes[try_flip(sample, WAL, offset, dice.randrange(8))] += 1
    assert outcomes["refused"] >= 5, outcomes


HEADERS = [(DATABASE, offset) for offset in range(0, 112, 3)] + [
    (WAL, offset) for offset in range(0, 60, 3)
]


@pytest.mark.parametrize(("name", "offset"), HEADERS)
def test_a_flipped_bit_in_a_header_is_refused_or_does_not_matter(
    sample: Sample, name: str, offset: int
) -> None:
    try_flip(sample, name, offset, offset % 8)


def test_the_real_command_refuses_a_damaged_log_too(sample: Sample) -> None:
    offset = places_of(sample, DATABASE, CHOSEN, 3)[1]
    board, damaged = sample.flipped(DATABASE, offset, 0)
    for words in (("status",), ("task", "add", "x"), ("task", "claim", "--next"), ("log",)):
        answer = board.corral(*words, code=1)
        assert_one_sentence(answer)
        assert "corral rebuild --from-mirror" in answer.err
    assert board.refused("status", code=1)["code"] == "log_damaged"
    assert (board.folder / DATABASE).read_bytes() == damaged
    told = board.corral("rebuild", "--from-mirror").out
    assert "the damaged files were kept in" in told
    assert board.status() == sample.status


def test_rot_that_leaves_no_trace_on_the_file_is_found_by_verify(sample: Sample) -> None:
    """A dying disk changes no time stamp; from then on nothing is built on the log."""
    board = sample.fresh()
    board.here("rebuild", code=0)  # a snapshot now covers all of the log
    path = board.folder / DATABASE
    before = path.stat()
    content = bytearray(path.read_bytes())
    content[places_of(sample, DATABASE, CHOSEN, 3)[1]] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert board.here("log", "verify").code == 1
    assert board.here("task", "add", "built on sand").code == 1
    assert board.here("rebuild").code == 1


def test_an_event_lost_from_the_end_is_missed_though_all_that_is_derived_is_gone(
    sample: Sample,
) -> None:
    """SQLite drops a damaged end of its write-ahead log without a word; the mirror remembers."""
    offset = places_of(sample, WAL, NEWEST, 3)[1]
    board, _ = sample.flipped(WAL, offset, 0)
    shutil.rmtree(board.folder / "derived")
    assert board.here("log", "verify").code == 1
    assert board.here("task", "add", "built on sand").code == 1
    board.here("rebuild", "--from-mirror", code=0)
    assert board.here("status", "--json").out == sample.status


@pytest.mark.parametrize("name", [DATABASE, WAL])
@pytest.mark.parametrize("left", [None, 0, 1000, 40_000])
def test_a_truncated_or_missing_file_is_refused_and_restored(
    sample: Sample, name: str, left: int | None
) -> None:
    board = sample.fresh()
    board.here("status", code=0)
    if left is None:
        (board.folder / name).unlink()
    else:
        with (board.folder / name).open("r+b") as file:
            file.truncate(left)
    status = board.here("status", "--json")
    if status.out != sample.status:
        added = board.here("task", "add", "built on sand")
        assert status.code != 0, status
        assert added.code != 0, added
        assert "corral rebuild --from-mirror" in added.err, added
        board.here("rebuild", "--from-mirror", code=0)
        assert board.here("status", "--json").out == sample.status


@pytest.mark.parametrize("name", ["seal", "mirrored", "snapshot"])
@pytest.mark.parametrize("place", [0, 1, 5, 40])
def test_damage_to_what_is_derived_changes_nothing(sample: Sample, name: str, place: int) -> None:
    board = sample.fresh()
    board.here("rebuild", code=0)
    path = board.folder / "derived" / name
    if not path.exists():
        path.write_bytes(b"nonsense" * 10)
    content = bytearray(path.read_bytes())
    content[min(place, len(content) - 1)] ^= 1
    path.write_bytes(content)
    assert board.here("status", "--json").out == sample.status
    assert board.here("log", "verify").code == 0
    path.write_bytes(b"")
    assert board.here("status", "--json").out == sample.status
    board.here("task", "comment", "AF-1", "work goes on", code=0)
