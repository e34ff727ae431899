"""A command that may take minutes, such as a push, runs beside its caller."""

from pathlib import Path

from corral.world.git.checkout import Errand
from tests.patience import until


def ended(errand: Errand) -> str:
    """Wait for its end; return what went wrong."""
    until(lambda: errand.problem() is not None, "it did not end")
    problem = errand.problem()
    errand.close()
    return problem or ""


def test_what_went_wrong_is_quoted_without_keys(tmp_path: Path) -> None:
    said = 'echo "fatal: https://ann:hunter2@example.org is down" >&2; exit 3'
    assert ended(Errand(["sh", "-c", "exit 0"], str(tmp_path), limit_s=None)) == ""
    assert ended(Errand(["sh", "-c", "exit 3"], str(tmp_path), limit_s=None)) == "exit code 3"
    quoted = ended(Errand(["sh", "-c", said], str(tmp_path), limit_s=None))
    assert "is down" in quoted
    assert "hunter2" not in quoted


def test_one_that_takes_too_long_is_killed_with_everything_that_it_started(tmp_path: Path) -> None:
    script = f"sleep 3600 & echo $! > {tmp_path}/pid; wait"
    errand = Errand(["sh", "-c", script], str(tmp_path), limit_s=0.5)
    pid = until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text(), "no pid")
    assert until(errand.problem, "it goes on") == "sh took longer than 0.5 s and was killed"
    errand.close()
    until(lambda: not Path(f"/proc/{str(pid).strip()}").exists(), "its child is alive")
