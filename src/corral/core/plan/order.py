"""Waves and the critical path: what can run at the same time, and the minimum duration."""

from msgspec import Struct

from corral.core.plan.edges import Graph
from corral.core.plan.schema import Plan


class Critical(Struct, frozen=True):
    """The longest chain of tasks that wait for each other."""

    keys: tuple[str, ...]
    length: int
    unit: str  # minutes, if every task has an estimate; else tasks


def waves(graph: Graph) -> tuple[tuple[str, ...], ...]:
    """Return the tasks in waves: each wave depends only on earlier ones."""
    needs = _needs(graph)
    wave: dict[str, int] = {}
    for key in graph.rank:
        wave[key] = 1 + max((wave[need] for need in needs[key]), default=-1)
    found: list[list[str]] = [[] for _ in range(max(wave.values(), default=-1) + 1)]
    for key, number in wave.items():
        found[number].append(key)
    return tuple(map(tuple, found))


def critical(plan: Plan, graph: Graph) -> Critical:
    """Return the longest chain, by minutes or by the number of tasks."""
    minutes = {task.key: task.minutes for task in plan.tasks}
    timed = bool(minutes) and all(minutes.values())
    needs = _needs(graph)
    longest: dict[str, int] = {}
    before: dict[str, str] = {}
    for key in graph.rank:
        latest = max(needs[key], key=longest.__getitem__, default="")
        before[key] = latest
        longest[key] = (minutes[key] if timed else 1) + longest.get(latest, 0)
    trail: list[str] = []
    at = max(longest, key=longest.__getitem__, default="")
    length = longest.get(at, 0)
    while at:
        trail.append(at)
        at = before[at]
    return Critical(tuple(reversed(trail)), length, "minutes" if timed else "tasks")


def _needs(graph: Graph) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {key: [] for key in graph.rank}
    for edge in graph.edges:
        found[edge.task].append(edge.need)
    return found
