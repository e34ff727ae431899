"""Every command that takes a token refuses a stale one.

The commands are found by their fields, so that a new one is tested from the day it is written.
"""

from typing import Any

import msgspec
import pytest

from corral.core.board import commands as c
from corral.core.board.commands import COMMANDS, Command
from corral.core.ids import TaskId, Token
from corral.core.log import events as e
from tests.core.memory_board import TTL_S, Board

FENCED = {
    name: command for name, command in COMMANDS.items() if "token" in command.__struct_fields__
}
ON_TASKS = {name: command for name, command in FENCED.items() if name.startswith("task ")}
ON_LEASES = {name: command for name, command in FENCED.items() if name.startswith("lease ")}
TASK = TaskId("AF-1")


def filled(command: type[Command], **given: Any) -> Command:
    """Make a command: required fields get an example, `force` is on where there is one."""
    examples: dict[str, Any] = {"task": TASK, "resource": "file:src/**", "text": "x", "force": True}
    values = {
        field.name: given.get(field.name, examples.get(field.name))
        for field in msgspec.structs.fields(command)
        if field.required or field.name in (*given, "force")
    }
    return command(**values)


@pytest.fixture
def board() -> Board:
    """A task and a lease that ana lost to bob."""
    board = Board()
    board.task()
    board.claim(TASK, "ana")
    board.do(c.AcquireLease(resource="file:src/**", ttl_s=TTL_S), "ana")
    board.wait(TTL_S)
    board.claim(TASK, "bob")
    board.do(c.AcquireLease(resource="file:src/**", ttl_s=TTL_S), "bob")
    return board


def tokens(board: Board, kind: type[e.TaskClaimed] | type[e.LeaseAcquired]) -> list[Token]:
    """Return all tokens that were ever granted, the current one last."""
    lines = [msgspec.json.decode(line) for line in board.log]
    return [Token(line["data"]["token"]) for line in lines if line["type"] == kind.type]


def test_commands_that_take_a_token_are_those_on_tasks_and_leases() -> None:
    assert {**ON_TASKS, **ON_LEASES} == FENCED
    assert len(ON_TASKS) >= 7
    assert len(ON_LEASES) >= 2


@pytest.mark.parametrize("name", sorted(ON_TASKS))
@pytest.mark.parametrize("actor", ["ana", "bob", "eve"])
def test_a_stale_token_of_a_task_is_refused(board: Board, name: str, actor: str) -> None:
    stale, current = tokens(board, e.TaskClaimed)
    lease = tokens(board, e.LeaseAcquired)[-1]
    for shown in (stale, lease, Token("0"), Token("1000000"), Token(f" {current}"), Token("é")):
        refusal = board.refusal(filled(ON_TASKS[name], token=shown), actor)
        assert (refusal.code, refusal.exit_code) == ("stale_token", 3)
    board.do(filled(ON_TASKS[name], token=current), actor)


@pytest.mark.parametrize("name", sorted(ON_LEASES))
@pytest.mark.parametrize("actor", ["ana", "bob", "eve"])
def test_a_stale_token_of_a_lease_is_refused(board: Board, name: str, actor: str) -> None:
    stale, current = tokens(board, e.LeaseAcquired)
    claim = tokens(board, e.TaskClaimed)[-1]
    for shown in (stale, claim, Token(""), Token("0"), Token("1000000"), Token(f" {current}")):
        refusal = board.refusal(filled(ON_LEASES[name], token=shown), actor)
        assert (refusal.code, refusal.exit_code) == ("stale_token", 3)
    board.do(filled(ON_LEASES[name], token=current), actor)


@pytest.mark.parametrize("name", sorted(ON_TASKS))
@pytest.mark.parametrize("ended", ["submitted", "blocked", "failed", "handed off", "cancelled"])
def test_a_token_dies_with_its_claim_however_it_ended(board: Board, name: str, ended: str) -> None:
    token = tokens(board, e.TaskClaimed)[-1]
    ends: dict[str, Command] = {
        "submitted": c.SubmitTask(task=TASK, token=token),
        "blocked": c.BlockTask(task=TASK, force=True),
        "failed": c.FailTask(task=TASK, token=token),
        "handed off": c.HandOffTask(task=TASK, force=True),
        "cancelled": c.CancelTask(task=TASK),
    }
    board.do(ends[ended], "boss")
    refusal = board.refusal(filled(ON_TASKS[name], token=token), "bob")
    assert refusal.code == "stale_token"
    assert "nobody holds it now" in refusal.message


@pytest.mark.parametrize("name", sorted(ON_TASKS))
def test_the_token_of_one_task_is_worth_nothing_on_another(board: Board, name: str) -> None:
    other = board.task(title="Another")
    board.claim(other, "ana")
    token = tokens(board, e.TaskClaimed)[1]
    assert board.refusal(filled(ON_TASKS[name], task=other, token=token)).code == "stale_token"


@pytest.mark.parametrize("name", sorted(ON_LEASES))
def test_the_token_of_a_released_lease_is_worth_nothing(board: Board, name: str) -> None:
    token = tokens(board, e.LeaseAcquired)[-1]
    board.do(c.ReleaseLease(resource="file:src/**", token=token))
    assert board.refusal(filled(ON_LEASES[name], token=token)).code == "stale_token"
