"""Drives the real `corral.core.queue` in a simulated world, in place of the refinery."""

from msgspec.structs import replace

from benchmarks.queue_world import Check, World
from corral.core.queue.planner.learning import Learned
from corral.core.queue.planner.model import (
    Cancel,
    Hunt,
    Land,
    Queue,
    QueuePolicy,
    Rerun,
    SendBack,
    Start,
)
from corral.core.queue.planner.parts import CheckOutcome, Kind, PlannedRun, QueueEntry
from corral.core.queue.planner.plan import plan


class Corral:
    def __init__(self, world: World, policy: QueuePolicy, *, hints: bool = True) -> None:
        self._world = world
        self._policy = policy
        self._hints = hints
        self._entries: dict[int, QueueEntry] = {}
        self._runs: dict[str, PlannedRun] = {}
        self._checks: dict[str, Check] = {}
        self._learned = Learned()
        self._parts: dict[str, int | None] = {}  # which check failed in a run
        self._tip = "0"
        self._order = 0
        self._pairs: frozenset[frozenset[str]] = frozenset()
        self._changed = True
        self.plans = 0

    def arrived(self, branch: int) -> None:
        world = self._world
        self._order += 1
        self._entries[branch] = QueueEntry(
            task=str(branch),
            commit=f"{branch}.{world.attempt[branch]}",
            order=self._order,
            queued_at=self._now(),
            paths=frozenset(map(str, world.paths[branch])),
            attempts=world.attempt[branch],
            since=world.since[branch],
            prechecked=not (self._hints and world.flagged(branch)),
        )
        self._changed = True

    def ended(self, check: Check) -> None:
        run = self._runs.pop(str(check.id))
        seconds = (self._now() - run.started_at) / 1000
        outcome = CheckOutcome.GREEN if check.green else CheckOutcome.RED
        self._learned = self._learned.after_run(run, outcome, seconds=seconds, ended_at=self._now())
        self._parts[run.id] = check.part
        if check.green and run.kind in (Kind.LAND, Kind.PROBE):
            self._runs[run.id] = replace(run, green=True)

    def decide(self) -> None:
        for _ in range(1000):
            self._bounce()
            if not self._carry_out():
                return
        raise RuntimeError("the plan does not settle")

    def _now(self) -> int:
        return int(self._world.now * 1000)

    def _bounce(self) -> None:
        world = self._world
        if not self._changed:
            return  # nothing arrived and nothing landed
        for branch in [b for b in self._entries if world.conflicts_with_target(b)]:
            self._send_back(branch, "conflict")

    def _send_back(self, branch: int, why: str) -> None:
        entry = self._entries.pop(branch)
        self._learned = self._learned.after_sent_back(entry, why)
        self._world.send_back(branch, conflict=why != "red")
        self._changed = True

    def _queue(self) -> Queue:
        if self._changed:
            text = self._world.text
            self._pairs = frozenset(
                frozenset((str(i), str(j)))
                for i in self._entries
                for j in text[i]
                if j < i and j in self._entries
            )
            self._changed = False
        return Queue(
            entries=tuple(self._entries.values()),
            tip=self._tip,
            runs=tuple(self._runs.values()),
            learned=self._learned,
            conflicts=self._pairs,
        )

    def _carry_out(self) -> bool:
        """Carry out one plan; return whether another one is needed."""
        world = self._world
        self.plans += 1
        again = False
        for action in plan(self._queue(), world.free(), self._now(), self._policy):
            match action:
                case Start():
                    self._start(action.members, action.kind, None)
                case Rerun():
                    part = self._parts[action.of] if action.kind is Kind.HUNT else None
                    self._start(action.members, action.kind, part)
                case Hunt():
                    self._start(action.members, Kind.HUNT, self._parts[action.of])
                case Cancel():
                    world.cancel(int(action.run))
                    del self._runs[action.run]
                case SendBack():
                    self._send_back(int(action.task), action.why)
                case Land():
                    self._land(self._runs[action.run])
                    again = True
        return again

    def _start(self, members: tuple[str, ...], kind: Kind, part: int | None) -> None:
        check = self._world.start([int(task) for task in members], part)
        self._runs[str(check.id)] = PlannedRun(str(check.id), members, self._tip, kind, self._now())

    def _land(self, run: PlannedRun) -> None:
        members = [int(task) for task in run.members]
        self._world.land(members)
        tip = str(len(self._world.landed))
        landed = [self._entries.pop(branch) for branch in members]
        self._learned = self._learned.after_landed(landed, tip)
        runs = (one.after_landing(run, tip) for one in self._runs.values() if one.id != run.id)
        # A green run that can no longer land has nothing more to tell.
        self._runs = {one.id: one for one in runs if not one.green or one.tip == tip}
        self._tip = tip
        self._changed = True
        assert all(one.kind is not Kind.BASE or not one.members for one in self._runs.values())
