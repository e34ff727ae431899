"""The merge queue: which stacks to check next, what to land, what to send back.

`plan` is pure and runs again after every event: it remembers nothing, and gives the same answer to
the same question. Its policy is called anchored lanes:

- One landing run, the *anchor*, is based on the target; more are stacked on it (*nested*) while
  they are likely to pass. A green run lands, with everything below it.
- Other slots *probe* changes on the current target, so that they can be trusted afterwards.
- A stack takes more changes while (its weight) x (its chance to pass) grows.
- After a red anchor, the next one is at most half of it, with nothing added. So within about
  log2(size) runs something lands, or one change is red alone and is sent back.
- If the failed check can be repeated on its own, a red stack is *hunted* instead: by halves from
  the bottom, so that a clash is found like a fault, while other changes land.
- A change is blamed only if it was red alone on the target, twice if it may have been a flake. If
  that happens to many in a row, or no run on the target was ever green, the target is checked alone
  first.

Considered and rejected: adding new changes to a suspect half (a good half then keeps failing
because of others), strict order (one bad change blocks all), a window that grows and shrinks with
success (the chance of each stack does that for each change).
"""

from collections.abc import Iterable

from corral.core.queue.planner import model
from corral.core.queue.planner.lanes import Lanes
from corral.core.queue.planner.learning import kind_of
from corral.core.queue.planner.model import Action, Cancel, Queue, QueuePolicy, SendBack
from corral.core.queue.planner.odds import Odds
from corral.core.queue.planner.parts import Kind, PlannedRun, QueueEntry
from corral.core.queue.planner.rates import AGAIN
from corral.core.queue.planner.timing import mean_s


def plan(queue: Queue, free_slots: int, now: int, policy: QueuePolicy) -> list[Action]:
    """Return what to do now, in this order. After a `Land`, plan again."""
    blamed, doubted, base = _judged(queue, policy)
    gone = {one.task for one in blamed}
    entries = tuple(entry for entry in queue.entries if entry.task not in gone)
    cancelled = [*_cancelled(queue, entries)]
    dropped = {one.run for one in cancelled}
    runs = tuple(run for run in queue.runs if run.id not in dropped)
    actions: list[Action] = [*blamed, *cancelled]
    landing = _landable(queue, entries, runs)
    if landing is not None:
        return [*actions, model.Land(landing.id)]
    going = [run for run in runs if not run.green]
    free = free_slots + len(dropped)
    if policy.mode == "serial":
        free = 0 if going else min(free, 1)
    if base and free > 0:
        checking = any(run.kind is Kind.BASE for run in going)
        if not checking and now >= _base_due_at(queue, policy):
            actions.append(model.Start((), Kind.BASE))
            free -= 1
        if queue.base_was(green=False):
            return actions  # every check on a red target is red: nothing to learn
    if free > 0:
        actions += _filled(queue, entries, going, doubted, free=free, now=now, policy=policy)
    return actions


def _filled(
    queue: Queue,
    entries: tuple[QueueEntry, ...],
    going: list[PlannedRun],
    doubted: dict[str, str],
    *,
    free: int,
    now: int,
    policy: QueuePolicy,
) -> list[Action]:
    """Return what to do with free slots: send back stale changes, and start runs."""
    stale = _stale(queue, policy, {*doubted, *(task for run in queue.runs for task in run.members)})
    gone = {one.task for one in stale}
    waiting = tuple(entry for entry in entries if entry.task not in gone)
    odds = Odds(queue, waiting, now, mean_s(queue.learned))
    lanes = Lanes(queue, odds, going, policy, doubted)
    actions: list[Action] = [*stale]
    actions += lanes.again(free)
    actions += lanes.hunting(free - lanes.started)
    actions += lanes.filled(free - lanes.started)
    return actions


def wake_at(queue: Queue, policy: QueuePolicy) -> int | None:
    """Return when to plan again without an event; None if only an event can help."""
    _, _, base = _judged(queue, policy)
    return _base_due_at(queue, policy) if base and queue.base_was(green=False) else None


def _judged(queue: Queue, policy: QueuePolicy) -> tuple[list[SendBack], dict[str, str], bool]:
    """Return what to send back, what needs another run (and of which), and if the base is due."""
    learned = queue.learned
    blamed: list[SendBack] = []
    doubted: dict[str, str] = {}
    base = False
    flake = learned.rates.flake
    suspect = not queue.proven or learned.red_in_a_row > policy.base_after
    for entry in queue.entries:
        runs = learned.reds.get(entry.task)
        if not runs:
            continue
        met = learned.meets(entry)
        kind = AGAIN if entry.task in learned.proofs else kind_of(entry)
        risk = 1 - (1 - learned.rates.of(kind)) * (1 - learned.rates.clash) ** len(met)
        odds = flake * (1 - risk) / (risk + flake * (1 - risk))
        if len(runs) <= policy.reruns and odds > policy.flake_odds:
            doubted[entry.task] = runs[-1]
        elif suspect and not queue.base_was(green=True):
            base = True
            doubted.setdefault(entry.task, "")
        else:
            blamed.append(SendBack(entry.task, "red", runs[-1], met))
    return blamed, doubted, base


def _base_due_at(queue: Queue, policy: QueuePolicy) -> int:
    """Return when the target may be checked alone: at once after one red, later after more."""
    base = queue.learned.base
    if base is None or base.tip != queue.tip or base.reds < 2:
        return 0
    return base.ended_at + policy.base_again_s * 1000


def _stale(queue: Queue, policy: QueuePolicy, busy: set[str]) -> list[SendBack]:
    """Return the changes that are probably broken by what landed, and that no run is checking.

    A change is sent back once per fork point: it comes back with a newer one.
    """
    if not policy.refresh or policy.mode == "serial":
        return []
    learned = queue.learned
    keeps = 1 - learned.rates.clash
    found = []
    for entry in queue.entries:
        if entry.task in busy or entry.task in learned.reds:
            continue
        if 1 - keeps ** max(0, learned.landed - entry.since) <= policy.refresh_at:
            continue  # even if all that landed since overlaps it
        met = learned.meets(entry)
        if 1 - keeps ** len(met) > policy.refresh_at:
            found.append(SendBack(entry.task, "stale", "", met))
    return found


def _cancelled(queue: Queue, entries: Iterable[QueueEntry]) -> Iterable[Cancel]:
    waiting = {entry.task for entry in entries}
    reds = queue.learned.reds
    failed = [
        set(one.members)
        for one in queue.learned.failed
        if len(one.members) > 1 or one.members[0] in reds
    ]
    for run in queue.runs:
        if run.green:
            continue
        members = set(run.members)
        if not members <= waiting:
            yield Cancel(run.id, "member-left")
        elif run.kind is Kind.HUNT and not _hunted(queue, run.members):
            yield Cancel(run.id, "moot")
        elif run.kind in (Kind.LAND, Kind.BASE) and run.tip != queue.tip:
            yield Cancel(run.id, "stale")
        elif len(members) > 1 and any(red <= members for red in failed):
            yield Cancel(run.id, "contains-red")


def _hunted(queue: Queue, part: tuple[str, ...]) -> bool:
    """Say whether a hunt in this part of a red stack still has something to show."""
    if part[0] in queue.learned.reds:
        return True
    return any(
        part in (one.members[: len(part)], one.members[-1:]) and not one.apart
        for one in queue.learned.failed
    )


def _landable(
    queue: Queue, entries: Iterable[QueueEntry], runs: Iterable[PlannedRun]
) -> PlannedRun | None:
    """Return the largest green run; a probe only while no landing run is running."""
    needs = {entry.task: entry.needs for entry in entries}
    busy = any(run.kind is Kind.LAND and not run.green for run in runs)
    kinds = (Kind.LAND,) if busy else (Kind.LAND, Kind.PROBE)
    fitting = [
        run
        for run in runs
        if run.green and run.tip == queue.tip and run.kind in kinds
        if run.members and needs.keys() >= set(run.members)
        # A dependency may have been added to it later.
        if not any(needs[task] - set(run.members[:at]) for at, task in enumerate(run.members))
    ]
    return max(fitting, key=lambda run: len(run.members), default=None)
