"""From the file to the state: replay the whole log, verify it, or load a snapshot.

The floor reads the rows and does nothing with them.
"""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import apsw

from benchmarks import boards
from benchmarks.report import Figure, Target, compared, interleaved
from corral.store.sqlite import SqliteStore

_TASKS = 10_000


def run(folder: Path, *, quick: bool) -> list[Figure]:
    tasks = _TASKS // 10 if quick else _TASKS
    log = boards.large(folder / "repository", tasks)
    events = tasks * 10 + 2  # the first two create the log and the convoy
    snapshot = log / "derived" / "snapshot"
    kept = snapshot.rename(log / "snapshot.kept")

    def rows() -> None:
        connection = apsw.Connection(str(log / "log.db"), flags=apsw.SQLITE_OPEN_READWRITE)
        # A checkpoint would break the seal, and the next reader would verify the whole log.
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        found = sum(1 for _ in connection.execute("SELECT seq, line, hash FROM event"))
        connection.close()
        assert found == events

    def replay() -> None:
        snapshot.unlink(missing_ok=True)
        store = SqliteStore(str(log))
        assert store.state().seq == events
        store.close()

    def load() -> None:
        if not snapshot.exists():
            snapshot.write_bytes(kept.read_bytes())
        store = SqliteStore(str(log))
        assert store.state().seq == events
        store.close()

    def verify() -> None:
        store = SqliteStore(str(log))
        assert store.verify().seq == events
        store.close()

    sides = {"read the rows": rows, "replay": replay, "verify": verify, "load": load}
    found = interleaved(
        {name: partial(_cpu_s, work) for name, work in sides.items()},
        3 if quick else 9,
    )
    size = f"{events:,} events, {tasks:,} tasks"
    floor = "read the rows"
    target = Target("value", "<", 0.5)
    return [
        compared(found, "replay", floor, what=f"replay {size}", unit="s CPU", target=target),
        compared(found, "verify", floor, what=f"verify {size}", unit="s CPU"),
        compared(found, "load", floor, what="open with a snapshot instead", unit="s CPU"),
    ]


def _cpu_s(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started
