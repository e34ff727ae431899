"""Durable appends: 32 producers through one writer, against two plain files.

With an fsync of 5 ms, the floor is a raw group commit. At the disk's own speed, the peer is the
same group commit to a plain file, with the same work for each event.
"""

import threading
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks import boards
from benchmarks.plain import PlainFileStore, RawFile
from benchmarks.processes import Ready, together
from benchmarks.report import Figure, Target, compared, interleaved
from benchmarks.slow import SlowVfs, Syncs
from corral.core.board.commands import CommentTask
from corral.core.board.rules import decide
from corral.store.port import Request, Store
from corral.store.sqlite import SqliteStore
from corral.store.writer import Writer

PRODUCERS = 32
SLOW_S = 0.005

_TASKS = 1000
_TEXT = "the first half is done and its tests pass; the second half comes next, then the docs"
_LINE = b"x" * 199 + b"\n"

Append = Callable[[int, int], object]


def run(folder: Path, *, quick: bool) -> list[Figure]:
    rounds, each = (3, 20) if quick else (9, 100)
    return [
        *_slowed(folder / "slow", rounds, each),
        *_unslowed(folder / "own", 2 * rounds, each),
        _by_processes(folder / "processes", each // 5),
    ]


def _slowed(folder: Path, rounds: int, each: int) -> list[Figure]:
    folder.mkdir()
    ours, theirs = Syncs(SLOW_S), Syncs(SLOW_S)
    vfs = SlowVfs("corral-slow", ours)
    store = SqliteStore(str(folder / "sqlite"), vfs="corral-slow")
    boards.small(store, _TASKS)
    raw, writer = RawFile(folder / "raw", theirs), Writer(store)
    ours.count = theirs.count = 0
    found = interleaved(
        {
            "Corral": lambda: _rate(_comment(writer), each),
            "raw group commit": lambda: _rate(lambda *_: raw.append(_LINE), each),
        },
        rounds,
    )
    events = (rounds + 1) * each * PRODUCERS
    writer.close()
    raw.close()
    store.close()
    vfs.unregister()
    return [
        compared(
            found,
            "Corral",
            "raw group commit",
            what="32 producers, fsync 5 ms",
            unit="events/s",
            target=Target("ratio", ">=", 0.6),
        ),
        Figure(
            what="the same, events per fsync",
            value=events / ours.count,
            unit="events",
            peer="raw group commit",
            peer_value=events / theirs.count,
            ratio=theirs.count / ours.count,
        ),
    ]


def _unslowed(folder: Path, rounds: int, each: int) -> list[Figure]:
    folder.mkdir()
    syncs = Syncs()
    stores: list[Store] = [
        SqliteStore(str(folder / "sqlite")),
        PlainFileStore(folder / "plain", syncs),
    ]
    for store in stores:
        boards.small(store, _TASKS)
    raw = RawFile(folder / "raw", Syncs())
    ours, theirs = (Writer(store) for store in stores)
    syncs.count = 0
    found = interleaved(
        {
            "Corral": lambda: _rate(_comment(ours), each),
            "the same to a plain file": lambda: _rate(_comment(theirs), each),
            "raw group commit": lambda: _rate(lambda *_: raw.append(_LINE), each),
        },
        rounds,
    )
    for door in (ours, theirs, raw):
        door.close()
    for store in stores:
        store.close()
    what = "32 producers, real fsync"
    return [
        compared(
            found,
            "Corral",
            "the same to a plain file",
            what=what,
            unit="events/s",
            target=Target("ratio", ">=", 0.8),
        ),
        compared(found, "Corral", "raw group commit", what=what, unit="events/s"),
        Figure(
            what="the same to a plain file, events per fsync",
            value=(rounds + 1) * each * PRODUCERS / syncs.count,
            unit="events",
        ),
    ]


def _by_processes(folder: Path, each: int) -> Figure:
    store = SqliteStore(str(folder))
    boards.small(store, _TASKS)
    store.close()
    spans = together(PRODUCERS, _alone, str(folder), each)
    span_s = max(end for _, end in spans) - min(start for start, _ in spans)
    return Figure(
        what="32 processes without a writer",
        value=PRODUCERS * each / span_s,
        unit="events/s",
    )


def _alone(ready: Ready, number: int, folder: str, each: int) -> tuple[float, float]:
    """Append from one process; return when it began and ended, by the shared clock."""
    store = SqliteStore(folder)
    store.state()
    comment = _comment(store)
    ready()
    start = time.monotonic()
    for count in range(each):
        comment(number, count)
    end = time.monotonic()
    store.close()
    return start, end


def _comment(door: Store | Writer) -> Append:
    """Return a function that comments on one of the tasks."""

    def append(producer: int, number: int) -> None:
        task = boards.task_id((number * PRODUCERS + producer) % _TASKS + 1)
        command, actor = CommentTask(task=task, text=_TEXT), f"agent-{producer}"
        door.transaction(
            Request(
                actor,
                lambda state, now: decide(state, command, actor, now),
                lambda state, stored: stored[-1].seq,
            )
        )

    return append


def _rate(append: Append, each: int) -> float:
    """Let all producers append at once; return events per second."""
    barrier = threading.Barrier(PRODUCERS + 1)

    def produce(producer: int) -> None:
        barrier.wait()
        for number in range(each):
            append(producer, number)

    threads = [threading.Thread(target=produce, args=(n,)) for n in range(PRODUCERS)]
    for thread in threads:
        thread.start()
    barrier.wait()
    started = time.monotonic()
    for thread in threads:
        thread.join()
    return PRODUCERS * each / (time.monotonic() - started)
