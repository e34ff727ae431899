"""A command that the machine makes fail uses up no attempt, and goes on once that is fixed."""

from pathlib import Path

import pytest

from tests.e2e.refinery.refinery_repo import RefineryRepo, make_refinery_repo
from tests.e2e.witness.witness_repo import QUIET, WORK, WitnessRepo, make_witness_repo

ONE = QUIET.replace("total = 50", "total = 1").replace("attempts = 1", "attempts = 3")


@pytest.fixture
def project(tmp_path: Path) -> WitnessRepo:
    project = make_witness_repo(tmp_path / "project")
    project.configure(ONE)
    return project


def counted(tmp_path: Path) -> str:
    """Return work that counts how many agents were paid for it."""
    return f"echo x >> {tmp_path}/paid; {WORK}"


def paid(tmp_path: Path) -> int:
    return len((tmp_path / "paid").read_text().splitlines())


def tool(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    path = folder / "run-tests"
    path.write_text("#!/bin/sh\nexit 0\n")
    path.chmod(0o755)


def test_a_missing_runner_is_told_once_and_all_goes_on_when_it_is_there(
    project: WitnessRepo, tmp_path: Path
) -> None:
    project.env["PATH"] += f":{tmp_path}/tools"
    tasks = [project.script(counted(tmp_path), "--accept", f"run-tests {n}") for n in range(4)]
    other = project.script(WORK, "--accept", "true")
    with project.witness():
        project.until(lambda: project.task(other)["state"] == "review")  # it needs no runner
        (alert,) = project.here("alert", "list", "--json").data
        assert alert["subject"] == "checks with run-tests"
        assert "fails on the untouched base, too: run-tests is not installed" in alert["text"]
        assert "this machine is not ready" in project.here("why", tasks[3]).out
        assert paid(tmp_path) == 1
        tool(tmp_path / "tools")
        project.until(lambda: all(project.task(t)["state"] == "review" for t in tasks))
    assert paid(tmp_path) == len(tasks)  # no agent was paid twice
    assert project.alerts() == {}
    assert len(project.of_type("alert.raised")) == 1
    assert not project.of_type("task.delayed")


def test_what_the_task_was_to_build_is_its_own_fault(project: WitnessRepo) -> None:
    """Both fail in the same way on the base, because nobody has built it yet."""
    commands = ["./check.sh", "python3 tests/check_new.py", "sh -c 'exit 3'"]
    tasks = [project.script(WORK, "--accept", command) for command in commands]
    project.once()
    assert [project.verdict(task) for task in tasks] == ["checks_failed"] * 3
    assert {project.task(task)["state"] for task in tasks} == {"failed"}
    assert project.alerts() == {}


def test_a_task_that_takes_the_runner_away_is_to_blame(project: WitnessRepo) -> None:
    project.configure(ONE + '[environment]\npath = ["tools"]\n')
    tool(project.path / "tools")
    project.git("add", "--all")
    project.git("commit", "-qm", "tools")
    bad = project.script(f"rm -f tools/run-tests; {WORK}", "--accept", "run-tests")
    good = project.script(WORK, "--accept", "run-tests")
    project.once()
    assert (project.verdict(bad), project.verdict(good)) == ("checks_failed", "proved")
    assert "run-tests is not installed" in project.detail(bad)
    assert project.alerts() == {}


def test_no_network_holds_every_task_with_a_check(project: WitnessRepo, tmp_path: Path) -> None:
    network = tmp_path / "network"
    offline = f"test -e {network} || {{ echo 'Could not resolve host: pypi.org'; exit 6; }}"
    task = project.script(counted(tmp_path), "--accept", offline)
    held = project.script(counted(tmp_path), "--accept", "true")
    with project.witness():
        project.until(lambda: project.alerts() == {"unfit": "checks with network"})
        network.touch()
        project.until(lambda: {project.task(t)["state"] for t in (task, held)} == {"review"})
    assert paid(tmp_path) == 2
    assert not project.of_type("task.delayed")


def test_a_withheld_variable_is_named_and_passed_on_by_a_setting(
    project: WitnessRepo, tmp_path: Path
) -> None:
    project.env["API_TOKEN"] = "not-a-real-one"
    task = project.script(counted(tmp_path), "--accept", 'test -n "$API_TOKEN"')
    with project.witness():
        project.until(lambda: "unfit" in project.alerts())
        (alert,) = project.here("alert", "list", "--json").data
        assert 'pass = ["API_TOKEN"] in [environment]' in alert["text"]
        project.configure(ONE + '[environment]\npass = ["API_TOKEN"]\n')
        project.until(lambda: project.task(task)["state"] == "review")
    assert paid(tmp_path) == 1


def test_a_person_can_clear_it_and_nothing_is_paid_for_twice(
    project: WitnessRepo, tmp_path: Path
) -> None:
    task = project.script(counted(tmp_path), "--accept", "no-such-runner")
    project.once()
    for _ in range(2):
        (alert,) = project.here("alert", "list", "--json").data
        project.here("alert", "clear", alert["id"], code=0)
        project.once()
    assert paid(tmp_path) == 1
    assert project.task(task)["state"] == "todo"
    assert project.alerts() == {"unfit": "checks with no-such-runner"}


def refinery(tmp_path: Path) -> RefineryRepo:
    project = make_refinery_repo(
        tmp_path / "project", "true", 'returns = 1\n[environment]\npath = ["tools"]\n'
    )
    config = project.path / ".corral" / "config.toml"
    config.write_text(config.read_text().replace("sh check.sh", "run-tests"))
    assert "run-tests" in config.read_text()
    return project


def test_a_change_that_takes_the_runner_away_is_sent_back(tmp_path: Path) -> None:
    project = refinery(tmp_path)
    tool(project.path / "tools")
    project.git("add", "--all")
    project.git("commit", "-qm", "tools")
    bad = project.hand_in({"tools/run-tests": "#!/bin/sh\nexec no-such-runner\n"})
    good = project.hand_in({"a.txt": "a"})
    project.once()
    assert (project.states()[bad], project.states()[good]) == ("failed", "done")
    assert "cannot_check" not in project.alerts()


def test_a_change_waits_for_a_runner_that_is_missing_on_the_trunk_too(tmp_path: Path) -> None:
    project = refinery(tmp_path)
    project.env["PATH"] += f":{tmp_path}/tools"
    task = project.hand_in({"a.txt": "a"})
    with project.refinery():
        project.until(lambda: "cannot_check" in project.alerts())
        tool(tmp_path / "tools")
        project.until(lambda: project.states()[task] == "done")
    assert not project.events("change.returned")
    assert len(project.events("alert.raised")) == 1
