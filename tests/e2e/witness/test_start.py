"""Whatever prevents a session from starting is named, and the slot is freed."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.e2e.witness.witness_repo import QUIET, WORK, WitnessRepo

ENGINE = """\
[engine.nothing]
type = "shell"
[engine.gone]
type = "shell"
command = ["/does/not/exist"]
"""


def test_what_cannot_start_says_why_and_frees_its_slot(project: WitnessRepo) -> None:
    project.configure(QUIET.replace("total = 50", "total = 1") + ENGINE)
    wrong = {
        project.script(WORK, "--input", "docs/plan.md"): "the input 'docs/plan.md' does not exist",
        project.add("x", "--run", "no-such-program --now"): "no-such-program",
    }
    good = project.script(WORK, "--input", "README.md")
    project.once()
    for task, reason in wrong.items():
        assert project.verdict(task) == "could_not_start"
        assert reason in project.detail(task)
        assert project.task(task)["state"] == "failed"
    assert project.verdict(good) == "proved"
    assert project.trees().list() == []


def test_an_engine_that_cannot_run_is_one_alert_and_uses_up_no_attempt(
    project: WitnessRepo,
) -> None:
    project.configure(QUIET + ENGINE)
    unfit = {
        "unheard-of": "no engine 'unheard-of'",
        "default": "no engine 'default'",
        "nothing": "the engine 'nothing' has no command",
        "gone": "/does/not/exist",
    }
    tasks = [project.add("x", "--engine", name) for name in unfit for _ in range(3)]
    good = project.script(WORK)
    project.once()
    assert project.verdict(good) == "proved"
    assert {session["task"] for session in project.sessions()} == {good}
    assert {project.task(task)["state"] for task in tasks} == {"todo"}
    alerts = project.here("alert", "list", "--json").data
    subjects = {alert["subject"] for alert in alerts if alert["kind"] == "unfit"}
    assert subjects == {f"program of {name}" for name in unfit}
    assert len(alerts) == len(unfit)
    for alert in alerts:
        assert unfit[alert["subject"].removeprefix("program of ")] in alert["text"]
    why = project.here("why", tasks[0], "--json", code=0).data
    assert unfit["unheard-of"] in why["obstacles"][0]["text"]


def test_work_goes_on_once_the_settings_are_fixed(project: WitnessRepo) -> None:
    """The configuration is edited while the witness runs."""
    task = project.add("x", "--engine", "later")
    with project.witness():
        project.until(lambda: project.alerts().get("unfit") == "program of later")
        project.configure("[engine.later\n")  # an editor saves when its user likes
        engine = f'[engine.later]\ntype = "shell"\ncommand = ["sh", "-c", {json.dumps(WORK)}]\n'
        project.configure(QUIET + engine)
        project.until(lambda: project.task(task)["state"] == "review")
    assert project.alerts() == {}
    assert {e["data"]["role"] for e in project.of_type("settings.changed")} == {"witness"}


@pytest.mark.parametrize(
    ("command", "limit_s", "reason"),
    [
        ('["sh", "-c", "echo no network; exit 4"]', 60, "exit code 4; its last words: no network"),
        ('["sh", "-c", "sleep 300 & sleep 300"]', 1, "it took longer than 1 s"),
        ('["no-such-tool"]', 60, "no-such-tool"),
    ],
)
def test_a_set_up_command_that_fails_or_hangs_uses_up_no_attempt(
    project: WitnessRepo, command: str, limit_s: int, reason: str
) -> None:
    project.configure(f"{QUIET}\n[trees]\nsetup = [{command}]\nsetup_s = {limit_s}\n")
    task = project.script(WORK)
    project.once()
    ended = project.of_type("session.ended")
    assert [e["data"]["verdict"] for e in ended] == ["unfit"]
    assert all(reason in e["data"]["detail"] for e in ended), ended
    assert project.task(task)["state"] == "todo"
    assert project.alerts() == {"unfit": "set-up"}
    assert project.leftovers() == []
    assert project.trees().list() == []
    project.configure(QUIET)
    project.once()
    assert project.verdict(task) == "proved"
    assert project.alerts() == {}


def test_a_set_up_that_fails_holds_all_and_goes_on_once_it_works(
    project: WitnessRepo, tmp_path: Path
) -> None:
    network = tmp_path / "network"
    project.configure(f'{QUIET}\n[trees]\nsetup = [["test", "-e", "{network}"]]\n')
    tasks = [project.script(WORK) for _ in range(5)]
    with project.witness():
        project.until(lambda: project.alerts().get("unfit") == "set-up")
        network.touch()
        project.until(lambda: all(project.task(task)["state"] == "review" for task in tasks))
    assert not project.of_type("task.failed")
    assert not project.of_type("task.delayed")
    assert project.alerts() == {}


def test_set_up_copies_files_runs_commands_and_leases_ports(project: WitnessRepo) -> None:
    (project.path / ".gitignore").write_text(".env\nbuilt\n")
    project.git("add", ".")
    project.git("commit", "-qm", "ignore")
    (project.path / ".env").write_text("SECRET=1\n")
    project.configure(
        QUIET + '[trees]\ncopy = [".env"]\nsetup = [["sh", "-c", "cat .env > built"]]\n'
        "ports = 2\nport_range = [23000, 23005]\n"
    )
    show = (
        "cat built > seen.txt; echo $CORRAL_PORT_1 $CORRAL_PORT_2 >> seen.txt;"
        "corral lease list --json > leases.txt; git add -A; git commit -qm seen; sleep 0.5"
    )
    tasks = [project.script(show) for _ in range(4)]  # six ports: three at a time
    project.once()
    for task in tasks:
        assert project.verdict(task) == "proved", project.detail(task)
        commit = project.task(task)["commit"]
        secret, numbers = project.git("show", f"{commit}:seen.txt").split("\n")
        assert secret == "SECRET=1"
        first, second = numbers.split()
        leases = project.git("show", f"{commit}:leases.txt")
        assert f'"port:{first}"' in leases
        assert first != second
    acquired, released = (
        Counter(event["data"]["resource"] for event in project.of_type(kind))
        for kind in ("lease.acquired", "lease.released")
    )
    assert acquired.total() == 8
    assert released == acquired
    assert project.data("lease", "list") == []


def test_a_task_that_waits_for_a_slot_says_so(project: WitnessRepo) -> None:
    project.configure(QUIET.replace("total = 50", "total = 1"))
    first, second = project.script("sleep 300"), project.script("sleep 300")
    with project.witness():
        project.until_running(f"{first}.1")
        said = project.here("why", second, code=0).out
        assert "waits for a slot: 1 of 1 in use" in said
        project.here("session", "stop", f"{first}.1", code=0)
        assert project.until_ended(first) == "stopped"
        project.until_running(f"{second}.1")
        project.here("session", "stop", f"{second}.1", code=0)
        assert project.until_ended(second) == "stopped"


def test_a_retry_goes_on_with_the_last_attempts_commits_also_after_the_trunk_moved_on(
    project: WitnessRepo,
) -> None:
    project.configure(
        QUIET.replace("attempts = 1", "attempts = 2").replace("backoff_s = 0", "backoff_s = 1")
    )
    task = project.script(f"{WORK}; test $CORRAL_SESSION = $CORRAL_TASK.2")
    with project.witness():
        project.until_ended(task)
        project.git("update-ref", "refs/heads/convoy/project/trunk", _commit_on(project))
        project.until(lambda: project.task(task)["state"] == "review")
    commit = project.task(task)["commit"]
    assert project.git("show", f"{commit}:work-{task}.txt") == f"{task}.1\n{task}.2"


def _commit_on(project: WitnessRepo) -> str:
    return project.git("commit-tree", "-p", "main", "-m", "landed", "main^{tree}")
