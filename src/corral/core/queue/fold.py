"""The fold of the refinery's events; `core/log/fold` takes these functions into its table."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from corral.core.copies import filled
from corral.core.ids import ConvoyId, TaskId
from corral.core.log import events as e
from corral.core.log.state import State, TaskState
from corral.core.queue import events as q
from corral.core.queue import state as s
from corral.core.queue.from_state import counts, entry_of, outdated, run_of
from corral.core.queue.planner.parts import CheckOutcome

_NONE = s.Trunk(ConvoyId(""), "")
_OUTCOMES = {"green": CheckOutcome.GREEN, "red": CheckOutcome.RED, "timed_out": CheckOutcome.RED}


def trunk_of(state: State, convoy: ConvoyId) -> s.Trunk:
    """Return what is known of a trunk; one that was never made has no tip."""
    return state.trunks.get(convoy) or replace(_NONE, convoy=convoy)


def left(state: State, task: TaskId) -> None:
    """Take a change out of the queue that neither landed nor was sent back."""
    change = state.changes.pop(task, None)
    if change is not None:
        learned = trunk_of(state, change.convoy).learned.after_left(task)
        _change(state, change.convoy, learned=learned)


def _change_queued(state: State, event: q.ChangeQueued, seq: int, at: int) -> None:
    convoy = state.tasks[event.task].convoy
    since = trunk_of(state, convoy).learned.number_of(event.fork)
    more = {"convoy": convoy, "order": seq, "queued_at": at, "since": since}
    state.changes[event.task] = filled(s.Change, event, **more)


def _change_returned(state: State, event: q.ChangeReturned, seq: int, at: int) -> None:
    task = state.tasks[event.task]
    change = state.changes.get(event.task)
    if change is not None:
        learned = trunk_of(state, change.convoy).learned
        learned = learned.after_sent_back(entry_of(state, change), event.why)
        _change(state, change.convoy, learned=learned)
        del state.changes[event.task]
    before = state.returned.get(event.task)
    times = before.times + 1 if before else 1
    fork = change.fork if change else ""
    state.returned[event.task] = filled(s.Returned, event, fork=fork, times=times, at=at)
    reason = f"{event.why}: {event.detail}" if event.detail else event.why
    again = {"commit": "", "reason": reason, "before": reason, "changed_at": at, "parks": 0}
    state.tasks[event.task] = replace(task, state=TaskState.TODO, claim=None, **again)


def _check_started(state: State, event: q.CheckStarted, seq: int, at: int) -> None:
    state.runs += 1
    state.checks[event.run] = filled(s.CheckRun, event, order=seq, started_at=at)


def _check_ended(state: State, event: q.CheckEnded, seq: int, at: int) -> None:
    # Taken out and put back, so that ended runs are in the order of their ends.
    check = state.checks.pop(event.run)
    if counts(check) and not outdated(state, check):
        _learn(state, check, event, at)
    state.checks[event.run] = replace(
        check,
        ended_at=at,
        result=event.result,
        command=event.command,
        detail=event.detail,
        took_ms=event.took_ms,
        cached=event.cached,
    )
    ended = [run for run, known in state.checks.items() if not known.live]
    for run in ended[: max(0, len(ended) - s.REMEMBERED_CHECKS)]:
        del state.checks[run]


def _learn(state: State, check: s.CheckRun, event: q.CheckEnded, at: int) -> None:
    before = trunk_of(state, check.convoy).learned
    learned = before.after_run(
        run_of(check),
        _OUTCOMES.get(event.result, CheckOutcome.CANCELLED),
        seconds=event.took_ms / 1000,
        concurrency=event.beside,
        ended_at=at,
    )
    if event.cached or check.external:  # it took none of our time
        learned = replace(learned, green_s=before.green_s, levels=before.levels)
    _change(state, check.convoy, learned=learned)
    others = [] if event.cached else _other_answers(state, check, event.result)
    if others:
        command = event.command or others[0].command
        state.flakes[command] = state.flakes.get(command, 0) + 1


def _other_answers(state: State, check: s.CheckRun, result: str) -> list[s.CheckRun]:
    """Return the runs of the same checks on the same tree that had the opposite result."""
    other = {"green": "red", "red": "green"}.get(result)
    return [
        known
        for known in state.checks.values()
        if (known.tree, known.key, known.result, known.cached) == (check.tree, check.key, other, "")
    ]


def _landing_ended(state: State, event: q.LandingEnded, seq: int, at: int) -> None:
    trunk = trunk_of(state, event.convoy)
    landing = trunk.landing
    if not event.landed or landing is None:
        _change(state, event.convoy, landing=None)
        return
    entries = [entry_of(state, state.changes[t]) for t in landing.tasks if t in state.changes]
    learned = trunk.learned.after_landed(entries, landing.new)
    changes = {"tip": landing.new, "learned": learned, "finished": "", "finished_commit": ""}
    _change(state, event.convoy, landing=None, **changes)
    for task in landing.tasks:
        state.changes.pop(task, None)
    _rebase_runs(state, landing)


def _rebase_runs(state: State, landing: s.AnnouncedLanding) -> None:
    """Rebase the runs that were stacked on the landed changes."""
    landed = state.checks.get(landing.run)
    if landed is None:
        return
    for check in list(state.checks.values()):
        usable = counts(check) and (check.live or check.result == "green")
        if check.convoy == landed.convoy and usable:
            run = run_of(check).after_landing(run_of(landed), landing.new)
            left_over = len(run.members)
            state.checks[check.run] = replace(
                check,
                members=check.members[len(check.members) - left_over :],
                commits=check.commits[len(check.members) - left_over :],
                tip=run.tip,
            )


def _pause(state: State, convoy: ConvoyId, reason: str) -> None:
    if not convoy:
        state.held = reason
    else:
        _change(state, convoy, paused=reason)


def _change(state: State, convoy: ConvoyId, **changes: Any) -> None:
    state.trunks[convoy] = replace(trunk_of(state, convoy), **changes)


APPLY: dict[type[e.Event], Callable[[State, Any, int, int], None]] = {
    q.ChangeQueued: _change_queued,
    q.ChangeReturned: _change_returned,
    q.CheckStarted: _check_started,
    q.CheckEnded: _check_ended,
    q.LandingBegun: lambda state, event, *_: _change(
        state, event.convoy, landing=filled(s.AnnouncedLanding, event)
    ),
    q.LandingEnded: _landing_ended,
    q.TrunkMoved: lambda state, event, *_: _change(
        state, event.convoy, tip=event.new, landing=None
    ),
    q.QueuePaused: lambda state, event, *_: _pause(state, event.convoy, event.reason or "by hand"),
    q.QueueResumed: lambda state, event, *_: _pause(state, event.convoy, ""),
    q.ConvoyFinished: lambda state, event, *_: _change(
        state, event.convoy, finished=event.how, finished_commit=event.commit
    ),
}
