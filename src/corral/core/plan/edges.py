"""Dependencies between tasks: those that a plan states, and those inferred from its paths.

Guarantees: an inferred dependency never makes a cycle, never repeats what others already imply, and
has a reason that is kept with the task. Expects a plan without errors.
"""

import heapq
from collections import defaultdict
from collections.abc import Sequence

from msgspec import Struct

from corral.core import paths
from corral.core.plan.modules import tested
from corral.core.plan.schema import Plan, TaskPlan


class Edge(Struct, frozen=True):
    """`task` waits for `need`. Without a reason, the plan states it."""

    task: str
    need: str
    reason: str = ""


class PathOverlap(Struct, frozen=True):
    """Two tasks that may change the same path; `first` is the earlier one in the plan's order."""

    first: str
    second: str
    paths: tuple[str, str]


class Graph(Struct, frozen=True):
    edges: tuple[Edge, ...]
    rank: tuple[str, ...]  # the keys in an order in which they could be done one at a time
    overlaps: tuple[PathOverlap, ...]  # of tasks that may still run at the same time

    def needs(self, key: str) -> list[Edge]:
        return [edge for edge in self.edges if edge.task == key]


def graph_of(plan: Plan, started: frozenset[str] = frozenset()) -> Graph:
    """Return the stated and the inferred dependencies of all tasks.

    Started tasks come first, because they can no longer wait.
    """
    tasks = plan.tasks
    work = _Work(tasks, started)
    if plan.policy.tests == "after":
        for after, before, reason in tested(tasks):
            work.infer(after, before, reason)
    rank = work.ranked()
    left = _order(plan, work, rank)
    edges = tuple(
        Edge(tasks[task].key, tasks[need].key, reason)
        for task, needs in enumerate(work.needs)
        for need, reason in needs.items()
    )
    return Graph(edges, tuple(tasks[number].key for number in rank), tuple(left))


def _order(plan: Plan, work: "_Work", rank: list[int]) -> list[PathOverlap]:
    """Make overlapping tasks wait for each other in rank order; return those that need not."""
    tasks, left = plan.tasks, list[PathOverlap]()
    place = {task: at for at, task in enumerate(rank)}
    common = _overlapping(tasks, place)
    above = [0] * len(tasks)
    for second in rank:
        for need in work.needs[second]:
            above[second] |= above[need] | 1 << need
        # Nearest first: most earlier ones are then implied.
        for first in sorted(common[second], key=place.__getitem__, reverse=True):
            if above[second] >> first & 1:
                continue
            pair = common[second][first]
            one, other = tasks[first], tasks[second]
            if plan.policy.overlap == "allow" or one.key in other.beside or other.key in one.beside:
                left.append(PathOverlap(one.key, other.key, pair))
            else:
                same = f"both may change {pair[0]}" if pair[0] == pair[1] else ""
                work.needs[second][first] = same or f"{pair[0]} and {pair[1]} overlap"
                above[second] |= above[first] | 1 << first
    return left


def _overlapping(
    tasks: Sequence[TaskPlan], place: dict[int, int]
) -> dict[int, dict[int, tuple[str, str]]]:
    """Return, for each task, the earlier ones that may change the same path, with the patterns.

    Patterns can only overlap if the fixed beginning of one is a prefix of the other's.
    """
    holders, by_start = _patterns(tasks)
    found: dict[int, dict[int, tuple[str, str]]] = defaultdict(dict)
    for pattern, owners in holders.items():
        start = paths.fixed(pattern)
        near = (other for n in range(len(start) + 1) for other in by_start.get(start[:n], ()))
        for other in near:
            if pattern != other and not paths.overlaps(pattern, other):
                continue
            for one in owners:
                for two in holders[other]:
                    if one != two:
                        late = place[one] > place[two]
                        first, second = (two, one) if late else (one, two)
                        pair = (other, pattern) if late else (pattern, other)
                        found[second].setdefault(first, pair)
    return found


def comparisons(tasks: Sequence[TaskPlan]) -> int:
    """Return how many pairs of patterns must be compared to find all overlaps."""
    holders, by_start = _patterns(tasks)
    starts = map(paths.fixed, holders)
    return sum(len(by_start.get(s[:n], ())) for s in starts for n in range(len(s) + 1))


def _patterns(
    tasks: Sequence[TaskPlan],
) -> tuple[dict[str, list[int]], dict[tuple[str, ...], list[str]]]:
    """Return the tasks of each pattern, and the patterns by their fixed beginnings."""
    holders: dict[str, list[int]] = defaultdict(list)
    for number, task in enumerate(tasks):
        for pattern in dict.fromkeys(paths.normal(path.strip()) for path in task.paths):
            holders[pattern].append(number)
    by_start: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for pattern in holders:
        by_start[paths.fixed(pattern)].append(pattern)
    return holders, by_start


class _Work:
    """The dependencies of tasks by number, while they are collected."""

    def __init__(self, tasks: Sequence[TaskPlan], started: frozenset[str]) -> None:
        self._tasks = tasks
        self._started = started
        number = {task.key: n for n, task in enumerate(tasks)}
        self.needs: list[dict[int, str]] = [
            {number[need]: "" for need in task.needs if need in number} for task in tasks
        ]

    def infer(self, task: int, need: int, reason: str) -> None:
        """Make one task wait for the other, unless they are ordered already."""
        if self._tasks[task].key in self._started:
            return
        if task != need and not self._waits(task, need) and not self._waits(need, task):
            self.needs[task][need] = reason

    def _waits(self, task: int, need: int) -> bool:
        seen, waiting = set[int](), [task]
        while waiting:
            for other in self.needs[waiting.pop()]:
                if other == need:
                    return True
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
        return False

    def ranked(self) -> list[int]:
        """Order the tasks: by dependencies, then priority, then position in the plan."""
        waits = [len(needs) for needs in self.needs]
        then: dict[int, list[int]] = defaultdict(list)
        for task, needs in enumerate(self.needs):
            for need in needs:
                then[need].append(task)
        ready = [self._urgency(task) for task, count in enumerate(waits) if not count]
        heapq.heapify(ready)
        rank: list[int] = []
        while ready:
            task = heapq.heappop(ready)[-1]
            rank.append(task)
            for other in then[task]:
                waits[other] -= 1
                if not waits[other]:
                    heapq.heappush(ready, self._urgency(other))
        return rank

    def _urgency(self, task: int) -> tuple[bool, int, int]:
        return self._tasks[task].key not in self._started, -self._tasks[task].priority, task
