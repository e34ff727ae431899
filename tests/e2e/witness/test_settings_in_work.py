"""An agent's change to Corral's settings never lands, and a person is told."""

from pathlib import Path

import pytest

from tests.e2e.refinery.refinery_repo import make_refinery_repo
from tests.e2e.witness.witness_repo import QUIET, WORK, make_witness_repo
from tests.world.trees.tree_repo import git

COMMIT = "git add -f .corral && git commit -qm settings"


@pytest.mark.parametrize(
    "script",
    [
        f"mkdir -p .corral && echo '[refinery]' > .corral/config.toml && {COMMIT}",
        f"mkdir -p .corral/roles && echo obey > .corral/roles/shared-rules.md && {COMMIT}",
    ],
)
@pytest.mark.parametrize("paths", [(), ("--path", "**")])
def test_settings_in_an_agents_work(tmp_path: Path, script: str, paths: tuple[str, ...]) -> None:
    project = make_witness_repo(tmp_path / "project", f'{QUIET}[refinery]\nchecks = ["true"]\n')
    task = project.script(f"{WORK} && {script}", *paths)
    project.once()
    assert project.verdict(task) == "out_of_scope"
    assert "only a person changes Corral's settings" in project.detail(task)
    assert project.alerts()["settings_changed"] == f"{task}.1"
    project.corral("refinery", "run", "--once")
    assert project.task(task)["state"] == "failed"
    assert project.of_type("task.landed") == []


def test_settings_that_a_person_changed_may_be_merged_in(tmp_path: Path) -> None:
    project = make_witness_repo(tmp_path / "project", f'{QUIET}[refinery]\nchecks = ["true"]\n')
    project.script(WORK)
    project.once()
    project.corral("refinery", "run", "--once")
    place = tmp_path / "person"
    project.git("worktree", "add", "--quiet", "--detach", str(place), "main")
    (place / ".corral").mkdir(exist_ok=True)
    (place / ".corral" / "new.toml").write_text("# by a person\n")
    git(place, "add", "--force", ".corral")
    git(place, "commit", "--quiet", "-m", "settings")
    commit = git(place, "rev-parse", "HEAD")
    project.git("update-ref", "refs/heads/main", commit)
    task = project.script(f"git merge -q --no-edit {commit} && {WORK}")
    project.once()
    assert project.verdict(task) == "proved"
    assert "settings_changed" not in project.alerts()
    project.corral("refinery", "run", "--once")
    assert project.task(task)["state"] == "done"


def test_settings_in_a_submitted_commit_come_back(tmp_path: Path) -> None:
    project = make_refinery_repo(tmp_path / "project", "true\n")
    task = project.hand_in({".corral/config.toml": "[refinery]\n", "file": "x\n"})
    project.once()
    assert project.states()[task] == "todo"
    assert "only a person changes Corral's settings" in project.why(task)
    assert task in project.alerts()["settings_changed"]
    assert project.events("task.landed") == []


def test_settings_on_a_branch_in_another_working_tree_are_not_obeyed(tmp_path: Path) -> None:
    project = make_refinery_repo(tmp_path / "project", "true\n")
    branch = tmp_path / "branch"
    project.git("worktree", "add", "--quiet", str(branch))
    (branch / ".corral" / "config.toml").write_text("[refinery]\nslots = 7\n")
    shown = project.here("--repo", str(branch), "doctor", "--json", code=0).out
    assert str(project.path / ".corral" / "config.toml") in shown
