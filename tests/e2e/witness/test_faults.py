"""A fault in one session is reported and stops neither the witness nor other sessions."""

import subprocess
from pathlib import Path

from tests.e2e.witness.witness_repo import QUIET, WORK, WitnessRepo
from tests.patience import PATIENCE_S


def test_a_room_that_cannot_be_used_ends_its_own_session_only(project: WitnessRepo) -> None:
    bad, good = project.script(WORK), project.script(WORK)
    rooms = project.folder / "sessions"
    rooms.mkdir(parents=True)
    (rooms / f"{bad}.1").write_text("in the way")  # a file where a folder should be
    _run_with_traceback_allowed(project)
    assert project.verdict(bad) == "could_not_start"
    assert "NotADirectoryError" in project.detail(bad) or "FileExistsError" in project.detail(bad)
    assert project.verdict(good) == "proved"
    assert project.alerts() == {"step_failed": f"{bad}.1"}


def _run_with_traceback_allowed(project: WitnessRepo) -> None:
    """The witness prints what it did not expect on stderr, besides the alert."""
    process = project.started("witness", "run", "--once", stderr=subprocess.PIPE)
    _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
    assert b"Traceback" in said


def test_a_tree_that_cannot_be_judged_is_tried_again(project: WitnessRepo) -> None:
    blocker = project.folder / "desks"
    project.configure(f"{QUIET}[radar]\nenabled = false\n")  # it has a desk there as well
    task = project.script(
        f"{WORK}; rm -rf '{blocker}'; echo x > '{blocker}'; touch '{project.path.parent}/go'"
    )
    with project.witness():
        project.until(lambda: Path(project.path.parent / "go").exists())
        project.until(lambda: project.alerts().get("not_judged") == f"{task}.1")
        blocker.unlink()
        assert project.until_ended(task) == "proved"
    assert project.alerts() == {}
