"""A small random world that carries out plans and checks each of them."""

import random
from itertools import count

from msgspec import Struct
from msgspec.structs import replace

from corral.core.queue.planner.learning import Learned
from corral.core.queue.planner.model import (
    Action,
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

MINUTE = 60_000


class Truth(Struct):
    """Which changes are bad, which ones clash, and how often a check is wrong."""

    bad: frozenset[str] = frozenset()
    clashes: frozenset[frozenset[str]] = frozenset()
    lies: float = 0.0

    def good(self, tasks: set[str]) -> bool:
        return not tasks & self.bad and not any(pair <= tasks for pair in self.clashes)


class SimulatedQueue:
    def __init__(
        self,
        policy: QueuePolicy,
        truth: Truth,
        *,
        slots: int = 2,
        chance: random.Random | None = None,
    ) -> None:
        self.policy, self.truth, self.slots = policy, truth, slots
        self.chance = chance or random.Random(0)
        self.entries: dict[str, QueueEntry] = {}
        self.conflicts: frozenset[frozenset[str]] = frozenset()
        self.runs: dict[str, PlannedRun] = {}
        self.learned = Learned()
        self.tips = ["t0"]
        self.now = 0
        self.landed: list[str] = []
        self.left: set[str] = set()
        self.sent_back: list[SendBack] = []
        self.green: set[tuple[str, tuple[str, ...]]] = set()  # exact stacks that were green
        self.red_alone: set[tuple[str, str]] = set()  # task and run
        self.starts: list[Start | Hunt | Rerun] = []
        self.idle_runs = 0  # full runs since something landed or was sent back
        self._ids = count(1)

    @property
    def tip(self) -> str:
        return self.tips[-1]

    @property
    def going(self) -> list[PlannedRun]:
        return [run for run in self.runs.values() if not run.green]

    def add(self, entry: QueueEntry) -> None:
        self.entries[entry.task] = entry

    def leave(self, task: str) -> None:
        del self.entries[task]
        self.left.add(task)
        self.learned = self.learned.after_left(task)

    def queue(self) -> Queue:
        return Queue(
            entries=tuple(self.entries.values()),
            tip=self.tip,
            runs=tuple(self.runs.values()),
            learned=self.learned,
            conflicts=self.conflicts,
        )

    def plan(self) -> list[Action]:
        queue, free = self.queue(), self.slots - len(self.going)
        found = plan(queue, free, self.now, self.policy)
        assert plan(queue, free, self.now, self.policy) == found
        return found

    def settle(self) -> None:
        """Carry out plans until nothing is left to do now."""
        for _ in range(200):
            actions = self.plan()
            if not actions:
                return
            self._check(actions)
            for action in actions:
                self._do(action)
            assert len(self.going) <= self.slots
        raise AssertionError("the plan does not settle")

    def end(self, run: PlannedRun, outcome: CheckOutcome | None = None) -> None:
        """Let a run end, as the truth says if not told otherwise."""
        self.now += MINUTE
        assert run.tip in self.tips
        below = {*self.landed_before(run.tip), *run.members}
        lied = self.chance.random() < self.truth.lies
        green = self.truth.good(below) and not lied
        found = outcome or (CheckOutcome.GREEN if green else CheckOutcome.RED)
        del self.runs[run.id]
        self.learned = self.learned.after_run(run, found, seconds=60.0, ended_at=self.now)
        self.idle_runs += 1
        if found is CheckOutcome.GREEN and run.kind in (Kind.LAND, Kind.PROBE):
            self.green.add((run.tip, run.members))
            self.runs[run.id] = replace(run, green=True)
        elif found is CheckOutcome.RED and len(run.members) == 1:
            self.red_alone.add((run.members[0], run.id))

    def landed_before(self, tip: str) -> list[str]:
        return self.landed[: int(tip[1:])]

    def _check(self, actions: list[Action]) -> None:
        cancelled = {one.run for one in actions if isinstance(one, Cancel)}
        sent = {one.task for one in actions if isinstance(one, SendBack)}
        started = [one for one in actions if isinstance(one, Start | Rerun | Hunt)]
        assert len(self.going) - len(cancelled) + len(started) <= max(self.slots, len(self.going))
        for one in started:
            self._check_stack(one, sent)
        for run in self.going:
            left = set(run.members) - (self.entries.keys() - sent)
            assert run.id in cancelled or not left, "a run of a change that is gone goes on"
        lands = [one for one in actions if isinstance(one, Land)]
        assert len(lands) <= 1
        assert not lands or not started

    def _check_stack(self, one: Start | Rerun | Hunt, sent: set[str]) -> None:
        members = one.members
        assert len(set(members)) == len(members)
        assert set(members) <= self.entries.keys() - sent
        for place, task in enumerate(members):
            assert self.entries[task].needs <= set(members[:place])
        assert not any(pair <= set(members) for pair in self.conflicts)
        if isinstance(one, Start):
            reds = [set(failure.members) for failure in self.learned.failed]
            assert not any(len(red) > 1 and red <= set(members) for red in reds)

    def _do(self, action: Action) -> None:
        match action:
            case Start() | Rerun():
                self._start(action, action.kind)
            case Hunt():
                self._start(action, Kind.HUNT)
            case Cancel():
                assert not self.runs.pop(action.run).green
            case SendBack():
                self._send_back(action)
            case Land():
                self._land(self.runs.pop(action.run))

    def _start(self, action: Start | Rerun | Hunt, kind: Kind) -> None:
        self.starts.append(action)
        name = f"r{next(self._ids)}"
        self.runs[name] = PlannedRun(name, action.members, self.tip, kind, self.now)

    def _send_back(self, action: SendBack) -> None:
        if action.why == "red":
            assert (action.task, action.run) in self.red_alone
        entry = self.entries.pop(action.task)
        self.learned = self.learned.after_sent_back(entry, action.why)
        self.sent_back.append(action)
        self.idle_runs = 0

    def _land(self, run: PlannedRun) -> None:
        assert run.tip == self.tip, "landed on a target that has moved"
        assert (run.tip, run.members) in self.green, "landed what was not green"
        entries = [self.entries.pop(task) for task in run.members]
        self.landed += run.members
        for task, entry in self.entries.items():
            self.entries[task] = replace(entry, needs=entry.needs - set(run.members))
        self.tips.append(f"t{len(self.landed)}")
        self.learned = self.learned.after_landed(entries, self.tip)
        self.idle_runs = 0
        kept = {}
        for one in self.runs.values():
            moved = one.after_landing(run, self.tip)
            if moved.tip == self.tip and moved.green:
                self.green.add((moved.tip, moved.members))
            if not moved.green or moved.tip == self.tip:
                kept[one.id] = moved
        self.runs = kept
