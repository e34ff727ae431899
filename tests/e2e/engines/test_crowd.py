"""Many talkative engines do not make the witness use more memory."""

from pathlib import Path

import pytest

from tests.e2e.engines.engine_repo import CONFIG, DONE, WORK, EngineRepo, began, script

# Ten megabytes: lines of 500 bytes, in blocks, so that the test and not the shell is measured.
TALK = """\
line='{"fact":"said","text":"'$(head -c 480 /dev/zero | tr '\\0' x)'"}'
for n in $(seq 21); do echo "$line"; done > "$HOME/block"
for n in $(seq 1000); do cat "$HOME/block"; done
"""


@pytest.mark.parametrize("sessions", [4, pytest.param(20, marks=pytest.mark.long)])
def test_sessions_that_stream_ten_megabytes_each_leave_memory_flat(
    project: EngineRepo, sessions: int
) -> None:
    project.configure(CONFIG.replace("total = 50", f"total = {sessions}"))
    go = project.path.parent / "go"
    run = script(began(), f"until test -e {go}; do sleep 0.1; done", TALK, WORK, DONE)
    tasks = [project.script(run) for _ in range(sessions)]
    with project.witness() as witness:
        project.until(lambda: len(project.of_type("session.engaged")) == sessions)
        before = _resident_mb(witness.pid)
        go.touch()
        project.until(lambda: all(s["verdict"] for s in project.sessions()))
        peak = _peak_mb(witness.pid)
    assert {project.verdict(task) for task in tasks} == {"proved"}
    moved = sum((project.run_of(f"{task}.1") / "output").stat().st_size for task in tasks)
    assert moved > sessions * 10_000_000
    assert peak - before < 20 + 2 * sessions, f"{before} MB before, {peak} MB at most"


def _resident_mb(pid: int) -> int:
    return _status(pid, "VmRSS:")


def _peak_mb(pid: int) -> int:
    return _status(pid, "VmHWM:")


def _status(pid: int, name: str) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) // 1024
