"""Bad input gets one sentence and exit code 2 or 4, and changes nothing.

Every text field of every command is tried, so that a new one cannot be forgotten.
"""

from typing import Any

import msgspec
import pytest

from corral.core import text
from corral.core.board import commands as c
from corral.core.board.commands import COMMANDS, Command
from corral.core.errors import BadInput, NotFound
from corral.core.ids import ConvoyId, TaskId
from corral.core.log.state import TaskState
from corral.core.queue.events import CheckStarted
from tests.core.memory_board import Board, started
from tests.core.plan.plans import plan, task

HOSTILE = {
    "a megabyte": "x" * 1_000_000,
    "an escape": "a\x1b[2Jb",
    "a null": "a\0b",
    "right-to-left": "a\u202eb",
    "a lone surrogate": "a\udc80b",
}
# Where a task must be for the rest of the command to be fine.
STATES = {"unblock": TaskState.BLOCKED, "retry": TaskState.FAILED}
STATES |= dict.fromkeys(("land", "eject", "prioritise"), TaskState.REVIEW)


def takes_text(kind: Any) -> bool:
    if kind is str or getattr(kind, "__supertype__", None) is str:
        return True
    return any(takes_text(part) for part in getattr(kind, "__args__", ()))


def text_fields() -> list[tuple[str, str]]:
    """Return every field, of every command, that takes text or a list of texts."""
    return [
        (name, field.name)
        for name, command in COMMANDS.items()
        for field in msgspec.structs.fields(command)
        if takes_text(field.type)
    ]


def prepared(name: str) -> tuple[Board, dict[str, Any]]:
    """Return a board on which the command would be fine, and its required fields."""
    board = Board()
    board.task()
    move = name.partition(" ")[2]
    doing = move in ("renew", "submit", "fail")
    state = TaskState.DOING if doing else STATES.get(move, TaskState.TODO)
    token = board.bring(TaskId("AF-1"), state)
    fine: dict[str, Any] = {"title": "T", "task": "AF-1", "text": "t", "subject": "s"}
    fine |= {"resource": "port:1", "token": token, "plan": plan(task("a"))}
    if name.startswith("lease ") and move != "acquire":
        board.do(c.AcquireLease(resource="port:1"))
        fine["token"] = str(board.state.seq)
    if name.startswith("session "):
        board.task()
        board.record(started(board.state, TaskId("AF-2"), board.now, takes="turn"))
        fine["session"] = "AF-2.1"
    if name.startswith("message "):
        fine |= {"to": "people", "message": f"m-{board.state.seq + 1}"}
    if name == "message ack":
        board.do(c.SendMessage(to="people", text="t"))
        board.do(c.ReadMessages())
    if name == "resume":
        board.do(c.Pause())
        board.do(c.Pause(convoy=ConvoyId("auth-fix")))
    if move in ("clear", "acknowledge") and name.startswith("alert "):
        board.do(c.RaiseAlert(subject="s", text="t"))
        fine["alert"] = f"alert-{board.state.seq}"
    if move == "report":
        board.add(external_run())
        fine |= {"check": "R1", "result": "green"}
    fields = msgspec.structs.fields(COMMANDS[name])
    wanted = {field.name for field in fields if field.required or field.name == "token"}
    return board, {key: value for key, value in fine.items() if key in wanted}


def external_run() -> CheckStarted:
    return CheckStarted(
        run="R1",
        convoy=ConvoyId("auth-fix"),
        members=(TaskId("AF-1"),),
        tip="1" * 40,
        commit="2" * 40,
        tree="3" * 40,
        key="k",
        external=True,
    )


def with_value(name: str, field: str, value: str, fine: dict[str, Any]) -> Command:
    kind = next(f.type for f in msgspec.structs.fields(COMMANDS[name]) if f.name == field)
    return COMMANDS[name](**{**fine, field: (value,) if "tuple" in str(kind) else value})


@pytest.mark.parametrize("name", sorted(set(COMMANDS) - {"task edit"}))
def test_every_command_is_fine_before_it_is_spoilt(name: str) -> None:
    board, fine = prepared(name)
    board.do(COMMANDS[name](**fine))


@pytest.mark.parametrize(("name", "field"), text_fields())
@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_text_is_refused_in_every_field(name: str, field: str, hostile: str) -> None:
    board, fine = prepared(name)
    refusal = board.refusal(with_value(name, field, HOSTILE[hostile], fine))
    assert refusal.exit_code in (2, 3, 4)
    if not isinstance(refusal, NotFound):
        assert isinstance(refusal, BadInput) or refusal.code == "stale_token"
    assert refusal.message.isprintable()
    assert refusal.hint.isprintable()
    assert len(refusal.message) < 300


@pytest.mark.parametrize("hostile", [*HOSTILE.values(), "", "  "])
def test_a_hostile_name_is_refused_for_every_actor(hostile: str) -> None:
    board, _ = prepared("task add")
    for command in (c.AddTask(title="T"), c.ClaimTask(), c.AcquireLease(resource="port:1")):
        assert isinstance(board.refusal(command, hostile), BadInput)


@pytest.mark.parametrize("priority", [-1, text.PRIORITY + 1, 10**30])
def test_a_priority_is_not_negative_and_not_beyond_reason(priority: int) -> None:
    board, _ = prepared("task add")
    for command in (
        c.AddTask(title="T", priority=priority),
        c.EditTask(task=TaskId("AF-1"), priority=priority),
    ):
        refusal = board.refusal(command)
        assert f"the priority is {priority}" in refusal.message
        assert refusal.exit_code == 2


@pytest.mark.parametrize("ttl_s", [0, -5, text.TTL_S + 1])
def test_a_claim_lasts_a_second_at_least_and_a_month_at_most(ttl_s: int) -> None:
    board, _ = prepared("task add")
    assert board.refusal(c.ClaimTask(ttl_s=ttl_s)).exit_code == 2
    token = board.claim(TaskId("AF-1"))
    renewal = c.RenewTask(task=TaskId("AF-1"), token=token, ttl_s=ttl_s)
    assert board.refusal(renewal).exit_code == 2


@pytest.mark.parametrize("pattern", ["", "/etc", "../x", "a//b", "src/[", "a**b", ".git/x", "~/x"])
def test_a_bad_path_pattern_is_refused_by_name(pattern: str) -> None:
    board, _ = prepared("task add")
    for command in (
        c.AddTask(title="T", paths=(pattern,)),
        c.AddTask(title="T", inputs=(pattern,)),
        c.EditTask(task=TaskId("AF-1"), paths=("ok", pattern)),
    ):
        refusal = board.refusal(command)
        assert refusal.exit_code == 2
        assert pattern in refusal.message


def test_an_input_is_one_file_and_not_a_pattern() -> None:
    board, _ = prepared("task add")
    assert "name one file" in board.refusal(c.AddTask(title="T", inputs=("docs/*",))).message


@pytest.mark.parametrize("field", ["paths", "accept", "inputs", "needs"])
def test_a_list_is_bounded(field: str) -> None:
    board, _ = prepared("task add")
    many = tuple(f"x{number}" for number in range(text.ITEMS + 1))
    command = COMMANDS["task add"](**{"title": "T", field: many})
    assert "at most 200" in board.refusal(command).message


@pytest.mark.parametrize("commit", ["HEAD", "abc", "a" * 65, "ABCDEF0", "abcdefg", "-abcdef"])
def test_a_commit_is_written_as_git_prints_it(commit: str) -> None:
    board, fine = prepared("task submit")
    assert "not a commit id" in board.refusal(c.SubmitTask(**fine, commit=commit)).message
    board, fine = prepared("task land")
    assert "not a commit id" in board.refusal(c.LandTask(task=fine["task"], commit=commit)).message


def test_an_edit_must_change_something_that_it_can() -> None:
    board, _ = prepared("task add")
    assert "nothing to change" in board.refusal(c.EditTask(task=TaskId("AF-1"))).message


@pytest.mark.parametrize("blank", ["", " ", "\n\t"])
def test_a_comment_says_something(blank: str) -> None:
    board, _ = prepared("task comment")
    assert board.refusal(c.CommentTask(task=TaskId("AF-1"), text=blank)).exit_code == 2


def test_what_does_not_exist_is_not_found() -> None:
    board, _ = prepared("task add")
    for command in (
        c.ClaimTask(task=TaskId("AF-99")),
        c.CancelTask(task=TaskId("")),
        c.AddTask(title="T", needs=(TaskId("XX-1"),)),
        c.AddTask(title="T", convoy=ConvoyId("nope")),
        c.ClearAlert(alert="alert-99"),
    ):
        refusal = board.refusal(command)
        assert (type(refusal), refusal.exit_code) == (NotFound, 4)


def test_a_strategy_is_one_of_three() -> None:
    refusal = Board().refusal(c.CreateConvoy(title="T", strategy="octopus"))
    assert (refusal.exit_code, refusal.hint) == (2, "use rebase, squash or merge")
