"""A silent session is questioned and ended, words are not output, a result ends the session."""

from pathlib import Path

from tests.e2e.witness.witness_repo import QUIET, WORK, WitnessRepo

FAST = QUIET.replace("beat_s = 60", "beat_s = 1\nbarren_beats = 0")
# Silence counts after two beats, and nothing made after one: an agent of these tests gives a sign
# much more often, so a machine that is slow for a moment is not taken for a silent agent.
BARREN = QUIET.replace("beat_s = 60", "beat_s = 3\nbarren_beats = 1")


def test_a_silent_session_is_looked_at_then_stopped(project: WitnessRepo) -> None:
    project.configure(FAST)
    task = project.script("echo my last line; sleep 1000")
    project.once()
    ((started,), (raised,), (asked,)) = (
        project.of_type(kind) for kind in ("session.started", "alert.raised", "session.stop_asked")
    )
    said = raised["data"]
    assert (said["kind"], said["subject"]) == ("silent", f"{task}.1")
    assert "my last line" in said["text"]
    assert project.verdict(task) == "silent"
    assert "my last line" in project.detail(task)
    assert raised["at"] - started["at"] >= 2000
    assert asked["at"] - started["at"] >= 3000
    assert project.alerts() == {}  # what was said about it while it ran is over
    assert project.leftovers() == []


def test_a_session_that_talks_and_makes_nothing_is_an_alarm_of_its_own(
    project: WitnessRepo,
) -> None:
    project.configure(BARREN.replace("grace_s = 1", "grace_s = 1\nwall_s = 5"))
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
    project.configure(BARREN)
    task = project.script(
        'for n in 1 2 3 4 5 6 7 8; do echo "12:0$n - made $n [outputs: $n]" >> progress.md;'
        " sleep 0.5;"
        f" done; {WORK.replace('git add -A', 'git add work*')}"
    )
    project.once()
    assert project.verdict(task) == "proved", project.detail(task)
    made = [e["data"]["outputs"] for e in project.of_type("session.progressed")]
    assert made == sorted(set(made))
    assert made[0] < made[-1] == 8, "some of them while it worked"
    assert project.of_type("alert.raised") == []


def test_a_result_ends_the_session_which_is_then_judged_like_any_other(
    project: WitnessRepo,
) -> None:
    hand_in = "echo '{\"done\": true}' > results.json; sleep 300"
    good = project.script(f"{WORK}; {hand_in}")
    idle = project.script(hand_in)
    project.once()
    assert (project.verdict(good), project.verdict(idle)) == ("proved", "no_change")
    assert {e["data"]["verdict"] for e in project.of_type("session.stop_asked")} == {"result"}


def test_a_result_that_is_no_object_is_told_and_ends_nothing(
    project: WitnessRepo, tmp_path: Path
) -> None:
    told = f"until test -e {tmp_path}/told; do sleep 0.1; done"
    pipe = project.script(
        f"{WORK}; mkfifo results.json progress.md; {told}; rm results.json progress.md"
    )
    with project.witness():
        project.until_running(f"{pipe}.1")
        tasks = [
            project.script(
                # All at once: an empty file is none of these.
                f"{WORK}; echo '{text}' > new; mv new results.json; {told}; rm results.json"
            )
            for text in ("not json", "[1, 2]")
        ]
        project.until(lambda: len(project.of_type("alert.raised")) >= 2)
        (tmp_path / "told").touch()
        for task in (*tasks, pipe):
            project.until_ended(task)
    raised = {e["data"]["subject"]: e["data"]["text"] for e in project.of_type("alert.raised")}
    assert "not JSON" in raised[f"{tasks[0]}.1"]
    assert "not an object" in raised[f"{tasks[1]}.1"]
    assert {project.verdict(task) for task in [*tasks, pipe]} == {"proved"}
    assert project.of_type("session.stop_asked") == []


def test_an_ignored_result_is_reported_once_and_cleared_when_handled(
    project: WitnessRepo,
) -> None:
    project.configure(FAST)
    task = project.script(WORK)
    with project.witness():
        project.until(lambda: project.alerts().get("unattended") == task)
        project.here("task", "land", task, code=0)
        project.until(lambda: project.alerts() == {})
    (raised,), (submitted,) = project.of_type("alert.raised"), project.of_type("task.submitted")
    assert raised["at"] - submitted["at"] >= 3000
