"""Runs merge queues over a grid of loads in a simulated world, and summarizes the results.

The time to land counts from the first hand-in and includes all returns. For each load, the mean
over its seeds is divided by the oracle's. The result is the geometric mean of these ratios, so that
no load counts more than another.
"""

import multiprocessing
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from statistics import fmean, geometric_mean

from msgspec import Struct

from benchmarks.queue_lanes import Corral
from benchmarks.queue_peers import Bisect, Oracle, Serial, Windows
from benchmarks.queue_world import Load, MergeQueue, Result, World
from corral.core.queue.planner.model import POLICIES, QueuePolicy

ORACLE = "oracle"
PEERS = ("serial", "bors", "zuul")
_PROCESSES = 2

GRID = tuple(
    Load(branches, slots, bad, clash, flake)
    for branches, bad, clash, slots, flake in product(
        (50, 200), (0.02, 0.1, 0.3), (0.0, 0.05, 0.2), (1, 2, 4, 8), (0.0, 0.02)
    )
)
TYPICAL = tuple(
    Load(branches, slots, 0.05, 0.01, 0.02)
    for branches, slots in ((10, 1), (30, 2), (50, 2), (50, 4), (100, 4), (200, 4))
)


class Sum(Struct, frozen=True):
    """The results of a queue for one load, over all seeds."""

    mean: float
    p95: float
    runs: float
    red: int
    innocent: float
    escalated: float
    stuck: int


Sums = dict[tuple[str, Load], Sum]


def simulate(name: str, load: Load, seed: int) -> Result:
    """Run one queue in one world."""
    world = World(load, seed)
    return world.run(_queue(name, world))


def _queue(name: str, world: World) -> MergeQueue:
    match name:
        case "serial":
            return Serial(world)
        case "bors":
            return Bisect(world)
        case "zuul":
            return Windows(world)
        case "oracle":
            return Oracle(world)
        case "lanes":
            return Corral(world, POLICIES["lanes"])
        case "lanes-np":
            return Corral(world, POLICIES["lanes"], hints=False)
        case "corral-serial":
            return Corral(world, POLICIES["serial"])
        case "lanes+":  # for tests only: the refinery cannot do this
            world.early_warning = True
            return Corral(world, QueuePolicy(refresh=True, hunt_cost=0.25))
        case _:
            raise ValueError(f"there is no queue {name!r}")


def sums(
    names: Sequence[str], loads: Iterable[Load], first_seed: int, seeds: int, seeds_of_200: int
) -> Sums:
    """Run all queues in all loads; the seeds are the same for each."""
    jobs = [
        (name, load, seed)
        for load in sorted(loads, key=lambda one: -one.branches)
        for seed in range(first_seed, first_seed + (seeds_of_200 if load.branches > 100 else seeds))
        for name in names
    ]
    # A new interpreter for each, because the caller may have threads.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(_PROCESSES, context) as pool:
        results = list(pool.map(_simulate, jobs, chunksize=4))
    found: dict[tuple[str, Load], list[Result]] = {}
    for (name, load, _), result in zip(jobs, results, strict=True):
        found.setdefault((name, load), []).append(result)
    return {key: _summed(results) for key, results in found.items()}


def _simulate(job: tuple[str, Load, int]) -> Result:
    return simulate(*job)


def _summed(results: Sequence[Result]) -> Sum:
    return Sum(
        mean=fmean(fmean(one.minutes) for one in results),
        p95=fmean(sorted(one.minutes)[int(0.95 * len(one.minutes))] for one in results),
        runs=fmean(one.runs / len(one.minutes) for one in results),
        red=sum(one.red for one in results),
        innocent=fmean(one.innocent for one in results),
        escalated=fmean(one.escalated for one in results),
        stuck=sum(one.stuck for one in results),
    )


def ratio(found: Sums, name: str, loads: Iterable[Load], peer: str = ORACLE) -> float:
    """Return the mean time to land as a multiple of another queue's, over these loads."""
    return geometric_mean(found[name, load].mean / found[peer, load].mean for load in loads)


def table(found: Sums, names: Sequence[str], loads: Sequence[Load]) -> str:
    """Return one row for each queue, as Markdown."""
    rows = [
        "| queue | mean, × oracle | p95, × oracle's mean | runs per landing | red | innocent "
        "| escalated | stuck |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name in names:
        mine = [found[name, load] for load in loads]
        p95 = geometric_mean(found[name, one].p95 / found[ORACLE, one].mean for one in loads)
        rows.append(
            f"| {name} | {ratio(found, name, loads):.2f} | {p95:.1f} "
            f"| {fmean(one.runs for one in mine):.2f} | {sum(one.red for one in mine)} "
            f"| {fmean(one.innocent for one in mine):.2f} "
            f"| {fmean(one.escalated for one in mine):.1f} | {sum(one.stuck for one in mine)} |"
        )
    return "\n".join(rows)


def regimes(found: Sums, names: Sequence[str]) -> str:
    """Return the ratios to the oracle, by number of branches and rate of conflicts."""
    cells = sorted({(load.branches, load.clash) for load in GRID}, key=lambda one: (one[1], one[0]))
    rows = ["| | " + " | ".join(f"{many} branches, q={clash:g}" for many, clash in cells) + " |"]
    rows.append("|---|" + "--:|" * len(cells))
    for name in names:
        parts = [
            ratio(found, name, [one for one in GRID if (one.branches, one.clash) == cell])
            for cell in cells
        ]
        rows.append(f"| {name} | " + " | ".join(f"{part:.1f}" for part in parts) + " |")
    return "\n".join(rows)


def minutes(found: Sums, names: Sequence[str], loads: Sequence[Load]) -> str:
    """Return mean / p95 / runs per landing of each queue in each load."""
    rows = ["| branches, slots | " + " | ".join(names) + " |", "|---|" + "--:|" * len(names)]
    for load in loads:
        parts = [found[name, load] for name in names]
        rows.append(
            f"| {load.branches}, {load.slots} | "
            + " | ".join(f"{one.mean:.0f} / {one.p95:.0f} / {one.runs:.2f}" for one in parts)
            + " |"
        )
    return "\n".join(rows)


def losses(found: Sums, name: str, peers: Sequence[str], loads: Iterable[Load]) -> list[str]:
    """Return the loads in which another queue is more than a tenth faster."""
    said = []
    for load in loads:
        best = min(peers, key=lambda peer: found[peer, load].mean)
        times = found[name, load].mean / found[best, load].mean
        if times > 1.1:
            said.append(
                f"{load.branches} branches, {load.slots} slots, p={load.bad:g}, q={load.clash:g}, "
                f"f={load.flake:g}: {times:.2f} × {best}"
            )
    return said


def main() -> None:
    """Print every table of `docs/benchmarks.md`: `python -m benchmarks.queue_simulation [SEED]`."""
    first = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    names = [*PEERS, "lanes", ORACLE]
    typical = sums([*names, "lanes-np"], TYPICAL, first, 24, 6)
    print(minutes(typical, [*PEERS, "lanes-np", "lanes", ORACLE], TYPICAL), flush=True)
    found = sums(names, GRID, first, 3, 1)
    print(table(found, names, GRID), regimes(found, names), sep="\n\n", flush=True)
    print("\nlanes loses to a peer in:", *losses(found, "lanes", PEERS, GRID), sep="\n")


if __name__ == "__main__":
    main()
