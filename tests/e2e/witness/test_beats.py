"""A silent session is questioned and ended, words are not output, a result ends the session."""

import pytest

from tests.e2e.witness.witness_repo import QUIET, WORK, WitnessRepo
from tests.patience import quickest

# They tell silence from work by the second.
pytestmark = pytest.mark.alone

FAST = QUIET.replace("beat_s = 60", "beat_s = 1\nbarren_beats = 2")


def test_a_silent_session_is_looked_at_then_stopped(project: WitnessRepo) -> None:
    project.configure(FAST.replace("barren_beats = 2", "barren_beats = 0"))

    def told_ms() -> float:
        """Run a silent session; return when somebody was told."""
        task = project.script("echo my last line; sleep 60")
        project.once()
        started, raised, asked = (
            project.of_type(kind)[-1]
            for kind in ("session.started", "alert.raised", "session.stop_asked")
        )
        said = raised["data"]
        assert (said["kind"], said["subject"]) == ("silent", f"{task}.1")
        assert "my last line" in said["text"]
        assert project.verdict(task) == "silent"
        assert "my last line" in project.detail(task)
        assert asked["at"] - started["at"] >= 3000
        return float(raised["at"] - started["at"])

    assert 2000 <= quickest(told_ms, 3500) < 3500
    assert len(project.of_type("alert.raised")) == len(project.of_type("session.started"))
    assert project.alerts() == {}  # what was said about it while it ran is over
    assert project.leftovers() == []


def test_a_session_that_talks_and_makes_nothing_is_an_alarm_of_its_own(
    project: WitnessRepo,
) -> None:
    project.configure(FAST.replace("grace_s = 1", "grace_s = 1\nwall_s = 4"))
    task = project.script(
        "while true; do echo '12:00 - still working [outputs: 0]' >> progress.md; sleep 0.3; done"
    )
    project.once()
    raised = project.of_type("alert.raised")
    assert [(a["data"]["kind"], a["data"]["subject"]) for a in raised] == [("barren", f"{task}.1")]
    assert "still working" in raised[0]["data"]["text"]
    assert project.verdict(task) == "timed_out"
    assert len(project.of_type("session.progressed")) == 1


def test_progress_is_recorded_and_outputs_keep_the_alarm_quiet(project: WitnessRepo) -> None:
    project.configure(FAST)
    task = project.script(
        'for n in 1 2 3 4; do echo "12:0$n - made $n [outputs: $n]" >> progress.md; sleep 0.8;'
        f" done; {WORK.replace('git add -A', 'git add work*')}"
    )
    project.once()
    assert project.verdict(task) == "proved", project.detail(task)
    assert [e["data"]["outputs"] for e in project.of_type("session.progressed")] == [1, 2, 3, 4]
    assert project.of_type("alert.raised") == []


def test_a_result_ends_the_session_which_is_then_judged_like_any_other(
    project: WitnessRepo,
) -> None:
    hand_in = "echo '{\"done\": true}' > results.json; sleep 60"
    good = project.script(f"{WORK}; {hand_in}")
    idle = project.script(hand_in)
    project.once()
    assert (project.verdict(good), project.verdict(idle)) == ("proved", "no_change")
    assert {e["data"]["verdict"] for e in project.of_type("session.stop_asked")} == {"result"}


def test_a_result_that_is_no_object_is_told_and_ends_nothing(project: WitnessRepo) -> None:
    wrong = ("not json", "[1, 2]")
    tasks = [
        project.script(f"{WORK}; echo '{text}' > results.json; sleep 1; rm results.json")
        for text in wrong
    ]
    pipe = project.script(
        f"{WORK}; mkfifo results.json progress.md; sleep 1; rm results.json progress.md"
    )
    project.once()
    raised = {e["data"]["subject"]: e["data"]["text"] for e in project.of_type("alert.raised")}
    assert "not JSON" in raised[f"{tasks[0]}.1"]
    assert "not an object" in raised[f"{tasks[1]}.1"]
    assert {project.verdict(task) for task in [*tasks, pipe]} == {"proved"}
    assert project.of_type("session.stop_asked") == []


def test_an_ignored_result_is_reported_once_and_cleared_when_handled(
    project: WitnessRepo,
) -> None:
    project.configure(FAST)

    def told_ms() -> float:
        """Have a result that waits; return when somebody was told."""
        task = project.script(WORK)
        project.until(lambda: project.alerts().get("unattended") == task)
        raised, submitted = (
            project.of_type("alert.raised")[-1],
            project.of_type("task.submitted")[-1],
        )
        project.here("task", "land", task, code=0)
        project.until(lambda: project.alerts() == {})
        return float(raised["at"] - submitted["at"])

    with project.witness():
        assert 3000 <= quickest(told_ms, 4500) < 4500
    assert len(project.of_type("alert.raised")) == len(project.of_type("task.submitted"))
