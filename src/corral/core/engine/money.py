"""Money: what was spent on what, and the budgets that limit it.

Sums come from the ledger, which is folded from the log, and from running sessions whose costs are
not recorded yet. Unknown costs cannot count against a budget; they are shown as unknown.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct, field

from corral.core.board.claims import Obstacle
from corral.core.engine.bill import DAY_MS, NANO, Bill, nano
from corral.core.ids import SessionId, TaskId
from corral.core.log.state import Spending, State, Task, TaskState


class Budgets(Struct, frozen=True):
    """Limits in dollars; 0 means none. `profiles` limits a task by the profile it runs with."""

    task_usd: float = 0.0
    convoy_usd: float = 0.0
    day_usd: float = 0.0
    profiles: Mapping[str, float] = field(default_factory=dict)

    def of_task(self, profile: str) -> float:
        """Return the tighter of a task's two limits; 0 if there is none."""
        known = [usd for usd in (self.task_usd, self.profiles.get(profile, 0.0)) if usd > 0]
        return min(known, default=0.0)

    def any(self, profile: str) -> bool:
        return bool(self.of_task(profile) or self.convoy_usd or self.day_usd)


class Over(Struct, frozen=True):
    """An exceeded budget."""

    what: str  # task, convoy or day
    text: str


class Sums:
    """What was spent so far on each task and convoy, and today, in nano-dollars.

    `running` has what live sessions have spent, which may not be recorded yet.
    """

    def __init__(
        self, state: State, now: int, running: Mapping[SessionId, Bill] | None = None
    ) -> None:
        self._state = state
        self.day = state.days.get(now // DAY_MS, Bill()).nano_usd
        self.tasks = Counter[TaskId]()
        self.convoys = Counter[str]()
        for entry in state.ledger.values():
            self._add(entry.task, entry.bill.nano_usd)
        for mayor in state.mayors.values():
            if mayor.convoy:
                self.convoys[mayor.convoy] += mayor.bill.nano_usd
        for name, bill in (running or {}).items():
            session = state.sessions.get(name)
            if session is not None and session.live:
                new = max(0, bill.nano_usd - session.bill.nano_usd)
                self._add(session.task, new)
                self.day += new

    def _add(self, task: TaskId, nano_usd: int) -> None:
        self.tasks[task] += nano_usd
        self.convoys[self._state.tasks[task].convoy] += nano_usd


def over(sums: Sums, task: Task, profile: str, budgets: Budgets) -> Over | None:
    """Return the budget that a task has exceeded."""
    for what, usd, name, spent in _limits(sums, task, profile, budgets):
        if spent >= nano(usd):
            return Over(what, f"{name} has cost ${spent / NANO:.4f} of ${usd:g}")
    return None


def left(sums: Sums, task: Task, profile: str, budgets: Budgets) -> float | None:
    """Return how many dollars a task may still cost, for engines that enforce it themselves."""
    limits = _limits(sums, task, profile, budgets)
    return min((max(0, nano(usd) - spent) / NANO for _, usd, _, spent in limits), default=None)


def _limits(
    sums: Sums, task: Task, profile: str, budgets: Budgets
) -> list[tuple[str, float, str, int]]:
    """Return the budgets that apply to a task: kind, dollars, name, and what was spent."""
    convoy = task.convoy
    known = [
        ("task", budgets.of_task(profile), f"the task {task.id}", sums.tasks[task.id]),
        ("convoy", budgets.convoy_usd, f"the convoy {convoy}", sums.convoys[convoy]),
        ("day", budgets.day_usd, "today", sums.day),
    ]
    return [limit for limit in known if limit[1] > 0]


def obstacle(sums: Sums, task: Task, profile: str, budgets: Budgets) -> Obstacle | None:
    """Return the budget that keeps a task from starting."""
    found = over(sums, task, profile, budgets)
    if found is None:
        return None
    hint = "wait for the next day (UTC), or raise" if found.what == "day" else "raise"
    hint = f"{hint} the limit in .corral/config.toml; see: corral cost"
    return Obstacle("no_money", f"{task.id} is over budget: {found.text}", hint)


def total(entries: Iterable[Spending]) -> Bill:
    return sum((entry.bill for entry in entries), Bill())


class CostLine(Struct, frozen=True):
    """One row of a report."""

    name: str
    sessions: int
    fresh: int
    cached: int
    output: int
    cost_usd: float | None  # None: at least a part is unknown
    known_usd: float
    unpriced: int


class CostReport(Struct, frozen=True):
    total: CostLine
    landed: int
    usd_per_landed: float | None
    tasks: list[CostLine]
    convoys: list[CostLine]
    engines: list[CostLine]
    models: list[CostLine]
    days: list[CostLine]


def report(state: State) -> CostReport:
    """Return what was spent on what."""
    entries = _entries(state)
    landed = sum(task.state is TaskState.DONE for task in state.tasks.values())
    bill = total(entries)
    return CostReport(
        total=_line("all", bill, sum(entry.sessions for entry in entries)),
        landed=landed,
        usd_per_landed=bill.usd / landed if landed and bill.usd is not None else None,
        tasks=_by(entries, lambda entry: entry.task),
        convoys=_by(entries, lambda entry: _convoy_of(state, entry)),
        engines=_by(entries, lambda entry: entry.profile),
        models=_by(entries, lambda entry: entry.model or "unknown"),
        days=[_line(_date(day), bill, 0) for day, bill in sorted(state.days.items())],
    )


def spent_in_all(state: State) -> Bill:
    """Return what sessions and the mayor have spent."""
    return total(_entries(state))


def _entries(state: State) -> list[Spending]:
    """Return the ledger, with each of the mayor's conversations as if it were a task."""
    talks = [
        Spending(TaskId(mayor.id), mayor.profile, mayor.model, mayor.bill, mayor.turn)
        for mayor in state.mayors.values()
        if mayor.bill != Bill()
    ]
    return [*state.ledger.values(), *talks]


def _convoy_of(state: State, entry: Spending) -> str:
    task, mayor = state.tasks.get(entry.task), state.mayors.get(entry.task)
    return task.convoy if task else mayor.convoy if mayor and mayor.convoy else "(planning)"


def _by(entries: list[Spending], key: Callable[[Spending], str]) -> list[CostLine]:
    groups: dict[str, list[Spending]] = {}
    for entry in entries:
        groups.setdefault(key(entry), []).append(entry)
    return [
        _line(name, total(group), sum(entry.sessions for entry in group))
        for name, group in groups.items()
    ]


def _line(name: str, bill: Bill, sessions: int) -> CostLine:
    tokens = (bill.fresh, bill.cached, bill.output)
    return CostLine(name, sessions, *tokens, bill.usd, bill.nano_usd / NANO, bill.unpriced)


def _date(day: int) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(day * DAY_MS / 1000, UTC).strftime("%Y-%m-%d")
