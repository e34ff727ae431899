"""An agent's change to Corral's settings never lands, and a person is told."""

from pathlib import Path

import pytest

from tests.e2e.witness.witness_repo import QUIET, WORK, make_witness_repo

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
