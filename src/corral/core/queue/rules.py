"""Decisions about work on its way to the target branch.

The refinery proposes; these rules accept or refuse, inside the log's transaction. What may land is
decided in one place, `begin_landing`.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from corral.core import text
from corral.core.board import commands as c
from corral.core.board.claims import REVERTED, TO_REDO, reverted_alert
from corral.core.board.graph import find_task
from corral.core.errors import BadInput, NotFound, Refused
from corral.core.ids import ConvoyId, TaskId
from corral.core.log import events as e
from corral.core.log.state import State, Task, TaskState
from corral.core.queue import events as q
from corral.core.queue.fold import trunk_of
from corral.core.queue.from_state import counts, outdated
from corral.core.queue.state import Change, CheckRun

Decision = Sequence[e.Event]

REFINERY = "refinery"
FINISH = "finish"  # the kind of a check run of a trunk merged into its base
REGENERATE = "regenerate"  # the kind of a run that generates conflicting files again
GREEN, RED, TIMED_OUT, CANCELLED, LOST = "green", "red", "timed_out", "cancelled", "lost"
RED_BASE = "red_base"  # the kind of an alert: the trunk is red on its own
CANNOT_CHECK = "cannot_check"  # the kind of an alert: the checks have no result
_PATHS = 500
_DETAIL = 2000
_REST_MOST_S = 600


def waiting(state: State) -> list[Task]:
    """Return the tasks that were submitted and are not in the queue yet."""
    submitted = (task for task in state.tasks.values() if task.state is TaskState.REVIEW)
    return [task for task in submitted if task.id not in state.changes]


def queue_change(
    state: State, task: TaskId, handed_in: str, *, commit: str, fork: str, paths: Sequence[str]
) -> Decision:
    """Put work in the queue; `handed_in` is the commit that the task named when it was read."""
    found = state.tasks[task]
    if found.state is not TaskState.REVIEW or found.commit != handed_in or task in state.changes:
        return []
    plain = (path for path in paths if path.isprintable() and len(path) <= text.LINE)
    listed = tuple(plain)[:_PATHS]
    many = len(listed) < len(paths)
    return [q.ChangeQueued(task=task, commit=commit, fork=fork, paths=listed, many=many)]


def send_back(
    state: State,
    task: TaskId,
    commit: str,
    why: str,
    *,
    most: int,
    detail: str = "",
    beside: Sequence[TaskId] = (),
    paths: Sequence[str] = (),
    run: str = "",
) -> Decision:
    """Send work back to an agent, or to a person once it has come back `most` times."""
    found = state.tasks[task]
    change = state.changes.get(task)
    if found.state is not TaskState.REVIEW or (change is not None and change.commit != commit):
        return []
    if run and run in state.checks and state.checks[run].tip != trunk_of(state, found.convoy).tip:
        return []  # the trunk has moved on since that run
    said = text.cut(detail, _DETAIL)
    returned = q.ChangeReturned(
        task=task,
        commit=commit,
        why=why,
        detail=said,
        beside=tuple(beside),
        paths=tuple(text.cut(path, text.LINE) for path in paths[:_PATHS]),
        run=run,
        tip=trunk_of(state, found.convoy).tip,
    )
    before = state.returned.get(task)
    times = before.times + 1 if before else 1
    if times < most:
        return [returned]
    tries = "once" if times == 1 else f"{times} times"
    reason = f"it came back from the queue {tries} ({why}); a person is needed: {said}"
    return [returned, e.TaskFailed(task=task, reason=text.cut(reason, _DETAIL))]


def start_check(
    state: State,
    run: str,
    convoy: ConvoyId,
    members: Sequence[Change],
    *,
    tip: str,
    commits: Sequence[str],
    tree: str,
    key: str,
    kind: str,
    slot: int,
    deadline_s: int,
    external: bool = False,
    commit: str = "",
) -> Decision:
    """Announce a check run, unless the queue or the trunk has changed since it was planned."""
    fits = all(state.changes.get(change.task) == change for change in members)
    moved = kind != FINISH and trunk_of(state, convoy).tip != tip
    if run != next_run(state) or moved or not fits:
        return []
    if slot and any(check.live and check.slot == slot for check in state.checks.values()):
        return []
    return [
        q.CheckStarted(
            run=run,
            convoy=convoy,
            members=tuple(change.task for change in members),
            tip=tip,
            commit=commit or (commits[-1] if commits else tip),
            commits=tuple(commits),
            tree=tree,
            key=key,
            kind=kind,
            slot=slot,
            deadline_s=deadline_s,
            external=external,
        )
    ]


def missing(state: State, task: TaskId) -> list[TaskId]:
    """Return the tasks that a task needs and that have not landed."""
    needs = [state.tasks[need] for need in state.tasks[task].needs]
    return [need.id for need in needs if need.state is not TaskState.DONE]


class Rest(Struct, frozen=True):
    """The delay after `lost` runs in a row without a result: no run begins before `until`."""

    lost: int = 0
    seconds: int = 0
    until: int = 0


def rest(state: State, convoy: ConvoyId, key: str = "") -> Rest:
    """Return the delay before the next run; each run in a row without a result doubles it.

    Such runs take time, and no change is to blame for them. With `key`, only runs of these checks
    count: others may have been fixed.
    """
    lost = last = 0
    for check in reversed(state.checks.values()):
        if check.convoy != convoy or check.cached or check.live:
            continue
        if key and check.key != key:
            break
        if check.result == LOST:
            lost += 1
            last = max(last, check.ended_at)
        elif check.result != CANCELLED:
            break
    seconds = min(_REST_MOST_S, 2 ** min(lost, 30))
    return Rest(lost, seconds, last + 1000 * seconds) if lost else Rest()


def next_run(state: State) -> str:
    return f"R{state.runs + 1}"


def end_check(
    state: State,
    run: str,
    result: str,
    *,
    command: str = "",
    detail: str = "",
    took_ms: int = 0,
    cached: str = "",
) -> Decision:
    check = state.checks.get(run)
    if check is None or not check.live:
        return []
    return [
        q.CheckEnded(
            run=run,
            result=result,
            command=text.cut(command, text.LINE),
            detail=text.cut(detail, _DETAIL),
            took_ms=took_ms,
            beside=sum(other.live and not other.external for other in state.checks.values()),
            cached=cached,
        )
    ]


def begin_landing(state: State, run: str) -> Decision:
    """Announce that the trunk moves to the commit that a run has checked, or refuse.

    The run must be green and based on the current tip of the trunk, and its changes unchanged.
    """
    check = find_run(state, run)
    trunk = trunk_of(state, check.convoy)
    left = any(task not in state.changes for task in check.members)
    problem = (
        (check.result != GREEN and f"{run} is not green")
        or (not counts(check) and f"{run} did not check what would land")
        or (check.tip != trunk.tip and f"{run} is not based on the trunk's tip")
        or (trunk.landing is not None and f"{trunk.landing.run} is already landing")
        or (paused(state, check.convoy) and "the queue is paused")
        or (left and "a change has left the queue")
        or (outdated(state, check) and "a change was submitted again")
        or ""
    )
    if problem:
        raise Refused(f"{problem}; nothing landed", code="cannot_land")
    return [
        q.LandingBegun(
            run=run,
            convoy=check.convoy,
            old=trunk.tip,
            new=check.commit,
            tasks=check.members,
            commits=check.commits,
        )
    ]


def paused(state: State, convoy: ConvoyId) -> str:
    """Return why landing is paused for a convoy; empty if it is not."""
    return state.held or trunk_of(state, convoy).paused


def end_landing(state: State, convoy: ConvoyId, run: str, problem: str = "") -> Decision:
    """Record whether the trunk was moved; if it was, the tasks have landed."""
    landing = trunk_of(state, convoy).landing
    if landing is None or landing.run != run:
        return []
    ended = q.LandingEnded(run=run, convoy=convoy, landed=not problem, reason=problem)
    landed = () if problem else zip(landing.tasks, landing.commits, strict=True)
    return [ended, *(e.TaskLanded(task=task, commit=commit) for task, commit in landed)]


def hold(state: State, convoy: ConvoyId, reason: str) -> Decision:
    """Pause landing for a convoy because a person has to look at a problem."""
    if trunk_of(state, convoy).paused:
        return []
    return [q.QueuePaused(convoy=convoy, reason=text.cut(reason, text.LINE))]


def over(state: State, convoy: ConvoyId) -> bool:
    """Tell whether all tasks of a convoy have landed or were cancelled."""
    tasks = (task for task in state.tasks.values() if task.convoy == convoy)
    return all(task.state in (TaskState.DONE, TaskState.CANCELLED) for task in tasks)


def complete(state: State, convoy: ConvoyId) -> bool:
    """Tell whether all tasks of a convoy are over and at least one of them has landed."""
    return bool(trunk_of(state, convoy).learned.landed) and over(state, convoy)


def finish_convoy(state: State, convoy: ConvoyId, how: str, commit: str, note: str) -> Decision:
    before = trunk_of(state, convoy).finished
    if before not in ("", "left") or before == how or not complete(state, convoy):
        return []  # what was left as it is can be finished later
    base = state.convoys[convoy].base
    said = text.cut(note, _DETAIL)
    return [q.ConvoyFinished(convoy=convoy, how=how, base=base, commit=commit, note=said)]


def move_trunk(
    state: State,
    convoy: ConvoyId,
    old: str,
    new: str,
    who: str,
    *,
    reverted: Mapping[TaskId, str] | None = None,
) -> Decision:
    """Record where a trunk is, unless that is already known, and whose landed work is undone."""
    trunk = trunk_of(state, convoy)
    if trunk.tip != old or old == new:
        return []
    events: list[e.Event] = [q.TrunkMoved(convoy=convoy, old=old, new=new, who=who)]
    for task, by in (reverted or {}).items():
        found = state.tasks[task]
        if found.state is TaskState.DONE:
            said = f"the work of {task} was reverted on the trunk by {text.cut(by, text.TITLE)}"
            events.append(e.TaskCommented(task=task, text=said))
            if reverted_alert(state, found) is None:
                alert = f"alert-{state.seq + len(events) + 1}"
                said = f"{said}{TO_REDO}corral task retry {task}"
                events.append(e.AlertRaised(alert=alert, kind=REVERTED, subject=task, text=said))
    return events


def find_run(state: State, run: str) -> CheckRun:
    check = state.checks.get(run) or state.checks.get(run.upper())
    if check is None:
        raise NotFound(f"there is no check run {text.printable(run)!r}", "corral queue list")
    return check


# Commands


def eject(state: State, command: c.EjectChange, actor: str, now: int) -> Decision:
    reason = text.line(command.reason, "the reason", empty=True) or f"by {actor}"
    task = _queued(state, command.task)
    return [e.TaskBlocked(task=task.id, reason=f"taken out of the queue: {reason}")]


def prioritise(state: State, command: c.PrioritiseChange, actor: str, now: int) -> Decision:
    task = _queued(state, command.task)
    priority = text.number(command.priority, "the priority", 0, text.PRIORITY)
    return [e.TaskEdited(task=task.id, priority=priority)]


def report(state: State, command: c.ReportCheck, actor: str, now: int) -> Decision:
    detail = text.line(command.detail, "the detail", text.COMMENT, empty=True)
    commit = text.line(command.commit, "the commit", text.NAME, empty=True)
    check = find_run(state, text.line(command.check, "the run", text.NAME))
    if text.line(command.result, "the result", text.NAME) not in (GREEN, RED):
        raise BadInput("the result must be green or red", "corral queue report --help")
    if not check.external:
        said = f"{check.run} is run by Corral, not by an outside CI; nothing was changed"
        raise Refused(said, code="not_asked")
    if not check.live:
        said = f"{check.run} has ended ({check.result}); nothing was changed"
        raise Refused(said, code="check_ended")
    if commit and commit != check.commit:
        said = f"{check.run} checks {check.commit[:12]}, not {commit[:12]}; nothing was changed"
        raise Refused(said, code="other_commit")
    took_ms = now - check.started_at
    return end_check(state, check.run, command.result, detail=detail, took_ms=took_ms)


def _queued(state: State, task: str) -> Task:
    found = find_task(state, TaskId(task))
    if found.state is not TaskState.REVIEW:
        said = f"{found.id} is not in the queue: it is in state {found.state}; nothing was changed"
        raise Refused(said, f"corral why {found.id}", code="not_queued")
    return found


RULES: dict[type[c.Command], Callable[[State, Any, str, int], Decision]] = {
    c.EjectChange: eject,
    c.PrioritiseChange: prioritise,
    c.ReportCheck: report,
}
