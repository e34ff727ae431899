"""Many processes claim from one board, each with its own commits: how fast, and how fairly.

The peer is one process that claims alone.
"""

import time
from pathlib import Path

from msgspec import Struct

from benchmarks import boards
from benchmarks.processes import Ready, together
from benchmarks.report import Figure, Target, compared
from corral.core.board.commands import ClaimTask
from corral.core.errors import NotFound
from corral.store.service import perform
from corral.store.sqlite import SqliteStore

_CLAIMERS = 30
_TASKS = 1000
_CROWD, _ALONE = "30 claimers", "one claimer"


class _Share(Struct, frozen=True):
    claimed: int
    start: float
    end: float


def run(folder: Path, *, quick: bool) -> list[Figure]:
    rounds, tasks = (1, _TASKS // 2) if quick else (3, _TASKS)
    rates: dict[str, list[float]] = {_CROWD: [], _ALONE: []}
    fairness = []
    for number in range(rounds):
        for name, count in ((_CROWD, _CLAIMERS), (_ALONE, 1)):
            shares = _race(folder / f"{number}-{count}", count, tasks)
            span_s = max(share.end for share in shares) - min(share.start for share in shares)
            rates[name].append(tasks / span_s)
            if count > 1:
                claimed = [share.claimed for share in shares]
                fairness.append(min(claimed) / max(claimed))
    return [
        compared(rates, _CROWD, _ALONE, what=f"{_CROWD}, {tasks:,} tasks", unit="claims/s"),
        Figure(
            what=f"least served to most served claimer, worst of {rounds}",
            value=min(fairness),
            unit="",
            target=Target("value", ">=", 0.5),
        ),
    ]


def _race(folder: Path, claimers: int, tasks: int) -> list[_Share]:
    store = SqliteStore(str(folder))
    boards.small(store, tasks)
    shares = together(claimers, _claim_all, str(folder))
    held = {task.claim.holder for task in store.state().tasks.values() if task.claim}
    store.close()
    assert sum(share.claimed for share in shares) == tasks
    assert len(held) == sum(1 for share in shares if share.claimed)
    return shares


def _claim_all(ready: Ready, number: int, folder: str) -> _Share:
    store = SqliteStore(folder)
    store.state()
    claimed = 0
    ready()
    start = end = time.monotonic()
    while _claimed(store, f"agent-{number}"):
        claimed += 1
        end = time.monotonic()
    store.close()
    return _Share(claimed, start, end)


def _claimed(store: SqliteStore, name: str) -> bool:
    try:
        perform(store, ClaimTask(), name, lambda state, stored: None)
    except NotFound:
        return False
    return True
