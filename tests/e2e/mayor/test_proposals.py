"""An engine proposes a plan; errors go back to it, and an invalid plan creates nothing."""

import subprocess
from pathlib import Path

import pytest

from tests.e2e.mayor.mayor_repo import GOAL, MayorRepo, killed, make_mayor_repo, plan, task
from tests.patience import PATIENCE_S

GOOD = plan(task("a"), task("b", needs=["a"]))
PROSE = f"Sure! Here is the plan:\n```json\n{GOOD}\n```\nI hope that it helps."
HALF = GOOD[: len(GOOD) // 2]
CYCLE = plan(task("a", needs=["b"]), task("b", needs=["a"]))
FACTS = 'output = "facts"'


def test_wrong_twice_then_right_is_approved_in_one_step(project: MayorRepo) -> None:
    project.answers(HALF, CYCLE, PROSE)
    before = project.checkout()
    project.start()
    assert project.runs == 3
    assert project.titles() == {}, "nothing is made before it is approved"
    assert "not valid JSON" in project.asked(2)
    assert "dependency cycle: a → b → a" in project.asked(3)
    assert HALF.split("\n")[0][:40] in project.asked(3), "who does not remember is told again"
    first = project.asked(1)
    assert GOAL in first
    assert "README.md" in first
    assert "`planner`: plans" in first
    assert '"$defs"' in first
    project.here("mayor", "approve", code=0)
    assert project.titles() == {"Do a": "todo", "Do b": "todo"}
    kinds = [event["type"] for event in project.events()]
    assert kinds[-5:] == [
        *("plan.proposed", "convoy.created", "task.added", "task.added", "plan.approved")
    ]
    (asked, *_), (answered, *_) = project.of_type("mayor.asked"), project.of_type("mayor.answered")
    assert asked["data"]["prompt"] == first
    assert answered["data"]["text"] == HALF.strip()
    assert project.checkout() == before
    project.nothing_left()


@pytest.mark.parametrize("answer", ["I cannot help with that.", "", HALF], ids=("no", "", "half"))
def test_never_right_gives_up_and_creates_nothing(project: MayorRepo, answer: str) -> None:
    project.answers(answer, answer, answer)
    error = project.refused("mayor", "start", "--task", GOAL, "--yes", code=2)
    assert error["code"] == "bad_plan"
    assert project.runs == 3
    assert project.mayor()["state"] == "gave_up"
    assert project.here("convoy", "list", "--json").data == []
    project.nothing_left()
    project.answers(GOOD)
    project.start("--yes")
    assert project.mayor()["id"] == "mayor-2"


def test_what_it_writes_is_thrown_away_and_kept(project: MayorRepo) -> None:
    wrote = 'echo new > made.txt; git add -A; git commit -qm sneaky; echo more > "README.md"'
    (project.place / "good").write_text(GOOD)
    project.script(f'{wrote}\ncat "{project.place}/good"')
    before = project.checkout()
    project.start("--headless")
    (answered,) = project.of_type("mayor.answered")
    assert sorted(answered["data"]["wrote"]) == ["README.md", "made.txt"]
    assert project.has_file_kept("mayor-1", "README.md", "more")
    assert project.has_file_kept("mayor-1", "made.txt", "new")
    assert project.checkout() == before
    assert project.titles() == {"Do a": "todo", "Do b": "todo"}
    project.nothing_left()


def test_a_limit_is_waited_for_and_uses_up_no_attempt(tmp_path: Path) -> None:
    project = make_mayor_repo(tmp_path / "project", FACTS, "attempts = 1\n")
    limited = '{"fact":"finished","trouble":"rate","text":"429","retry_s":1}'
    project.script(f"echo '{limited}'", f"echo '{limited}'", project.told(GOOD))
    project.start("--yes")
    assert project.runs == 3
    first, second, last = project.of_type("mayor.answered")
    assert (first["data"]["trouble"], second["data"]["trouble"]) == ("rate", "rate")
    asked = [event["at"] for event in project.of_type("mayor.asked")]
    assert asked[1] >= first["data"]["until_at"] >= first["at"] + 1000
    assert asked[2] >= second["data"]["until_at"]
    assert last["data"].get("trouble", "") == ""


def test_a_long_limit_parks_the_conversation_and_start_goes_on(tmp_path: Path) -> None:
    project = make_mayor_repo(tmp_path / "project", FACTS, "wait_s = 1\n")
    project.script("""echo '{"fact":"finished","trouble":"quota","text":"usage","retry_s":3600}'""")
    assert project.refused("mayor", "start", "--task", GOAL, code=3)["code"] == "account_limited"
    assert project.mayor()["state"] == "open"
    assert project.refused("mayor", "start", code=3)["code"] == "account_limited"
    assert project.runs == 1
    project.here("mayor", "stop", code=0)
    assert project.mayor()["state"] == "stopped"
    project.nothing_left()


def test_money_counts_and_a_used_up_budget_stops_it(tmp_path: Path) -> None:
    project = make_mayor_repo(tmp_path / "project", FACTS, "[budget]\nday_usd = 0.5\n")
    spent = """echo '{"fact":"spent","fresh":1000,"output":50,"cost_usd":0.3}'\n"""
    project.script(spent + project.told(HALF), spent + project.told(HALF))
    assert project.refused("mayor", "start", "--task", GOAL, code=3)["code"] == "no_money"
    assert project.runs == 2
    total = project.here("cost", "--json", code=0).data["total"]
    assert (total["cost_usd"], total["fresh"], total["output"]) == (0.6, 2000, 100)
    assert project.refused("mayor", "start", code=3)["code"] == "no_money"
    assert project.runs == 2


def test_stop_ends_the_engine_and_what_it_has_cost_counts(tmp_path: Path) -> None:
    project = make_mayor_repo(tmp_path / "project", FACTS)
    spent = """echo '{"fact":"spent","fresh":1000,"output":50,"cost_usd":0.3}'\n"""
    project.script(
        f'{spent}touch "{project.place}/up"; sleep 300',
        f'{spent}touch "{project.place}/up"; sleep 300',
    )
    for killed_before in (False, True):
        process = project.started("mayor", "start", "--task", GOAL, stderr=subprocess.DEVNULL)
        project.until((project.place / "up").exists)
        (project.place / "up").unlink()
        if killed_before:
            killed(process)
        project.here("mayor", "stop", code=0)
        assert killed_before or process.wait(PATIENCE_S) == 3
        assert project.mayor()["state"] == "stopped"
        project.nothing_left()
    assert project.here("cost", "--json", code=0).data["total"]["cost_usd"] == 0.6


@pytest.mark.parametrize("when", ["in the middle", "after the engine"])
def test_killed_in_the_middle_the_same_conversation_goes_on(project: MayorRepo, when: str) -> None:
    go = project.place / "go"
    (project.place / "good").write_text(GOOD)
    project.answers(HALF)
    project.script(
        f'touch "{project.place}/up"; until test -e "{go}"; do sleep 0.05; done'
        f'; cat "{project.place}/good"; echo'
    )
    process = project.started("mayor", "start", "--task", GOAL, stderr=subprocess.DEVNULL)
    project.until((project.place / "up").exists)
    killed(process)
    assert project.mayor()["state"] == "asking"
    if when == "after the engine":
        go.touch()
        project.until((project.room("mayor-1") / "run-2" / "exit.json").exists)
        project.start("--yes")
    else:
        process = project.started("mayor", "start", "--yes", stderr=subprocess.DEVNULL)
        project.until((project.folder / "mayor.lock").exists)
        go.touch()
        assert process.wait(PATIENCE_S) == 0
    assert project.runs == 2, "nothing was asked twice"
    assert len(project.of_type("mayor.started")) == 1
    assert project.titles() == {"Do a": "todo", "Do b": "todo"}
    project.nothing_left()


def test_an_engine_that_dies_with_its_caller_is_asked_again(project: MayorRepo) -> None:
    project.script(f'echo $PPID > "{project.place}/up"; sleep 300')
    project.answers(GOOD)
    process = project.started("mayor", "start", "--task", GOAL, stderr=subprocess.DEVNULL)
    project.until((project.place / "up").exists)
    process.terminate()
    assert process.wait(PATIENCE_S) == 130
    project.until(lambda: not project.leftovers())
    project.start("--yes")
    assert [e["data"].get("trouble", "") for e in project.of_type("mayor.answered")] == [
        *("interrupted", "")
    ]
    assert project.runs == 2
    assert len(project.of_type("mayor.started")) == 1


def test_a_second_one_and_another_goal_are_refused_meanwhile(project: MayorRepo) -> None:
    project.answers(GOOD)
    project.start()
    error = project.refused("mayor", "start", "--task", "Something else", code=3)
    assert error["code"] == "mayor_busy"
    project.here("mayor", "reject", "--reason", "too much", code=0)
    assert project.mayor()["state"] == "idle"
    assert project.titles() == {}
    project.answers(plan(task("x"), title="Else"))
    project.corral("mayor", "start", "--task", "Something else", "--yes")
    assert project.titles() == {"Do x": "todo"}
