"""The table of moves: the one place that says which state of a task may follow which.

The rules refuse by it, `corral why` explains with it, and the reference page prints it.
"""

from enum import StrEnum

from msgspec import Struct

from corral.core.errors import Refused
from corral.core.log.state import Task, TaskState

TODO, DOING, BLOCKED, REVIEW, DONE, FAILED, CANCELLED = TaskState


class Fence(StrEnum):
    """Whether a move must show the token of the claim."""

    ALWAYS = "always"
    WHEN_CLAIMED = "when claimed, or --force"
    IF_SHOWN = "checked if shown"
    NEVER = "never"


_RETRY = "try again; a landed task only while the alert `reverted` is open"


class Move(Struct, frozen=True):
    name: str  # as in `corral task NAME`
    sources: tuple[TaskState, ...]
    target: TaskState | None  # None: the task stays where it is
    fence: Fence
    meaning: str


MOVES = {
    move.name: move
    for move in (
        Move(
            "claim",
            (TODO, DOING),
            DOING,
            Fence.NEVER,
            "take it; from `doing` only if the claim has lapsed",
        ),
        Move("renew", (DOING,), DOING, Fence.ALWAYS, "extend the claim"),
        Move("submit", (DOING,), REVIEW, Fence.ALWAYS, "submit the work"),
        Move("fail", (DOING,), FAILED, Fence.ALWAYS, "end the attempt without a result"),
        Move("block", (TODO, DOING), BLOCKED, Fence.WHEN_CLAIMED, "wait for someone's help"),
        Move(
            "hand-off",
            (TODO, DOING),
            TODO,
            Fence.WHEN_CLAIMED,
            "offer it to one claimer, or to all",
        ),
        Move("edit", (TODO, BLOCKED, FAILED), None, Fence.NEVER, "change what it asks for"),
        Move("unblock", (BLOCKED,), TODO, Fence.NEVER, "put it back on the board"),
        Move("retry", (BLOCKED, REVIEW, FAILED, CANCELLED), TODO, Fence.NEVER, _RETRY),
        Move("land", (REVIEW,), DONE, Fence.NEVER, "record that the work is on the target branch"),
        Move(
            "cancel",
            (TODO, DOING, BLOCKED, REVIEW, FAILED),
            CANCELLED,
            Fence.IF_SHOWN,
            "give it up; tasks that need it can never start",
        ),
        Move("comment", tuple(TaskState), None, Fence.IF_SHOWN, "comment on it"),
    )
}


def moves_from(state: TaskState) -> list[Move]:
    return [move for move in MOVES.values() if state in move.sources]


def moves_of(task: Task) -> list[Move]:
    """Return the moves of a task; a recurring one can be cancelled even while it is done."""
    ends = task.state is DONE and bool(task.every or task.cron)
    return [*moves_from(task.state), *([MOVES["cancel"]] if ends else [])]


def check(task: Task, name: str) -> Move:
    """Return the move, or refuse it because of the task's state."""
    move = MOVES[name]
    if task.state in move.sources or move in moves_of(task):
        return move
    possible = ", ".join(other.name for other in moves_of(task) if other.name != "comment")
    raise Refused(
        f"{task.id} is in the state {task.state}, and {name} needs"
        f" {' or '.join(move.sources)}; nothing was changed",
        f"from {task.state} you can: {possible}" if possible else f"corral why {task.id}",
        code="wrong_state",
    )
