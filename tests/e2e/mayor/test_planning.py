"""R34: an engine makes a plan; what is wrong goes back; nothing comes of an invalid one."""

import subprocess
from pathlib import Path

import pytest

from tests.e2e.mayor.hall import GOAL, Hall, killed, make_hall, plan, task
from tests.patience import PATIENCE_S

GOOD = plan(task("a"), task("b", needs=["a"]))
PROSE = f"Sure! Here is the plan:\n```json\n{GOOD}\n```\nI hope that it helps."
HALF = GOOD[: len(GOOD) // 2]
CYCLE = plan(task("a", needs=["b"]), task("b", needs=["a"]))
FACTS = 'output = "facts"'


def test_wrong_twice_then_right_is_approved_in_one_step(hall: Hall) -> None:
    hall.answers(HALF, CYCLE, PROSE)
    before = hall.checkout()
    hall.start()
    assert hall.runs == 3
    assert hall.titles() == {}, "nothing is made before it is approved"
    assert "not valid JSON" in hall.asked(2)
    assert "these needs are a cycle: a → b → a" in hall.asked(3)
    assert HALF.split("\n")[0][:40] in hall.asked(3), "who does not remember is told again"
    first = hall.asked(1)
    assert GOAL in first
    assert "README.md" in first
    assert "`planner`: plans" in first
    assert '"$defs"' in first
    hall.here("mayor", "approve", code=0)
    assert hall.titles() == {"Do a": "todo", "Do b": "todo"}
    kinds = [event["type"] for event in hall.events()]
    assert kinds[-5:] == [
        *("plan.proposed", "convoy.created", "task.added", "task.added", "plan.approved")
    ]
    (asked, *_), (answered, *_) = hall.of_type("mayor.asked"), hall.of_type("mayor.answered")
    assert asked["data"]["prompt"] == first
    assert answered["data"]["text"] == HALF.strip()
    assert hall.checkout() == before
    hall.nothing_left()


@pytest.mark.parametrize("answer", ["I cannot help with that.", "", HALF], ids=("no", "", "half"))
def test_never_right_gives_up_and_creates_nothing(hall: Hall, answer: str) -> None:
    hall.answers(answer, answer, answer)
    error = hall.refused("mayor", "start", "--task", GOAL, "--yes", code=2)
    assert error["code"] == "bad_plan"
    assert hall.runs == 3
    assert hall.mayor()["state"] == "gave_up"
    assert hall.here("convoy", "list", "--json").data == []
    hall.nothing_left()
    hall.answers(GOOD)
    hall.start("--yes")
    assert hall.mayor()["id"] == "mayor-2"


def test_what_it_writes_is_thrown_away_and_kept(hall: Hall) -> None:
    wrote = 'echo new > made.txt; git add -A; git commit -qm sneaky; echo more > "README.md"'
    (hall.place / "good").write_text(GOOD)
    hall.script(f'{wrote}\ncat "{hall.place}/good"')
    before = hall.checkout()
    hall.start("--headless")
    (answered,) = hall.of_type("mayor.answered")
    assert sorted(answered["data"]["wrote"]) == ["README.md", "made.txt"]
    assert hall.has_file_kept("mayor-1", "README.md", "more")
    assert hall.has_file_kept("mayor-1", "made.txt", "new")
    assert hall.checkout() == before
    assert hall.titles() == {"Do a": "todo", "Do b": "todo"}
    hall.nothing_left()


def test_a_limit_is_waited_for_and_uses_up_no_attempt(tmp_path: Path) -> None:
    hall = make_hall(tmp_path / "project", FACTS, "attempts = 1\n")
    limited = '{"fact":"finished","trouble":"rate","text":"429","retry_s":1}'
    hall.script(f"echo '{limited}'", f"echo '{limited}'", hall.told(GOOD))
    hall.start("--yes")
    assert hall.runs == 3
    first, second, last = hall.of_type("mayor.answered")
    assert (first["data"]["trouble"], second["data"]["trouble"]) == ("rate", "rate")
    asked = [event["at"] for event in hall.of_type("mayor.asked")]
    assert asked[1] >= first["data"]["until_at"] >= first["at"] + 1000
    assert asked[2] >= second["data"]["until_at"]
    assert last["data"].get("trouble", "") == ""


def test_a_long_limit_parks_the_conversation_and_start_goes_on(tmp_path: Path) -> None:
    hall = make_hall(tmp_path / "project", FACTS, "wait_s = 1\n")
    hall.script("""echo '{"fact":"finished","trouble":"quota","text":"usage","retry_s":3600}'""")
    assert hall.refused("mayor", "start", "--task", GOAL, code=3)["code"] == "account_limited"
    assert hall.mayor()["state"] == "open"
    assert hall.refused("mayor", "start", code=3)["code"] == "account_limited"
    assert hall.runs == 1
    hall.here("mayor", "stop", code=0)
    assert hall.mayor()["state"] == "stopped"
    hall.nothing_left()


def test_money_counts_and_a_used_up_budget_stops_it(tmp_path: Path) -> None:
    hall = make_hall(tmp_path / "project", FACTS, "[budget]\nday_usd = 0.5\n")
    spent = """echo '{"fact":"spent","fresh":1000,"output":50,"cost_usd":0.3}'\n"""
    hall.script(spent + hall.told(HALF), spent + hall.told(HALF))
    assert hall.refused("mayor", "start", "--task", GOAL, code=3)["code"] == "no_money"
    assert hall.runs == 2
    total = hall.here("cost", "--json", code=0).data["total"]
    assert (total["cost_usd"], total["fresh"], total["output"]) == (0.6, 2000, 100)
    assert hall.refused("mayor", "start", code=3)["code"] == "no_money"
    assert hall.runs == 2


def test_stop_ends_the_engine_and_what_it_has_cost_counts(tmp_path: Path) -> None:
    hall = make_hall(tmp_path / "project", FACTS)
    spent = """echo '{"fact":"spent","fresh":1000,"output":50,"cost_usd":0.3}'\n"""
    hall.script(
        f'{spent}touch "{hall.place}/up"; sleep 60', f'{spent}touch "{hall.place}/up"; sleep 60'
    )
    for killed_before in (False, True):
        process = hall.started("mayor", "start", "--task", GOAL, stderr=subprocess.DEVNULL)
        hall.until((hall.place / "up").exists)
        (hall.place / "up").unlink()
        if killed_before:
            killed(process)
        hall.here("mayor", "stop", code=0)
        assert killed_before or process.wait(PATIENCE_S) == 3
        assert hall.mayor()["state"] == "stopped"
        hall.nothing_left()
    assert hall.here("cost", "--json", code=0).data["total"]["cost_usd"] == 0.6


@pytest.mark.parametrize("when", ["in the middle", "after the engine"])
def test_killed_in_the_middle_the_same_conversation_goes_on(hall: Hall, when: str) -> None:
    go = hall.place / "go"
    (hall.place / "good").write_text(GOOD)
    hall.answers(HALF)
    hall.script(
        f'touch "{hall.place}/up"; until test -e "{go}"; do sleep 0.05; done'
        f'; cat "{hall.place}/good"; echo'
    )
    process = hall.started("mayor", "start", "--task", GOAL, stderr=subprocess.DEVNULL)
    hall.until((hall.place / "up").exists)
    killed(process)
    assert hall.mayor()["state"] == "asking"
    if when == "after the engine":
        go.touch()
        hall.until((hall.room("mayor-1") / "run-2" / "exit.json").exists)
        hall.start("--yes")
    else:
        process = hall.started("mayor", "start", "--yes", stderr=subprocess.DEVNULL)
        hall.until((hall.folder / "mayor.lock").exists)
        go.touch()
        assert process.wait(PATIENCE_S) == 0
    assert hall.runs == 2, "nothing was asked twice"
    assert len(hall.of_type("mayor.started")) == 1
    assert hall.titles() == {"Do a": "todo", "Do b": "todo"}
    hall.nothing_left()


def test_an_engine_that_dies_with_who_asked_is_asked_again(hall: Hall) -> None:
    hall.script(f'echo $PPID > "{hall.place}/up"; sleep 60')
    hall.answers(GOOD)
    process = hall.started("mayor", "start", "--task", GOAL, stderr=subprocess.DEVNULL)
    hall.until((hall.place / "up").exists)
    process.terminate()
    assert process.wait(PATIENCE_S) == 130
    hall.until(lambda: not hall.leftovers())
    hall.start("--yes")
    assert [e["data"].get("trouble", "") for e in hall.of_type("mayor.answered")] == [
        *("interrupted", "")
    ]
    assert hall.runs == 2
    assert len(hall.of_type("mayor.started")) == 1


def test_a_second_one_and_another_goal_are_refused_meanwhile(hall: Hall) -> None:
    hall.answers(GOOD)
    hall.start()
    error = hall.refused("mayor", "start", "--task", "Something else", code=3)
    assert error["code"] == "mayor_busy"
    hall.here("mayor", "reject", "--reason", "too much", code=0)
    assert hall.mayor()["state"] == "idle"
    assert hall.titles() == {}
    hall.answers(plan(task("x"), title="Else"))
    hall.corral("mayor", "start", "--task", "Something else", "--yes")
    assert hall.titles() == {"Do x": "todo"}
