"""One screen about everything: counts, and the first rows of whatever is worth a look.

It stays small however large the board is, so that a server can send it to every `corral status`,
which then loads neither the log nor the state. That is why the classes here need nothing else.
"""

from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from corral.core.log.state import State, Task

ROWS = 10
SHOWN = ("doing", "blocked", "failed", "review", "todo")  # columns whose first tasks are listed


class OverviewConvoy(Struct, frozen=True):
    id: str
    title: str
    done: int
    wanted: int  # all tasks that were not cancelled


class OverviewTask(Struct, frozen=True):
    id: str
    column: str
    title: str
    reason: str
    assignee: str
    holder: str | None
    expires_at: int | None


class OverviewSession(Struct, frozen=True):
    id: str
    profile: str
    started_at: int
    outputs: int
    progress: str


class OverviewCheck(Struct, frozen=True):
    run: str
    started_at: int
    tip: str
    members: tuple[str, ...]


class OverviewAlert(Struct, frozen=True):
    id: str
    subject: str
    text: str


class Overview(Struct, frozen=True):
    """What `corral status` shows; `totals` counts the rows of each list, listed or not."""

    seq: int
    columns: dict[str, int]  # how many tasks are in each column
    convoys: list[OverviewConvoy]  # the newest
    tasks: list[OverviewTask]  # the first of each column that is listed
    sessions: list[OverviewSession]  # those that run, the oldest first
    checks: list[OverviewCheck]  # those that run
    overlaps: list[str]  # conflicts that are coming, in words
    alerts: list[OverviewAlert]
    totals: dict[str, int]
    spent_today: str  # in dollars; empty if nothing was ever spent
    spent: str
    paused: list[str] = []  # what a person has paused, in words


def overview(state: "State", now: int) -> Overview:
    from corral.core.board.columns import columns
    from corral.core.copies import filled

    tasks = columns(state)
    live = [session for session in state.sessions.values() if session.live]
    live.sort(key=lambda session: session.started_at)
    checks = [check for check in state.checks.values() if check.live]
    overlaps: list[str] = []
    if state.overlaps:
        from corral.core.show import queries

        overlaps = [one.text for one in queries.overlaps(state)]
    today, spent = _spent(state, now) if state.ledger or state.mayors else ("", "")
    return Overview(
        seq=state.seq,
        columns={name: len(found) for name, found in tasks.items()},
        convoys=_convoys(state, tasks),
        tasks=[_task(task, name) for name in SHOWN for task in _first(tasks[name])],
        sessions=[filled(OverviewSession, session) for session in live[:ROWS]],
        checks=[filled(OverviewCheck, check) for check in checks[:ROWS]],
        overlaps=overlaps[:ROWS],
        alerts=[filled(OverviewAlert, alert) for alert in state.alerts.values()],
        totals={
            "convoys": len(state.convoys),
            "sessions": len(live),
            "checks": len(checks),
            "overlaps": len(overlaps),
        },
        spent_today=today,
        spent=spent,
        paused=_paused(state),
    )


def _paused(state: "State") -> list[str]:
    sessions = {convoy: pause.reason for convoy, pause in state.paused.items()}
    landing = {"": state.held} if state.held else {}
    landing |= {trunk.convoy: trunk.paused for trunk in state.trunks.values() if trunk.paused}
    return [
        f"{what} for {convoy or 'all convoys'}{f': {reason}' if reason else ''}"
        for what, found in (("new sessions are paused", sessions), ("landing is paused", landing))
        for convoy, reason in found.items()
    ]


def _convoys(state: "State", tasks: "dict[str, list[Task]]") -> list[OverviewConvoy]:
    wanted = dict.fromkeys(state.convoys, 0)
    done = dict.fromkeys(state.convoys, 0)
    if len(wanted) == 1:  # most boards: there is nothing to tell apart
        (only,) = wanted
        done[only] = len(tasks["done"])
        wanted[only] = len(state.tasks) - len(tasks["cancelled"])
    else:
        for name, found in tasks.items():
            for task in found if name != "cancelled" else ():
                wanted[task.convoy] += 1
                done[task.convoy] += name == "done"
    newest = list(state.convoys.values())[-ROWS:]
    return [OverviewConvoy(c.id, c.title, done[c.id], wanted[c.id]) for c in newest]


def _first(tasks: "list[Task]") -> "list[Task]":
    return sorted(tasks, key=lambda task: (-task.priority, task.order))[:ROWS]


def _task(task: "Task", column: str) -> OverviewTask:
    from corral.core.copies import filled

    holder, until = (task.claim.holder, task.claim.expires_at) if task.claim else (None, None)
    return filled(OverviewTask, task, column=column, holder=holder, expires_at=until)


def _spent(state: "State", now: int) -> tuple[str, str]:
    """Return what engines have cost today and in all, as far as they tell."""
    from corral.core.engine.bill import DAY_MS, NANO, Bill, in_words
    from corral.core.engine.money import spent_in_all

    total = spent_in_all(state)
    if total == Bill():
        return "", ""
    today = state.days.get(now // DAY_MS, Bill())
    words = [in_words(bill.usd, bill.nano_usd / NANO, 2) for bill in (today, total)]
    return words[0], words[1]
