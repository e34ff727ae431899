"""Slots: the right to run one session, checked before anything is started.

A slot is free again when its session has ended, not when it was asked to end: kill before spawn.
The rule that starts a session and the plan that proposes one use the same test.
"""

from collections.abc import Iterator

from msgspec import Struct, field

from corral.core.board.claims import Obstacle, offers
from corral.core.engine import governor, money
from corral.core.log.state import State, Task
from corral.core.queue import overlaps
from corral.core.session import fitness

CANNOT_OPEN = "cannot_open"  # the kind of an alert: no session can be started for its task


class Limits(Struct, frozen=True):
    """How many sessions may run at once: in all, in each pool, and reserved for urgent tasks.

    Known limits of accounts, budgets and expected conflicts apply as well.
    """

    total: int
    reserve: int = 0
    pools: dict[str, int] = field(default_factory=dict)
    accounts: governor.Accounts = governor.Accounts()
    budgets: money.Budgets = money.Budgets()
    hold: bool = False  # do not start a task that would run into a conflict


class TakenSlots:
    """Counts the slots that are taken or that a plan is about to take."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._sums: money.Sums | None = None
        self.total = 0
        self.pools: dict[str, int] = {}
        self.accounts: dict[str, int] = {}
        for session in state.sessions.values():
            if session.live:
                self.add(session.pool, session.account)

    def add(self, pool: str, account: str = "") -> None:
        self.total += 1
        self.pools[pool] = self.pools.get(pool, 0) + 1
        self.accounts[account] = self.accounts.get(account, 0) + 1

    def obstacle(self, task: Task, pool: str, limits: Limits) -> Obstacle | None:
        """Return what keeps a task from having a slot now."""
        paused = self._state.paused
        pause = paused.get("") or paused.get(task.convoy)
        if pause is not None:
            because = f": {pause.reason}" if pause.reason else ""
            which = "" if "" in paused else f" --convoy {task.convoy}"
            said = f"{task.id} waits: {pause.by} has paused new sessions{because}"
            return Obstacle("paused", said, f"corral resume --sessions{which}")
        room = limits.total if task.urgent else limits.total - limits.reserve
        if self.total >= room:
            kept = "" if task.urgent else f", with {limits.reserve} kept for urgent tasks"
            said = f"{task.id} waits for a slot: {self.total} of {limits.total} in use{kept}"
            return Obstacle("no_slot", said, "corral session list")
        most = limits.pools.get(pool)
        if most is not None and self.pools.get(pool, 0) >= most:
            said = f"{task.id} waits for a slot in the pool {pool!r}: {most} of {most} in use"
            return Obstacle("pool_full", said, "corral session list")
        return None

    def held_up(self, task: Task, profile: str, limits: Limits, now: int) -> Obstacle | None:
        """Return what keeps a task from being started with a profile, besides slots."""
        unfit = fitness.obstacle(self._state, task, profile)
        if unfit is not None:
            return unfit
        coming = overlaps.obstacle(self._state, task) if limits.hold else None
        if coming is not None:
            return coming
        account = limits.accounts.of.get(profile, "")
        found = governor.obstacle(self._state, task, account, now=now, running=self.accounts)
        if found is not None or not limits.budgets.any(profile):
            return found
        self._sums = self._sums or money.Sums(self._state, now)
        return money.obstacle(self._sums, task, profile, limits.budgets)


def startable(
    state: State, limits: Limits, pools: dict[str, str], now: int, claimer: str
) -> Iterator[Task]:
    """Yield the tasks to start now, the most urgent first; `pools` maps profiles to pools."""
    taken = TakenSlots(state)
    waiting = sorted(
        offers(state, now, claimer), key=lambda t: (not t.urgent, -t.priority, t.order)
    )
    for task in waiting:
        last = state.sessions.get(task.session)
        if last is not None and last.live:
            continue  # its claim lapsed, but it runs: kill before spawn
        profile = governor.profile_for(state, task, limits.accounts, now)
        pool = pools.get(profile, "")
        if taken.obstacle(task, pool, limits) or taken.held_up(task, profile, limits, now):
            continue
        taken.add(pool, limits.accounts.of.get(profile, ""))
        yield task
