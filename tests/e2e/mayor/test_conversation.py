"""The conversation with the mayor: answers, amended plans, and started work left as it is."""

from pathlib import Path

from tests.e2e.mayor.mayor_repo import MayorRepo, make_mayor_repo, plan, task

BOARD = plan(task("a"), task("b", needs=["a"]), task("c"))


def test_a_question_is_answered_in_words_and_nothing_changes(project: MayorRepo) -> None:
    project.answers(BOARD, "Because a is a part of b.")
    project.start("--yes")
    events = len(project.of_type("task.edited"))
    said = project.corral("mayor", "ask", "Why is b after a?")
    assert "Because a is a part of b." in said.out
    assert project.mayor()["state"] == "idle"
    assert len(project.of_type("plan.proposed")) == 1
    assert len(project.of_type("task.edited")) == events
    assert "Why is b after a?" in project.asked(2)
    assert "a (GOO-1): not started" in project.asked(2)
    tail = project.here("mayor", "tail", code=0).out
    assert "Because a is a part of b." in tail


def test_an_amended_plan_adds_changes_splits_and_cancels_after_approval(project: MayorRepo) -> None:
    split = plan(
        task("b", title="Do the first half of b", needs=["a"]),
        task("b2", needs=["b"]),
        cancel=["c"],
    )
    project.answers(BOARD, split)
    project.start("--yes")
    project.corral("mayor", "ask", "Split b, and leave out c")
    assert set(project.titles().values()) == {"todo"}, "shown before it is applied"
    assert project.mayor()["cancel"] == ["GOO-3"]
    project.here("mayor", "approve", code=0)
    assert project.titles() == {
        "Do a": "todo",
        "Do the first half of b": "todo",
        "Do c": "cancelled",
        "Do b2": "todo",
    }
    assert project.task("GOO-4")["needs"] == ["GOO-2"]
    kinds = [event["type"] for event in project.events()]
    first = kinds.index("plan.approved")
    assert "convoy.created" not in kinds[first:]


def test_what_has_started_can_be_neither_changed_nor_cancelled(project: MayorRepo) -> None:
    changed = plan(task("a", brief="Something else."))
    project.answers(BOARD, changed, plan(cancel=["a"]), plan(task("d", needs=["a"])))
    project.start("--yes")
    project.claim("GOO-1", "ana")
    project.corral("mayor", "ask", "Do it otherwise", "--yes")
    assert "it is in state doing and cannot be changed" in project.asked(3)
    assert "a task that has started cannot be cancelled" in project.asked(4)
    assert project.titles() == {"Do a": "doing", "Do b": "todo", "Do c": "todo", "Do d": "todo"}


def test_a_need_on_what_is_cancelled_is_wrong_and_given_up_without_harm(project: MayorRepo) -> None:
    bad = plan(cancel=["a"])
    project.answers(BOARD, bad, bad, bad, "Fine.")
    project.start("--yes")
    project.corral("mayor", "ask", "Leave out a", "--yes")
    assert 'it needs "a", which this plan cancels' in project.asked(3)
    assert project.mayor()["state"] == "idle"
    assert "no usable plan after 3 attempts" in project.mayor()["reason"]
    assert set(project.titles().values()) == {"todo"}
    project.corral("mayor", "ask", "Are you there?")
    assert project.runs == 5


def test_a_proposal_can_be_talked_about_before_it_is_approved(project: MayorRepo) -> None:
    project.answers(BOARD, "It is simple.", plan(task("d"), cancel=["c"]))
    project.start()
    project.corral("mayor", "ask", "Is this simple?")
    assert project.mayor()["state"] == "proposed"
    project.corral("mayor", "ask", "d in place of c, please", "--yes")
    assert set(project.titles()) == {"Do a", "Do b", "Do d"}


def test_an_engine_that_remembers_is_only_told_what_is_new(tmp_path: Path) -> None:
    project = make_mayor_repo(tmp_path / "project", 'output = "facts"')
    began = """echo '{"fact":"began","session":"th-7","model":"m-1"}'\n"""
    project.script(
        began + project.told("No."), began + project.told(BOARD), began + project.told("Yes.")
    )
    project.start("--yes")
    project.corral("mayor", "ask", "Sure?")
    resumed = [(project.place / f"resume-{n}").read_text().strip() for n in (1, 2, 3)]
    assert resumed == ["", "th-7", "th-7"]
    assert "Make a plan" not in project.asked(2)
    assert "it contains no JSON object" in project.asked(2)
    assert "Sure?" in project.asked(3)
