"""An edited configuration is taken over by everything that runs, at once; a wrong one is not."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from corral.roles.locks import taken
from corral.store.sqlite import SqliteStore
from tests.e2e.server.live_server import serve
from tests.e2e.witness.witness_repo import QUIET, WORK, WitnessRepo, make_witness_repo
from tests.patience import PATIENCE_S, until

ROLES = {"server", "witness", "refinery", "deacon"}


@pytest.fixture
def project(tmp_path: Path) -> WitnessRepo:
    project = make_witness_repo(tmp_path / "project")
    project.configure(QUIET)
    return project


@contextmanager
def up(project: WitnessRepo) -> Iterator[None]:
    project.corral("up", "-d")
    try:
        yield
    finally:
        project.corral("down", code=None)


def took_over(project: WitnessRepo) -> list[str]:
    return sorted(event["data"]["role"] for event in project.of_type("settings.changed"))


def last_chore(project: WitnessRepo) -> dict[str, str]:
    found: dict[str, str] = project.of_type("chore.done")[-1]["data"]
    return found


def test_all_roles_and_the_server_take_an_edit_over(project: WitnessRepo) -> None:
    with up(project):
        project.configure(QUIET.replace("total = 50", "total = 7"))
        project.until(lambda: took_over(project) == sorted(ROLES))
        project.configure("[slots]\ntotal = many\n")
        # Every command refuses the file, so the log is read without one.
        with closing(SqliteStore(str(project.folder))) as store:
            until(lambda: store.state().alerts, "no alert was raised")
            (alert,) = store.state().alerts.values()
        assert (alert.kind, alert.subject) == ("bad_settings", "config.toml")
        assert "the settings from before apply" in alert.text
        project.configure(QUIET.replace("total = 50", "total = 8"))
        project.until(lambda: took_over(project) == sorted([*ROLES, *ROLES]))
        project.until(lambda: project.alerts() == {})


def test_the_deacon_uses_an_edited_setting(project: WitnessRepo) -> None:
    """It sends traces once there is somewhere to send them."""
    process = project.started("deacon", "run", stderr=subprocess.DEVNULL)
    try:
        project.until(lambda: project.data("deacon", "status")["running"])
        nowhere = "http://127.0.0.1:9"
        project.configure(f'{QUIET}[telemetry]\nendpoint = "{nowhere}"\n')
        project.until(lambda: took_over(project) == ["deacon"])
        project.until(lambda: {"chore": "traces"}.items() <= last_chore(project).items())
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE_S)


def test_the_server_shows_what_the_file_says_and_tells_what_waits_for_a_restart(
    project: WitnessRepo,
) -> None:
    with serve(project) as server:

        def slots() -> int:
            return int(server.call("GET", "/api/health").data["slots"])

        assert slots() == 50
        project.configure(QUIET.replace("total = 50", "total = 9") + "[server]\nport = 1\n")
        project.until(lambda: slots() == 9)
        project.until(lambda: "old_server" in project.alerts())
        project.configure(QUIET)
        project.until(lambda: slots() == 50)
        project.until(lambda: project.alerts() == {})
    assert set(took_over(project)) == {"server"}


def test_an_emptied_file_means_the_default_settings(project: WitnessRepo) -> None:
    """An editor empties a file before it writes it, so it must stay empty for a moment."""
    with project.witness():
        until(lambda: taken(str(project.folder), "witness"), "no witness runs")
        project.configure("")
        project.until(lambda: took_over(project) == ["witness"])
        task = project.script(WORK)
        project.until(lambda: project.task(task)["state"] == "review")
