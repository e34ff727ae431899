"""In every state, exactly the commands in the table of moves are allowed."""

from collections.abc import Callable

import pytest

from corral.core.board import commands as c
from corral.core.board.commands import COMMANDS
from corral.core.board.moves import MOVES, Fence, check, moves_from
from corral.core.errors import Refused
from corral.core.ids import TaskId, Token
from corral.core.log.state import TaskState
from tests.core.memory_board import TTL_S, Board

Make = Callable[[TaskId, Token], c.Command]

MAKE: dict[str, Make] = {
    "claim": lambda task, token: c.ClaimTask(task=task),
    "renew": lambda task, token: c.RenewTask(task=task, token=token),
    "submit": lambda task, token: c.SubmitTask(task=task, token=token),
    "fail": lambda task, token: c.FailTask(task=task, token=token),
    "block": lambda task, token: c.BlockTask(task=task, token=token),
    "hand-off": lambda task, token: c.HandOffTask(task=task, token=token),
    "edit": lambda task, token: c.EditTask(task=task, title="New"),
    "unblock": lambda task, token: c.UnblockTask(task=task),
    "retry": lambda task, token: c.RetryTask(task=task),
    "land": lambda task, token: c.LandTask(task=task),
    "cancel": lambda task, token: c.CancelTask(task=task, token=token),
    "comment": lambda task, token: c.CommentTask(task=task, text="hi", token=token),
}
EVERY = [(state, name) for state in TaskState for name in MOVES]
UNDER_A_CLAIM = [name for name, move in MOVES.items() if move.fence is not Fence.NEVER]


def at(state: TaskState) -> tuple[Board, TaskId, Token]:
    board = Board()
    task = board.task()
    return board, task, board.bring(task, state)


def test_the_table_has_one_move_for_each_command_on_a_task() -> None:
    commands = {name.removeprefix("task ") for name in COMMANDS if name.startswith("task ")}
    assert set(MOVES) == commands - {"add"} == set(MAKE)


@pytest.mark.parametrize(("state", "name"), EVERY)
def test_a_command_is_allowed_exactly_where_the_table_says(state: TaskState, name: str) -> None:
    board, task, token = at(state)
    command = MAKE[name](task, token)
    if name == "claim" and state is TaskState.DOING:
        assert board.refusal(command, "bob").code == "already_claimed"
        board.wait(TTL_S)
    move = MOVES[name]
    if state in move.sources:
        board.do(command)
        assert board.get(task).state == (state if move.target is None else move.target)
    else:
        refusal = board.refusal(command)
        assert (refusal.code, refusal.exit_code) == ("wrong_state", 3)


@pytest.mark.parametrize("state", list(TaskState))
@pytest.mark.parametrize("name", sorted(set(MOVES) - {"claim"}))
def test_a_refusal_says_what_can_be_done_instead(state: TaskState, name: str) -> None:
    board, task, token = at(state)
    if state in MOVES[name].sources:
        assert check(board.get(task), name) is MOVES[name]
        return
    refusal = board.refusal(MAKE[name](task, token))
    possible = [move.name for move in moves_from(state) if move.name != "comment"]
    assert refusal.message.startswith(f"{task} is in the state {state}, and {name} needs ")
    assert refusal.message.endswith(f"{' or '.join(MOVES[name].sources)}; nothing was changed")
    assert refusal.hint == (
        f"from {state} you can: {', '.join(possible)}" if possible else f"corral why {task}"
    )


@pytest.mark.parametrize("name", sorted(MOVES))
def test_the_table_says_whether_a_held_task_needs_the_token(name: str) -> None:
    board, task, _ = at(TaskState.DOING)
    move = MOVES[name]
    if move.fence in (Fence.ALWAYS, Fence.WHEN_CLAIMED):
        refusal = board.refusal(MAKE[name](task, Token("")))
        assert (refusal.code, type(refusal)) == ("token_needed", Refused)
        assert f"--token TOKEN{' (or --force)' * (move.fence is Fence.WHEN_CLAIMED)}" in (
            refusal.hint
        )
    elif move.fence is Fence.IF_SHOWN:
        board.do(MAKE[name](task, Token("")))


@pytest.mark.parametrize("name", UNDER_A_CLAIM)
def test_a_token_shown_is_always_the_current_one_or_refused(name: str) -> None:
    board, task, token = at(TaskState.DOING)
    assert board.refusal(MAKE[name](task, Token("999"))).code == "stale_token"
    assert board.refusal(MAKE[name](task, Token(f"0{token}"))).code == "stale_token"
    board.do(MAKE[name](task, token))


@pytest.mark.parametrize("name", [n for n, m in MOVES.items() if m.fence is Fence.WHEN_CLAIMED])
def test_force_stands_in_for_a_token_that_is_not_there_but_not_for_a_wrong_one(name: str) -> None:
    board, task, _ = at(TaskState.DOING)
    forced = {"block": c.BlockTask, "hand-off": c.HandOffTask}[name]
    assert board.refusal(forced(task=task, token=Token("99"), force=True)).code == "stale_token"
    board.do(forced(task=task, force=True), "boss")
    assert board.get(task).claim is None


def test_only_a_task_that_is_being_worked_on_can_be_held() -> None:
    for state in TaskState:
        board, task, _ = at(state)
        assert (board.get(task).claim is not None) == (state is TaskState.DOING)


def test_a_task_that_has_landed_stays_landed() -> None:
    assert [move.name for move in moves_from(TaskState.DONE)] == ["comment"]
