"""Applying a plan creates its convoy and tasks at once; applying it again changes nothing."""

from collections.abc import Sequence

import pytest

from corral.core.board import commands as c
from corral.core.errors import BadInput, Refused
from corral.core.ids import ConvoyId, TaskId, Token
from corral.core.log import events as e
from corral.core.log.state import TaskState
from corral.core.plan.apply import PlanOutcome, applied, outcome
from corral.core.plan.schema import ConvoyPlan, Plan
from corral.core.show.views import task_view
from corral.core.show.why import explain
from tests.core.memory_board import Board
from tests.core.plan.plans import plan, task


def put(board: Board, made: Plan) -> tuple[Sequence[e.Event], PlanOutcome]:
    events = board.do(c.ApplyPlan(plan=made))
    return events, outcome(board.state, made, events)


THREE = plan(
    task("docs", "tokens", "login"),
    task("tokens", paths=("auth/tokens.py",), brief="Write it.", run=("true",), role="worker"),
    task("login", paths=("auth/**",), priority=2, engine="tests", inputs=("README.md",)),
)


def test_a_plan_becomes_a_convoy_with_its_tasks() -> None:
    board = Board()
    _, done = put(board, THREE)
    assert (done.convoy, done.created, done.left) == ("auth-fix", True, ())
    assert [(named.task, named.key) for named in done.added] == [
        ("AF-1", "login"),
        ("AF-2", "tokens"),
        ("AF-3", "docs"),
    ]
    tokens = board.get("AF-2")
    assert (tokens.title, tokens.run, tokens.role) == ("Tokens", ("true",), "worker")
    assert tokens.needs == ("AF-1",)
    assert tokens.reasons == {"AF-1": "auth/** and auth/tokens.py overlap"}
    assert board.get("AF-3").needs == ("AF-2", "AF-1")
    assert board.get("AF-3").reasons == {}
    assert board.get("AF-1").inputs == ("README.md",)


def test_the_same_plan_again_changes_nothing_whatever_happened_meanwhile() -> None:
    board = Board()
    put(board, THREE)
    token = ""
    for meanwhile in (None, "claim", "submit"):
        if meanwhile == "claim":
            token = board.claim(TaskId("AF-1"))
        elif meanwhile == "submit":
            board.do(c.SubmitTask(task=TaskId("AF-1"), token=Token(token)))
        events, done = put(board, THREE)
        assert list(events) == []
        assert (done.created, done.added, done.changed, done.left) == (False, (), (), ())


def test_the_reason_of_an_inferred_need_is_shown_and_goes_with_it() -> None:
    board = Board()
    put(board, THREE)
    obstacle = explain(board.state, board.get("AF-2"), board.now).obstacles[0]
    assert obstacle.text == (
        "AF-2 needs AF-1, which has not landed (state: todo); inferred: auth/** and auth/tokens.py"
        " overlap"
    )
    assert "corral task edit AF-2 --drop-need AF-1" in obstacle.hint
    assert task_view(board.state, board.get("AF-2")).reasons
    board.do(c.EditTask(task=TaskId("AF-2"), drop_needs=(TaskId("AF-1"),)))
    assert (board.get("AF-2").needs, board.get("AF-2").reasons) == ((), {})
    assert list(put(board, THREE)[0]) == []  # and the plan does not bring it back


def test_a_changed_plan_changes_what_has_not_started_and_says_what_it_left() -> None:
    board = Board()
    put(board, THREE)
    board.claim(TaskId("AF-1"))
    changed = plan(
        task("tokens", paths=("auth/tokens.py",), brief="Write it well."),
        task("login", paths=("auth/**",), priority=9),
        task("extra", paths=("web/**",)),
    )
    events, done = put(board, changed)
    assert [named.key for named in done.added] == ["extra"]
    assert [named.key for named in done.changed] == ["tokens"]
    assert [(left.what, left.text) for left in done.left] == [
        ("AF-1", "login is in state doing, so the plan's changes to it were not applied"),
        (
            "AF-3",
            "docs is no longer in the plan (to drop it: corral task cancel AF-3)",
        ),
    ]
    assert board.get("AF-1").priority == 2
    tokens = board.get("AF-2")
    assert (tokens.run, tokens.role, tokens.needs) == ((), "", ("AF-1",))
    assert tokens.brief_seq == board.state.seq - len(events) + 1 + [
        isinstance(event, e.TaskEdited) for event in events
    ].index(True)
    assert list(put(board, changed)[0]) == []


def test_needs_can_be_turned_around() -> None:
    board = Board()
    put(board, plan(task("a"), task("b", "a"), task("c", "b")))
    _, done = put(board, plan(task("a", "b"), task("b", "c"), task("c")))
    assert {named.key for named in done.changed} == {"a", "b", "c"}
    assert [board.get(f"AF-{n}").needs for n in (1, 2, 3)] == [("AF-2",), ("AF-3",), ()]


def test_a_new_overlap_orders_an_unchanged_task_and_an_old_one_stops_to() -> None:
    board = Board()
    later = task("b", paths=("x/**",))
    put(board, plan(task("a", paths=("y",)), later))
    put(board, plan(task("a", paths=("x/1",)), later))
    assert board.get("AF-2").reasons == {"AF-1": "x/1 and x/** overlap"}
    put(board, plan(task("a", paths=("y",)), later))
    assert (board.get("AF-2").needs, board.get("AF-2").reasons) == ((), {})
    put(board, plan(task("new", paths=("x/2",)), task("a", paths=("y",)), later))
    assert board.get("AF-2").needs == ("AF-3",)


def test_needs_given_by_hand_stay() -> None:
    board = Board()
    put(board, plan(task("a"), task("b", "a")))
    board.convoy("Other")
    other = board.one(e.TaskAdded, c.AddTask(title="x", convoy=ConvoyId("other"))).task
    board.do(c.EditTask(task=TaskId("AF-2"), needs=(other,)))
    put(board, plan(task("a"), task("b", title="Another title")))
    assert board.get("AF-2").needs == (other,)
    put(board, plan(task("a"), task("b", "a", other, title="A third one")))
    assert set(board.get("AF-2").needs) == {other, "AF-1"}


def test_it_is_all_or_nothing() -> None:
    board = Board()
    refusal = board.refusal(c.ApplyPlan(plan=plan(task("new"), task("bad", paths=("/etc",)))))
    assert isinstance(refusal, BadInput)
    assert refusal.code == "bad_plan"
    assert refusal.message == (
        'the plan cannot be applied: task.bad.paths: the path "/etc" cannot be used: absolute, not'
        " relative to the repository; nothing was changed"
    )


def test_a_cycle_that_runs_through_what_was_done_by_hand_is_refused_by_name() -> None:
    board = Board()
    put(board, plan(task("a")))
    board.convoy("Other")
    other = board.one(e.TaskAdded, c.AddTask(title="x", convoy=ConvoyId("other"))).task
    board.do(c.EditTask(task=other, needs=(TaskId("AF-1"),)))
    refusal = board.refusal(c.ApplyPlan(plan=plan(task("new"), task("a", other))))
    assert refusal.code == "cycle"
    assert f"AF-1 → {other} → AF-1" in refusal.message


def test_the_convoy_is_known_by_its_slug_or_by_its_title() -> None:
    board = Board()
    put(board, plan(task("a")))
    _, same = put(board, plan(task("a"), task("b")))
    assert (same.convoy, same.created) == ("auth-fix", False)
    _, other = put(board, plan(task("a"), title="Auth fix!"))
    assert (other.convoy, other.created) == ("auth-fix-2", True)
    convoy = ConvoyPlan(title="Another", slug="auth-fix", prefix="XY", base="dev", checks=("x",))
    _, renamed = put(board, Plan(convoy=convoy, tasks=(task("a"), task("b"))))
    assert not renamed.created
    assert [left.text for left in renamed.left] == [
        "its title stays Auth fix; the plan says Another",
        "its prefix stays AF; the plan says XY",
        "its base stays unset; the plan says dev",
        "its checks are unchanged; the plan has others",
    ]


def test_slug_and_prefix_are_taken_from_the_plan_unless_they_are_taken() -> None:
    board = Board()
    convoy = ConvoyPlan(title="Auth fix", slug="auth", prefix="AU")
    put(board, Plan(convoy=convoy, tasks=(task("a"),)))
    assert board.get("AU-1").convoy == "auth"
    again = ConvoyPlan(title="Other", slug="other", prefix="AU")
    refusal = board.refusal(c.ApplyPlan(plan=Plan(convoy=again, tasks=(task("a"),))))
    assert isinstance(refusal, Refused)
    assert refusal.code == "prefix_taken"


def test_a_corrected_task_that_had_failed_is_tried_again() -> None:
    board = Board()
    put(board, plan(task("a")))
    board.bring(TaskId("AF-1"), TaskState.FAILED)
    assert list(put(board, plan(task("a")))[0]) == []  # the plan says nothing new
    events, done = put(board, plan(task("a", title="Corrected")))
    assert [event.type for event in events] == ["task.edited", "task.retried"]
    found = board.get(TaskId("AF-1"))
    assert (found.title, found.state) == ("Corrected", TaskState.TODO)
    assert done.left == ()


@pytest.mark.parametrize("state", [TaskState.DONE, TaskState.CANCELLED])
def test_what_is_over_is_left_alone(state: TaskState) -> None:
    board = Board()
    put(board, plan(task("a")))
    board.bring(TaskId("AF-1"), state)
    events, done = put(board, plan(task("a", title="Changed")))
    assert list(events) == []
    assert [left.what for left in done.left] == ["AF-1"]


def test_deciding_does_not_touch_the_state() -> None:
    board = Board()
    put(board, THREE)
    before = dict(board.state.tasks)
    applied(board.state, plan(task("new")), "ana", board.now)
    assert board.state.tasks == before
