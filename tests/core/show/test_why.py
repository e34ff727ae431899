"""`why` explains exactly what the claim rule would decide."""

from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corral.core.board import commands as c
from corral.core.board.claims import next_offer, obstacles, offers
from corral.core.board.columns import column
from corral.core.board.graph import unmet
from corral.core.board.moves import moves_from
from corral.core.board.rules import decide
from corral.core.errors import CorralError, Refused
from corral.core.ids import TaskId
from corral.core.log.state import TaskState
from corral.core.session.slots import Limits
from corral.core.show.why import explain
from tests.core.memory_board import TTL_S, Board

ACTORS = ("ana", "bob")
TASKS = 3
MOVES = ("claim", "next", "submit", "land", "fail", "block", "unblock", "retry", "cancel")
WHAT = (*MOVES, "claim", "hand-off", "need", "drop", "wait", "wait")

steps = st.lists(
    st.tuples(
        st.sampled_from(WHAT),
        st.integers(1, TASKS),
        st.integers(1, TASKS),
        st.sampled_from(ACTORS),
    ),
    max_size=30,
)


def command_of(board: Board, what: str, task: TaskId, other: TaskId, actor: str) -> c.Command:
    claim = board.get(task).claim
    token: dict[str, Any] = {"token": claim.token if claim else ""}
    match what:
        case "claim":
            return c.ClaimTask(task=task, ttl_s=TTL_S)
        case "next":
            return c.ClaimTask(ttl_s=TTL_S)
        case "submit":
            return c.SubmitTask(task=task, **token)
        case "land":
            return c.LandTask(task=task)
        case "fail":
            return c.FailTask(task=task, **token)
        case "block":
            return c.BlockTask(task=task, reason="stuck", force=True)
        case "unblock":
            return c.UnblockTask(task=task)
        case "retry":
            return c.RetryTask(task=task)
        case "cancel":
            return c.CancelTask(task=task)
        case "hand-off":
            return c.HandOffTask(task=task, to=actor, force=True)
        case "need":
            return c.EditTask(task=task, needs=(other,))
        case _:
            return c.EditTask(task=task, drop_needs=(other,))


def run(board: Board, what: str, task: TaskId, other: TaskId, actor: str) -> None:
    if what == "wait":
        board.wait(TTL_S)
        return
    try:
        board.do(command_of(board, what, task, other, actor), actor)
    except CorralError:
        return


def refused(board: Board, task: TaskId, actor: str) -> Refused | None:
    try:
        decide(board.state, c.ClaimTask(task=task), actor, board.now)
    except Refused as refusal:
        return refusal
    return None


@settings(max_examples=150)
@given(steps)
@example([("hand-off", 1, 1, "ana"), ("claim", 1, 1, "ana"), ("wait", 1, 1, "ana")])
def test_why_and_the_claim_rule_always_agree(
    changes: list[tuple[str, int, int, str]],
) -> None:
    board = Board()
    for _ in range(TASKS):
        board.task()
    for what, task, other, actor in changes:
        run(board, what, TaskId(f"AF-{task}"), TaskId(f"AF-{other}"), actor)
    state, now = board.state, board.now
    for found in state.tasks.values():
        said = explain(state, found, now)
        decisions = {actor: refused(board, found.id, actor) for actor in (*ACTORS, "eve")}
        assert bool(said.obstacles) == all(decisions.values())
        for actor, refusal in decisions.items():
            reasons = obstacles(state, found, now, actor)
            assert (refusal and refusal.code) == (reasons[0].code if reasons else None)
            offered = found.id in {task.id for task in offers(state, now, actor)}
            assert offered == (refusal is None)
            if refusal is None:
                assert not unmet(state, found)
        if "anyone can take it over" in said.summary or "anyone can claim it" in said.summary:
            assert not any(decisions.values())
    for actor in ACTORS:
        offer = next_offer(state, now, actor)
        assert (offer is None) == all(refused(board, task, actor) for task in state.tasks)


def test_with_the_limits_it_is_also_said_that_a_task_waits_for_a_slot() -> None:
    board = Board()
    task = board.get(board.task())
    assert not explain(board.state, task, board.now, Limits(1)).obstacles
    said = explain(board.state, task, board.now, Limits(1, 0, {"big": 0}), "big")
    assert said.summary == "AF-1 is ready and waits for a slot"
    assert [obstacle.code for obstacle in said.obstacles] == ["pool_full"]


@pytest.mark.parametrize("state", list(TaskState))
def test_every_state_is_explained_with_what_can_be_done(state: TaskState) -> None:
    board = Board()
    task = board.task()
    later = board.task(task)
    board.bring(task, state)
    said = explain(board.state, board.get(task), board.now)
    assert (said.task, said.state, said.column) == (task, state, state)
    assert said.summary.startswith(f"{task} ")
    assert said.waiting_for_it == ([] if state is TaskState.DONE else [later])
    assert said.moves == [move.name for move in moves_from(state)]
    assert bool(said.obstacles) == (state is not TaskState.TODO)


def test_a_reason_that_was_given_is_repeated() -> None:
    board = Board()
    task = board.task()
    board.do(c.BlockTask(task=task, reason="no access to staging"))
    (obstacle,) = explain(board.state, board.get(task), board.now).obstacles
    assert obstacle.text == f"{task} is blocked: no access to staging"
    assert obstacle.hint == f"corral task unblock {task}"


def test_a_task_whose_need_was_cancelled_says_so() -> None:
    board = Board()
    one = board.task()
    two = board.task(one)
    board.do(c.CancelTask(task=one))
    said = explain(board.state, board.get(two), board.now)
    assert said.summary == f"{two} cannot start yet"
    assert [obstacle.code for obstacle in said.obstacles] == ["need_cancelled"]
    assert f"{one} was cancelled" in said.obstacles[0].text


def test_every_unmet_need_is_listed() -> None:
    board = Board()
    one, two = board.task(), board.task()
    three = board.task(one, two)
    said = explain(board.state, board.get(three), board.now)
    assert [obstacle.text for obstacle in said.obstacles] == [
        f"{three} needs {one}, which has not landed (state: todo)",
        f"{three} needs {two}, which has not landed (state: todo)",
    ]
    assert said.column == column(board.state, board.get(three)) == "backlog"


def test_a_held_task_says_by_whom_and_a_lapsed_one_that_it_can_be_taken() -> None:
    board = Board()
    task = board.task()
    board.claim(task, "bob")
    held = explain(board.state, board.get(task), board.now)
    assert held.obstacles[0].text == f"{task} is held by bob for another {TTL_S} s"
    board.wait(TTL_S)
    lapsed = explain(board.state, board.get(task), board.now)
    assert lapsed.obstacles == []
    assert "was held by bob, whose claim has lapsed" in lapsed.summary


def test_a_reserved_task_says_for_whom() -> None:
    board = Board()
    task = board.task(assignee="bob")
    assert "waits for bob" in explain(board.state, board.get(task), board.now).summary
