"""R16: silence is looked at and ended, words are not outputs, a result ends the session."""

import pytest

from tests.e2e.witness.farm import QUIET, WORK, Farm
from tests.patience import quickest

# They tell silence from work by the second.
pytestmark = pytest.mark.alone

FAST = QUIET.replace("beat_s = 60", "beat_s = 1\nbarren_beats = 2")


def test_a_silent_session_is_looked_at_then_stopped(farm: Farm) -> None:
    farm.configure(FAST.replace("barren_beats = 2", "barren_beats = 0"))

    def told_ms() -> float:
        """Run a silent session; return when somebody was told."""
        task = farm.script("echo my last line; sleep 60")
        farm.once()
        started, raised, asked = (
            farm.of_type(kind)[-1]
            for kind in ("session.started", "alert.raised", "session.stop_asked")
        )
        said = raised["data"]
        assert (said["kind"], said["subject"]) == ("silent", f"{task}.1")
        assert "my last line" in said["text"]
        assert farm.verdict(task) == "silent"
        assert "my last line" in farm.detail(task)
        assert asked["at"] - started["at"] >= 3000
        return float(raised["at"] - started["at"])

    assert 2000 <= quickest(told_ms, 3500) < 3500
    assert len(farm.of_type("alert.raised")) == len(farm.of_type("session.started"))
    assert farm.alerts() == {}  # what was said about it while it ran is over
    assert farm.leftovers() == []


def test_a_session_that_talks_and_makes_nothing_is_an_alarm_of_its_own(farm: Farm) -> None:
    farm.configure(FAST.replace("grace_s = 1", "grace_s = 1\nwall_s = 4"))
    task = farm.script(
        "while true; do echo '12:00 - still working [outputs: 0]' >> progress.md; sleep 0.3; done"
    )
    farm.once()
    raised = farm.of_type("alert.raised")
    assert [(a["data"]["kind"], a["data"]["subject"]) for a in raised] == [("barren", f"{task}.1")]
    assert "still working" in raised[0]["data"]["text"]
    assert farm.verdict(task) == "timed_out"
    assert len(farm.of_type("session.progressed")) == 1


def test_progress_is_recorded_and_outputs_keep_the_alarm_quiet(farm: Farm) -> None:
    farm.configure(FAST)
    task = farm.script(
        'for n in 1 2 3 4; do echo "12:0$n - made $n [outputs: $n]" >> progress.md; sleep 0.8;'
        f" done; {WORK.replace('git add -A', 'git add work*')}"
    )
    farm.once()
    assert farm.verdict(task) == "proved", farm.detail(task)
    assert [e["data"]["outputs"] for e in farm.of_type("session.progressed")] == [1, 2, 3, 4]
    assert farm.of_type("alert.raised") == []


def test_a_result_ends_the_session_which_is_then_judged_like_any_other(farm: Farm) -> None:
    hand_in = "echo '{\"done\": true}' > results.json; sleep 60"
    good = farm.script(f"{WORK}; {hand_in}")
    idle = farm.script(hand_in)
    farm.once()
    assert (farm.verdict(good), farm.verdict(idle)) == ("proved", "no_change")
    assert {e["data"]["verdict"] for e in farm.of_type("session.stop_asked")} == {"result"}


def test_a_result_that_is_no_object_is_told_and_ends_nothing(farm: Farm) -> None:
    wrong = ("not json", "[1, 2]")
    tasks = [
        farm.script(f"{WORK}; echo '{text}' > results.json; sleep 1; rm results.json")
        for text in wrong
    ]
    pipe = farm.script(
        f"{WORK}; mkfifo results.json progress.md; sleep 1; rm results.json progress.md"
    )
    farm.once()
    raised = {e["data"]["subject"]: e["data"]["text"] for e in farm.of_type("alert.raised")}
    assert "not JSON" in raised[f"{tasks[0]}.1"]
    assert "not an object" in raised[f"{tasks[1]}.1"]
    assert {farm.verdict(task) for task in [*tasks, pipe]} == {"proved"}
    assert farm.of_type("session.stop_asked") == []


def test_a_result_that_nobody_acts_on_is_told_once_and_cleared_when_somebody_does(
    farm: Farm,
) -> None:
    farm.configure(FAST)

    def told_ms() -> float:
        """Have a result that waits; return when somebody was told."""
        task = farm.script(WORK)
        farm.until(lambda: farm.alerts().get("unattended") == task)
        raised, submitted = farm.of_type("alert.raised")[-1], farm.of_type("task.submitted")[-1]
        farm.here("task", "land", task, code=0)
        farm.until(lambda: farm.alerts() == {})
        return float(raised["at"] - submitted["at"])

    with farm.witness():
        assert 3000 <= quickest(told_ms, 4500) < 4500
    assert len(farm.of_type("alert.raised")) == len(farm.of_type("task.submitted"))
