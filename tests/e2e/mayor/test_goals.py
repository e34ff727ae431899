"""`corral run GOAL`: from a sentence to a landed branch, and what a failure leads to."""

import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from corral.roles.locks import taken
from tests.e2e.mayor.mayor_repo import GOAL, MayorRepo, killed, make_mayor_repo, plan, task

WORKER = """\
[refinery]
require_ci = false
finish = "leave"
[engine.worker]
type = "shell"
command = ["false"]
"""


def work(key: str, script: str = "", **more: Any) -> dict[str, Any]:
    """Return a task that a shell script does."""
    done = script or f"echo {key} > {key}.txt && git add -A && git commit -qm {key}"
    return task(key, engine="worker", run=["sh", "-c", done], **more)


def town(path: Path, more: str = "") -> MayorRepo:
    return make_mayor_repo(path, config=more + WORKER)


def test_a_goal_is_planned_run_and_landed_and_running_it_again_resumes(tmp_path: Path) -> None:
    project = town(tmp_path / "project")
    project.answers("Let me think.", plan(work("a"), work("b", needs=["a"])))
    project.corral("run", GOAL, "--headless")
    assert project.titles() == {"Do a": "done", "Do b": "done"}
    assert project.git("show", "convoy/good/trunk:b.txt") == "b"
    project.corral("run", GOAL, "--headless")
    assert project.runs == 2
    project.nothing_left()


def test_without_a_plan_the_exit_code_is_2_and_without_a_person_nothing_runs(
    tmp_path: Path,
) -> None:
    project = town(tmp_path / "project")
    project.answers("No.", "No.", "No.", plan(work("a")))
    assert project.refused("run", GOAL, "--headless", code=2)["code"] == "bad_plan"
    assert project.titles() == {}
    assert project.runs == 3
    assert "no terminal to ask on" in project.corral("run", GOAL, code=2).err
    assert project.runs == 3  # nothing is paid for
    assert project.titles() == {}
    project.corral("run", GOAL, "--yes")
    assert project.titles() == {"Do a": "done"}
    assert project.runs == 4
    assert project.corral("run", "plan.tmol", code=4).err.startswith(
        "corral: 'plan.tmol' is neither"
    )


def test_a_failure_is_told_once_and_the_amended_plan_lands(tmp_path: Path) -> None:
    project = town(tmp_path / "project")
    fails = work("a", "echo the disk is upside down >&2; exit 7")
    again = plan(work("a2"), work("b", needs=["a2"]), cancel=["a"])
    project.answers(plan(fails, work("b", needs=["a"])), again)
    project.corral("run", GOAL, "--headless", "--replan", "on_failure")
    assert project.titles() == {"Do a": "cancelled", "Do b": "done", "Do a2": "done"}
    assert "the disk is upside down" in project.asked(2)
    assert "a (GOO-1): failed" in project.asked(2)
    asked = [event["data"] for event in project.of_type("mayor.asked")]
    assert [(one["cause"], one.get("task", "")) for one in asked] == [
        ("goal", ""),
        ("failure", "GOO-1"),
    ]


def test_failures_that_cannot_be_helped_end_the_run_and_are_bounded(tmp_path: Path) -> None:
    project = town(tmp_path / "project", "replans = 2\n")
    fail = "exit 7"
    project.answers(
        plan(work("a", fail)),
        plan(work("a2", fail), cancel=["a"]),
        plan(work("a3", fail), cancel=["a2"]),
    )
    project.corral("run", GOAL, "--headless", "--replan", "on_failure", code=1)
    assert project.runs == 3
    assert project.titles() == {"Do a": "cancelled", "Do a2": "cancelled", "Do a3": "failed"}


def test_a_person_is_needed_for_an_amended_plan_that_nobody_approved(tmp_path: Path) -> None:
    project = town(tmp_path / "project")
    project.answers(plan(work("a", "exit 7")), plan(work("a2"), cancel=["a"]))
    project.start("--yes", "--replan", "on_failure")
    project.corral("run", "good", code=5)
    assert project.mayor()["state"] == "proposed"
    project.here("mayor", "approve", code=0)
    project.corral("run", "good")
    assert project.titles() == {"Do a": "cancelled", "Do a2": "done"}


@pytest.mark.parametrize("how", ["killed", "interrupted"])
def test_ended_while_a_failure_is_thought_over_the_next_run_sees_it_through(
    tmp_path: Path, how: str
) -> None:
    project = town(tmp_path / "project")
    go = project.place / "go"
    (project.place / "again").write_text(plan(work("a2"), cancel=["a"]))
    project.answers(plan(work("a", "exit 7")))
    wait = f'touch "{project.place}/up"; until test -e "{go}"; do sleep 0.05; done'
    project.script(*[f'{wait}; cat "{project.place}/again"'] * 2)
    words = ("run", GOAL, "--headless", "--replan", "on_failure")
    process = project.started(*words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    project.until((project.place / "up").exists)
    if how == "interrupted":
        process.send_signal(signal.SIGINT)
        assert process.wait() == 130
    else:
        killed(process)
    project.until(lambda: not taken(str(project.folder), "mayor"))
    go.touch()
    project.corral(*words)
    assert project.titles() == {"Do a": "cancelled", "Do a2": "done"}
    assert project.runs in (2, 3), "a run that was ended with its asker is made once more"
