"""R34: the conversation goes on: words, changed plans, and what has started stays as it is."""

from pathlib import Path

from tests.e2e.mayor.hall import Hall, make_hall, plan, task

BOARD = plan(task("a"), task("b", needs=["a"]), task("c"))


def test_a_question_is_answered_in_words_and_nothing_changes(hall: Hall) -> None:
    hall.answers(BOARD, "Because a is a part of b.")
    hall.start("--yes")
    events = len(hall.of_type("task.edited"))
    said = hall.corral("mayor", "ask", "Why is b after a?")
    assert "Because a is a part of b." in said.out
    assert hall.mayor()["state"] == "idle"
    assert len(hall.of_type("plan.proposed")) == 1
    assert len(hall.of_type("task.edited")) == events
    assert "Why is b after a?" in hall.asked(2)
    assert "a (GOO-1): not started" in hall.asked(2)
    tail = hall.here("mayor", "tail", code=0).out
    assert "Because a is a part of b." in tail


def test_an_amended_plan_adds_changes_splits_and_cancels_after_approval(hall: Hall) -> None:
    split = plan(
        task("b", title="Do the first half of b", needs=["a"]),
        task("b2", needs=["b"]),
        cancel=["c"],
    )
    hall.answers(BOARD, split)
    hall.start("--yes")
    hall.corral("mayor", "ask", "Split b, and leave out c")
    assert set(hall.titles().values()) == {"todo"}, "shown before it is applied"
    assert hall.mayor()["cancel"] == ["GOO-3"]
    hall.here("mayor", "approve", code=0)
    assert hall.titles() == {
        "Do a": "todo",
        "Do the first half of b": "todo",
        "Do c": "cancelled",
        "Do b2": "todo",
    }
    assert hall.task("GOO-4")["needs"] == ["GOO-2"]
    kinds = [event["type"] for event in hall.events()]
    first = kinds.index("plan.approved")
    assert "convoy.created" not in kinds[first:]


def test_what_has_started_can_be_neither_changed_nor_cancelled(hall: Hall) -> None:
    changed = plan(task("a", brief="Something else."))
    hall.answers(BOARD, changed, plan(cancel=["a"]), plan(task("d", needs=["a"])))
    hall.start("--yes")
    hall.claim("GOO-1", "ana")
    hall.corral("mayor", "ask", "Do it otherwise", "--yes")
    assert "it is doing and cannot be changed" in hall.asked(3)
    assert "only what has not started can be cancelled" in hall.asked(4)
    assert hall.titles() == {"Do a": "doing", "Do b": "todo", "Do c": "todo", "Do d": "todo"}


def test_a_need_on_what_is_cancelled_is_wrong_and_given_up_without_harm(hall: Hall) -> None:
    bad = plan(cancel=["a"])
    hall.answers(BOARD, bad, bad, bad, "Fine.")
    hall.start("--yes")
    hall.corral("mayor", "ask", "Leave out a", "--yes")
    assert 'it needs "a", which is cancelled' in hall.asked(3)
    assert hall.mayor()["state"] == "idle"
    assert "no plan that can be used in 3 attempts" in hall.mayor()["reason"]
    assert set(hall.titles().values()) == {"todo"}
    hall.corral("mayor", "ask", "Are you there?")
    assert hall.runs == 5


def test_a_proposal_can_be_talked_about_before_it_is_approved(hall: Hall) -> None:
    hall.answers(BOARD, "It is simple.", plan(task("d"), cancel=["c"]))
    hall.start()
    hall.corral("mayor", "ask", "Is this simple?")
    assert hall.mayor()["state"] == "proposed"
    hall.corral("mayor", "ask", "d in place of c, please", "--yes")
    assert set(hall.titles()) == {"Do a", "Do b", "Do d"}


def test_an_engine_that_remembers_is_only_told_what_is_new(tmp_path: Path) -> None:
    hall = make_hall(tmp_path / "project", 'output = "facts"')
    began = """echo '{"fact":"began","session":"th-7","model":"m-1"}'\n"""
    hall.script(began + hall.told("No."), began + hall.told(BOARD), began + hall.told("Yes."))
    hall.start("--yes")
    hall.corral("mayor", "ask", "Sure?")
    resumed = [(hall.place / f"resume-{n}").read_text().strip() for n in (1, 2, 3)]
    assert resumed == ["", "th-7", "th-7"]
    assert "Make a plan" not in hall.asked(2)
    assert "there is no JSON object in it" in hall.asked(2)
    assert "Sure?" in hall.asked(3)
