"""R25: the trouble of one session is told, and stops neither the witness nor its other sessions."""

import subprocess
from pathlib import Path

from tests.e2e.witness.farm import QUIET, WORK, Farm
from tests.patience import PATIENCE_S


def test_a_room_that_cannot_be_used_ends_its_own_session_only(farm: Farm) -> None:
    bad, good = farm.script(WORK), farm.script(WORK)
    rooms = farm.folder / "sessions"
    rooms.mkdir(parents=True)
    (rooms / f"{bad}.1").write_text("in the way")  # a file where a folder should be
    _run_with_traceback_allowed(farm)
    assert farm.verdict(bad) == "could_not_start"
    assert "NotADirectoryError" in farm.detail(bad) or "FileExistsError" in farm.detail(bad)
    assert farm.verdict(good) == "proved"
    assert farm.alerts() == {"step_failed": f"{bad}.1"}


def _run_with_traceback_allowed(farm: Farm) -> None:
    """The witness prints what it did not expect on stderr, besides the alert."""
    process = farm.started("witness", "run", "--once", stderr=subprocess.PIPE)
    _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0
    assert b"Traceback" in said


def test_a_tree_that_cannot_be_judged_is_tried_again(farm: Farm) -> None:
    blocker = farm.folder / "desks"
    farm.configure(f"{QUIET}[radar]\nenabled = false\n")  # it has a desk there as well
    task = farm.script(
        f"{WORK}; rm -rf '{blocker}'; echo x > '{blocker}'; touch '{farm.path.parent}/go'"
    )
    with farm.witness():
        farm.until(lambda: Path(farm.path.parent / "go").exists())
        farm.until(lambda: farm.alerts().get("not_judged") == f"{task}.1")
        blocker.unlink()
        assert farm.until_ended(task) == "proved"
    assert farm.alerts() == {}
