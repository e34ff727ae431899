"""How soon a follower sees the events of another process, and what waiting costs.

The latency runs from the return of the appender's transaction to the moment when the follower has
the event. Both read the monotonic clock, which all processes of a machine share.
"""

import random
import time
from pathlib import Path
from statistics import median, quantiles

from benchmarks import boards
from benchmarks.processes import Ready, together
from benchmarks.report import Figure, Target
from corral.core.log.events import TaskCommented
from corral.store.port import Request, follow
from corral.store.sqlite import SqliteStore

_EVENTS = 300
_IDLE_S = 2.0
_PAUSES_S = (0.005, 0.020)

Times = dict[int, int]


def run(folder: Path, *, quick: bool) -> list[Figure]:
    count = 50 if quick else _EVENTS
    log = str(folder / "log")
    store = SqliteStore(log)
    boards.small(store, 10)
    last = store.state().seq
    store.close()
    found: dict[str, Times] = dict(together(2, _work, log, last, count))
    latencies = [
        max(0, found["seen"][seq] - appended) / 1e6 for seq, appended in found["appended"].items()
    ]
    what = f"{count} events of another process"
    return [
        Figure(what=f"{what}, p50", value=median(latencies), unit="ms"),
        Figure(
            what=f"{what}, p99",
            value=quantiles(latencies, n=100, method="inclusive")[98],
            unit="ms",
            target=Target("value", "<", 50),
        ),
        Figure(what=f"{what}, slowest", value=max(latencies), unit="ms"),
        _idle(log),
    ]


def _work(ready: Ready, number: int, log: str, last: int, count: int) -> tuple[str, Times]:
    store = SqliteStore(log)
    store.state()
    ready()
    times = _see(store, last, count) if number else _append(store, count)
    store.close()
    return "seen" if number else "appended", times


def _append(store: SqliteStore, count: int) -> Times:
    said = [TaskCommented(task=boards.task_id(1), text="still at it")]
    request = Request("bench", lambda state, now: said, lambda state, stored: stored[-1].seq)
    times = {}
    for _ in range(count):
        time.sleep(random.uniform(*_PAUSES_S))
        seq = store.transaction(request)
        times[seq] = time.monotonic_ns()
    return times


def _see(store: SqliteStore, last: int, count: int) -> Times:
    times = {}
    for stored in follow(store, last):
        times[stored.seq] = time.monotonic_ns()
        if stored.seq == last + count:
            break
    return times


def _idle(log: str) -> Figure:
    """Measure the processor time of a follower while nothing happens."""
    store = SqliteStore(log)
    last = store.state().seq
    store.wait(last, 0.01)
    started, began = time.monotonic(), time.process_time()
    store.wait(last, _IDLE_S)
    used_s, passed_s = time.process_time() - began, time.monotonic() - started
    store.close()
    return Figure(
        what="an idle follower",
        value=used_s / passed_s * 100,
        unit="% of a core",
        target=Target("value", "<", 1),
    )
