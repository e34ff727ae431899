"""A trunk that is red on its own: no change is blamed, an alert says so, and work goes on later."""

import json
from pathlib import Path

import pytest

from tests.e2e.refinery.refinery_repo import RefineryRepo, make_refinery_repo
from tests.e2e.whole.ci import CONFIG, Ci, ended, make_ci


@pytest.fixture
def project(tmp_path: Path) -> RefineryRepo:
    check = "test -e mended || { echo it is broken; exit 3; }"
    return make_refinery_repo(tmp_path / "project", check)


def held(project: RefineryRepo) -> bool:
    return "red_base" in project.alerts()


def test_the_first_change_is_not_blamed_and_an_alert_says_why(project: RefineryRepo) -> None:
    task = project.hand_in({"a.txt": "a"})
    project.once()
    assert "it is broken" in project.alerts()["red_base"]
    assert project.states()[task] == "review"
    assert not project.events("change.returned")
    assert "waits until the target itself is green" in project.why(task)


def test_it_goes_on_when_the_base_is_fixed(project: RefineryRepo) -> None:
    task = project.hand_in({"a.txt": "a"})
    with project.refinery():
        project.until(lambda: held(project))
        commit = project.branch("fix", {"mended": "yes"})
        project.plumb("update-ref", "refs/heads/main", commit)
        project.until(lambda: project.states()[task] == "done")
    assert project.alerts() == {}
    assert not project.events("change.returned")


def test_it_goes_on_when_the_checks_are_fixed(project: RefineryRepo) -> None:
    task = project.hand_in({"a.txt": "a"})
    with project.refinery():
        project.until(lambda: held(project))
        (project.path / ".corral" / "config.toml").write_text(
            '[refinery]\nchecks = ["test -e a.txt"]\n'
        )
        project.until(lambda: project.states()[task] == "done")
    assert project.alerts() == {}
    assert not project.events("change.returned")


def test_a_missing_program_of_the_checks_blames_no_change(project: RefineryRepo) -> None:
    config = project.path / ".corral" / "config.toml"
    config.write_text('[refinery]\nchecks = ["no-such-runner --all"]\n')
    task = project.hand_in({"a.txt": "a"})
    with project.refinery():
        project.until(lambda: "cannot_check" in project.alerts())
        assert "no-such-runner is not installed" in project.alerts()["cannot_check"]
        config.write_text('[refinery]\nchecks = ["true"]\n')
        project.until(lambda: project.states()[task] == "done")
    assert not project.events("change.returned")


def red_run(tmp_path: Path) -> tuple[Ci, str]:
    """Make a repository whose checks fail, and a plan that uses them."""
    ci = make_ci(tmp_path, CONFIG + '[refinery]\nchecks = ["exit 3"]\n')
    plan = Path(ci.plan(ci.script("first", ci.work())))
    plan.write_text(plan.read_text().replace('checks = ["true"]\n', ""))
    return ci, str(plan)


def test_a_run_does_not_start_on_a_red_base(tmp_path: Path) -> None:
    ci, plan = red_run(tmp_path)
    answer = ci.run(plan)
    assert answer.code == 5, answer
    assert "is red before any change" in answer.err
    assert ci.count("session.started") == 0


@pytest.mark.parametrize("way", ["the checks", "the base"])
def test_a_run_goes_on_when_a_person_fixes(way: str, tmp_path: Path) -> None:
    ci, plan = red_run(tmp_path)
    path = ci.path / ".corral" / "config.toml"
    path.write_text(path.read_text().replace("exit 3", "test -e mended"))
    run = ci.begun(plan)
    ci.until(lambda: ci.data("alert", "list"))
    (alert,) = ci.data("alert", "list")
    assert (alert["kind"], alert["subject"]) == ("not_ready", "night")
    assert "is red before any change" in alert["text"]
    (task,) = ci.data("task", "list")
    assert "night has not begun: " in ci.corral("why", task["id"]).out
    if way == "the checks":
        path.write_text(path.read_text().replace("test -e mended", "true"))
    else:
        (ci.path / "mended").touch()
        ci.git("add", "mended")
        ci.git("commit", "-qm", "Mend it by hand")
    assert ended(run).code == 0
    assert ci.data("alert", "list") == []
    assert ci.count("session.started") == 1
    assert ci.count("change.returned") == 0


def test_an_agent_can_mend_it_first(tmp_path: Path) -> None:
    ci, plan = red_run(tmp_path)
    mend = json.dumps(["sh", "-c", "touch mended; git add -A; git commit -qm mended"])
    path = ci.path / ".corral" / "config.toml"
    engine = f'[engine.default]\ntype = "shell"\ncommand = {mend}\n'
    path.write_text(path.read_text().replace("exit 3", "test -e mended") + engine)
    answer = ci.run(plan, "--on-red", "mend")
    assert answer.code == 0, answer
    first, second = ci.data("task", "list")
    assert (first["needs"], second["title"]) == ([second["id"]], "Make the checks pass")
