"""After the machine was fixed: tasks go back on the board, and finished work is checked again."""

from pathlib import Path

from tests.e2e.refinery.refinery_repo import make_refinery_repo
from tests.e2e.witness.witness_repo import WORK, make_witness_repo


def test_many_tasks_are_retried_at_once(tmp_path: Path) -> None:
    project = make_witness_repo(tmp_path / "project")
    mended = tmp_path / "mended"
    tasks = [project.script(f"test -e '{mended}' && {WORK}") for _ in range(4)]
    project.once()
    assert {project.task(task)["state"] for task in tasks} == {"failed"}
    mended.touch()
    answer = project.here("task", "retry", *tasks[:2], "--reason", "fixed", "--json", code=0)
    assert [task["id"] for task in answer.data["tasks"]] == tasks[:2]
    said = project.here("task", "retry", "--failed", code=0).out
    assert said.splitlines() == [f"{task} is back on the board" for task in tasks[2:]]
    project.once()
    assert {project.task(task)["state"] for task in tasks} == {"review"}
    assert "no task has failed" in project.here("task", "retry", "--failed", code=0).out
    assert project.here("task", "retry").code == 2
    assert project.here("task", "retry", tasks[0], "--failed").code == 2


def test_finished_work_is_checked_again_without_an_agent(tmp_path: Path) -> None:
    gate = tmp_path / "mended"
    project = make_refinery_repo(
        tmp_path / "project", f"test ! -e b.txt || test -e {gate}", "returns = 1\n"
    )
    good, bad = project.hand_in({"a.txt": "a"}), project.hand_in({"b.txt": "b"})
    project.once()
    assert (project.states()[good], project.states()[bad]) == ("done", "failed")
    gate.touch()
    said = project.here("queue", "recheck", bad, code=0).out
    assert f"{bad} was handed in again" in said
    project.once()
    assert project.states()[bad] == "done"
    assert not project.events("session.started")
    assert project.here("queue", "recheck", bad).code == 3
    other = project.add("never begun")
    assert "no proved work" in project.here("queue", "recheck", other).err


def test_a_pause_shows_in_the_status(tmp_path: Path) -> None:
    project = make_witness_repo(tmp_path / "project")
    project.script(WORK)
    assert "paused" not in project.here("status", code=0).out
    project.here("pause", "--reason", "tea", code=0)
    said = project.here("status", code=0).out
    assert "new sessions are paused for all convoys: tea" in said
    assert "landing is paused for all convoys" in said
    project.here("resume", code=0)
    assert "paused" not in project.here("status", code=0).out


def test_a_convoy_is_finished_once_the_checkout_is_clean(tmp_path: Path) -> None:
    project = make_refinery_repo(tmp_path / "project", "true", 'finish = "merge"\n')
    readme = project.path / "README.md"
    before = readme.read_text()
    readme.write_text("in the middle of something\n")
    task = project.hand_in({"a.txt": "a"})
    assert project.here("finish", "project").code == 3  # nothing has landed
    project.once()
    assert project.states()[task] == "done"
    assert not (project.path / "a.txt").exists()
    assert "with changes" in project.here("finish", "project").err
    readme.write_text(before)
    said = project.here("finish", "project", code=0).out
    assert "project was fast-forwarded" in said
    assert (project.path / "a.txt").read_text() == "a"


def test_a_base_that_has_moved_on_is_merged_after_a_check(tmp_path: Path) -> None:
    project = make_refinery_repo(tmp_path / "project", "! test -e bad || ! test -e a.txt")
    task = project.hand_in({"a.txt": "a"})
    project.once()
    assert project.states()[task] == "done"
    other = project.branch("other", {"bad": "x"})
    project.plumb("update-ref", "refs/heads/main", other)
    project.git("checkout", "-qf", "main")
    assert "is red" in project.here("finish", "project", "--how", "merge").err
    better = project.branch("better", {"bad": "x", "check.sh": "true"})
    project.plumb("update-ref", "refs/heads/main", better)
    project.git("reset", "-q", "--hard")
    answer = project.here("finish", "project", "--how", "merge")
    assert answer.code == 0, answer
    assert (project.path / "a.txt").read_text() == "a"
    assert project.git("log", "-1", "--format=%P").count(" ") == 1
