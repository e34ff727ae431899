"""The merge queue in a simulated world, compared with other queues and with an oracle.

`queue_world` is the world, and `queue_peers` has the other queues. This module measures the figures
that have a target; `python -m benchmarks.queue_simulation` prints the complete tables.
"""

import random
import time
from pathlib import Path
from statistics import median

from benchmarks.queue_simulation import (
    GRID,
    ORACLE,
    PEERS,
    TYPICAL,
    ratio,
    sums,
)
from benchmarks.queue_world import Load
from benchmarks.report import Figure, Target
from corral.core.queue.planner.learning import Learned
from corral.core.queue.planner.model import POLICIES, Queue
from corral.core.queue.planner.parts import QueueEntry
from corral.core.queue.planner.plan import plan

_LIGHT = [load for load in GRID if load.branches == 50][4::9]
QUICK = (*_LIGHT, Load(200, 4, 0.02, 0.0, 0.02), Load(200, 2, 0.02, 0.05, 0.0))
_FIRST_SEED = 1  # the queue was tuned with seeds from 1000 upwards
_BUSY = TYPICAL[2]


def run(folder: Path, *, quick: bool) -> list[Figure]:
    loads = QUICK if quick else GRID
    found = sums([*PEERS, "lanes", ORACLE], loads, _FIRST_SEED, *((1, 1) if quick else (3, 1)))
    typical = sums(["serial", "lanes"], [_BUSY], _FIRST_SEED, 6 if quick else 24, 1)
    best = min(PEERS, key=lambda name: ratio(found, name, loads))
    ours = [found["lanes", load] for load in loads]
    busy, serial = typical["lanes", _BUSY].mean, typical["serial", _BUSY].mean
    return [
        Figure(
            what=f"time to land, {len(loads)} loads",
            value=ratio(found, "lanes", loads),
            unit="× oracle",
            peer=f"{best}, the best peer",
            peer_value=ratio(found, best, loads),
            ratio=ratio(found, "lanes", loads, best),
            target=Target("value", "<=", 5.2),
        ),
        _planning(),
        Figure(
            what="time to land, 50 branches, 2 slots, p=.05 q=.01 f=.02",
            value=busy,
            unit="min",
            peer="serial",
            peer_value=serial,
            ratio=busy / serial,
            target=Target("value", "<=", 20),
        ),
        Figure(
            what="landings that broke the target",
            value=sum(one.red for one in ours),
            unit="",
            target=Target("value", "<=", 0),
        ),
        Figure(
            what="worlds in which a change was left over",
            value=sum(one.stuck for one in ours),
            unit="",
            target=Target("value", "<=", 0),
        ),
    ]


def _planning() -> Figure:
    """Measure one plan: 200 changes waiting, 300 landed since they forked, 4 free slots."""
    chance = random.Random(1)
    entries = [
        QueueEntry(
            task=f"A-{number}",
            commit=f"c{number}",
            order=number,
            queued_at=0,
            paths=frozenset(chance.sample([f"src/{file}.py" for file in range(60)], 4)),
        )
        for number in range(500)
    ]
    waiting = entries[300:]
    tasks = [entry.task for entry in waiting]
    pairs = [frozenset((chance.choice(tasks), chance.choice(tasks))) for _ in range(400)]
    queue = Queue(
        entries=tuple(waiting),
        tip="t300",
        learned=Learned().after_landed(entries[:300], "t300"),
        conflicts=frozenset(pair for pair in pairs if len(pair) == 2),
    )
    took = []
    for _ in range(30):
        start = time.process_time()
        plan(queue, 4, 600_000, POLICIES["lanes"])
        took.append(time.process_time() - start)
    return Figure(
        what="a plan of 200 changes, 4 free slots",
        value=1000 * median(took),
        unit="ms CPU",
        target=Target("value", "<=", 5),
    )
