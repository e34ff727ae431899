"""Queries about the whole board: one for each list, and the status that has them all.

The command line, the HTTP API and the agents' tools call these and only render the answer. People
see everything; a session sees its own task, the tasks below it, and what concerns them.
`corral status` loads this module, so single things are elsewhere (`core/show/details`).
"""

from collections import Counter
from typing import TYPE_CHECKING

from msgspec import Struct

from corral.core.board.columns import COLUMNS, Columns, columns
from corral.core.copies import filled
from corral.core.engine.money import spent_in_all
from corral.core.ids import TaskId
from corral.core.log.state import State, TaskState
from corral.core.show import views as v

if TYPE_CHECKING:
    from corral.core.access import Principal


class Status(Struct, frozen=True):
    seq: int
    convoys: list[v.ConvoyView]
    tasks: list[v.TaskLine]
    sessions: list[v.SessionView]
    queue: list[TaskId]
    checks: list[v.CheckView]
    leases: list[v.LeaseView]
    alerts: list[v.AlertView]
    spent: v.SpentView
    paused: list[v.PauseView]
    messages: list[v.MessageView]
    overlaps: list[v.OverlapView]


def status(state: State, who: "Principal | None" = None) -> Status:
    """Return the whole board; `who` is the principal that asks, if it is not a person."""
    found, sight = columns(state), Sight(state, who)
    lines = {task.id: v.task_line(task, name) for name, tasks in found.items() for task in tasks}
    return Status(
        seq=state.seq,
        convoys=convoys(state, who, found),
        tasks=[lines[task] for task in state.tasks if sight.has(task)],
        sessions=sessions(state, who),
        queue=[task.id for task in found[TaskState.REVIEW] if sight.has(task.id)],
        checks=[filled(v.CheckView, check) for check in state.checks.values() if check.live],
        leases=leases(state, who),
        alerts=alerts(state, who),
        spent=v.spent_view(spent_in_all(state)),
        paused=[filled(v.PauseView, pause, convoy=name) for name, pause in state.paused.items()],
        messages=messages(state, who),
        overlaps=[
            one
            for one in overlaps(state)
            if sight.has(one.task) and (not one.other or sight.has(one.other))
        ],
    )


class Sight:
    """The part of a state that a principal may see."""

    def __init__(self, state: State, who: "Principal | None") -> None:
        self.session = self.convoy = ""
        if who and who.session:
            from corral.core.access import still_holds

            self.session, self.convoy = who.session, still_holds(state, who).convoy
        self._state, self._who = state, who

    def has(self, task: str) -> bool:
        if self._who is None or not self.session:
            return True
        from corral.core.access import visible

        return visible(self._state, self._who, task)


def convoys(
    state: State, who: "Principal | None" = None, sorted_tasks: Columns | None = None
) -> list[v.ConvoyView]:
    """Return the convoys, each with the number of its tasks in each column."""
    sight = Sight(state, who)
    counts: dict[str, dict[str, int]] = {name: dict.fromkeys(COLUMNS, 0) for name in state.convoys}
    for name, tasks in (sorted_tasks or columns(state)).items():
        for convoy, number in Counter([task.convoy for task in tasks]).items():
            counts[convoy][name] = number
    return [
        filled(v.ConvoyView, convoy, tasks=counts[convoy.id])
        for convoy in state.convoys.values()
        if sight.convoy in ("", convoy.id)
    ]


def sessions(state: State, who: "Principal | None" = None) -> list[v.SessionView]:
    """Return the newest session of each task."""
    sight = Sight(state, who)
    return [v.session_view(one) for one in state.sessions.values() if sight.has(one.task)]


def board_sessions(state: State, who: "Principal | None" = None) -> list[v.SessionView]:
    """Return the sessions in the order of the board: which task was retried first is chance."""
    return sorted(sessions(state, who), key=lambda one: state.tasks[one.task].order)


def leases(state: State, who: "Principal | None" = None) -> list[v.LeaseView]:
    sight = Sight(state, who)
    found = [
        filled(v.LeaseView, lease, resource=resource) for resource, lease in state.leases.items()
    ]
    return [lease for lease in found if sight.session in ("", lease.holder)]


def alerts(state: State, who: "Principal | None" = None) -> list[v.AlertView]:
    sight = Sight(state, who)
    found = [filled(v.AlertView, alert) for alert in state.alerts.values()]
    return [one for one in found if sight.session == one.subject or sight.has(one.subject)]


def messages(state: State, who: "Principal | None" = None) -> list[v.MessageView]:
    """Return the messages that somebody still has to read, acknowledge or answer."""
    found = [filled(v.MessageView, message) for message in state.messages.values()]
    if not who or not who.session:
        return found
    from corral.core.message.rules import inbox

    box, session = inbox(state, who.session), Sight(state, who).session
    return [one for one in found if one.to in box or session in (one.sender, one.reader)]


def overlaps(state: State, task: TaskId | None = None) -> list[v.OverlapView]:
    """Return the conflicts that are coming, all of them or those of one task."""
    if not state.overlaps:
        return []
    from corral.core.queue.overlaps import coming, sentence

    return [
        filled(v.OverlapView, overlap, text=sentence(state, overlap))
        for overlap in coming(state)
        if task in (None, overlap.task, overlap.other)
    ]
