"""Checks that hang, flood, fork, kill what runs them, or cannot be run at all."""

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.refinery.refinery_repo import TRUNK, RefineryRepo, make_refinery_repo
from tests.patience import PATIENCE_S


def processes_of(project: RefineryRepo) -> list[str]:
    """Return the processes that a check of this repository has started and that still run."""
    wanted = f"CORRAL_RUN={project.path / '.git'}".encode()
    found = []
    for folder in Path("/proc").iterdir():
        try:
            variables = (folder / "environ").read_bytes().split(b"\0")
            words = (folder / "cmdline").read_bytes().decode(errors="replace")
        except OSError:
            continue
        if wanted in variables and any(v.startswith(b"CORRAL_CHECK=") for v in variables):
            found.append(words)
    return found


def test_whatever_a_check_does_it_is_bounded_named_and_lands_nothing(tmp_path: Path) -> None:
    check = """\
touch $TMPDIR/left
if [ -e hangs ]; then (sleep 1000 &) ; sleep 1000; fi
if [ -e floods ]; then yes "a line of output" | head -c 40000000; exit 1; fi
if [ -e forks ]; then setsid sleep 1000 & setsid sleep 1000 & echo forked; exit 1; fi
"""
    project = make_refinery_repo(
        tmp_path / "project", check, 'mode = "serial"\nreturns = 1\ndeadline_s = 1\n'
    )
    hangs = project.hand_in({"hangs": "x\n"})
    project.once()
    settings = project.path / ".corral" / "config.toml"
    settings.write_text(settings.read_text().replace("deadline_s = 1", "deadline_s = 600"))
    floods, forks, good = (project.hand_in({name: "x\n"}) for name in ("floods", "forks", "good"))
    project.once()
    states = project.states()
    assert [states[t] for t in (hangs, floods, forks, good)] == ["failed"] * 3 + ["done"]
    assert "longer than 1 s" in project.task(hangs)["reason"]
    assert "a line of output" in project.task(floods)["reason"]
    assert "forked" in project.task(forks)["reason"]
    project.until(lambda: not processes_of(project))
    checks = project.path / ".git" / "corral" / "checks"
    size = sum(p.stat().st_size for p in checks.rglob("*") if p.is_file())
    assert size < 60_000_000  # each of the two flooded runs keeps at most 16 MB
    (temporary,) = tmp_path.rglob("check-1-tmp")
    assert list(temporary.iterdir()) == []


def test_runs_without_a_result_are_retried_with_growing_delays_and_blame_no_change(
    tmp_path: Path,
) -> None:
    broken = tmp_path / "broken"
    broken.touch()
    # Its runner is its parent, so the end of the command is never seen.
    check = f'if [ -e {broken} ] && [ -n "$CORRAL_CHECK" ]; then kill -9 $PPID; sleep 5; fi\n'
    project = make_refinery_repo(tmp_path / "project", f"[ -n 1 ]\n{check}", "slots = 1\n")
    settings = project.path / ".corral" / "config.toml"
    settings.write_text(settings.read_text().replace("sh check.sh", ". ./check.sh"))
    task = project.hand_in({"file": "x\n"})
    began = time.monotonic()
    with project.refinery():
        project.until(lambda: len(_results(project)) >= 2)
        assert time.monotonic() - began >= 2  # the rest after the first one
        assert re.search(r"\b2 runs\b.*\b4 s\b", project.why(task))
        assert "cannot_check" in project.alerts()
        broken.unlink()
        project.until(lambda: project.states()[task] == "done")
    assert _results(project) == ["lost", "lost", "green"]
    assert not project.events("change.returned")
    assert "cannot_check" not in project.alerts()


def _results(project: RefineryRepo) -> list[str]:
    return [e["data"]["result"] for e in project.events("check.ended")]


def test_a_flaky_check_is_run_again_counted_and_shown(tmp_path: Path) -> None:
    weather = tmp_path / "weather"
    check = f'if [ -n "$CORRAL_CHECK" ] && rm {weather} 2>/dev/null; then exit 7; fi\n'
    project = make_refinery_repo(tmp_path / "project", check, "slots = 1\n")
    project.hand_in_all([{f"file-{n}": "x\n"} for n in range(12)])
    project.once()  # work that is handed in here is good, as a rule
    before = len(_results(project))
    weather.touch()
    tasks = [project.hand_in({name: "x\n"}) for name in ("one", "other")]
    project.once()
    assert {project.states()[task] for task in tasks} == {"done"}
    assert _results(project)[before:] == ["red", "green", "green"]
    together, first, again = (e["data"] for e in project.events("check.started")[before:])
    assert together["members"] == tasks
    assert (first["members"], again["members"]) == (tasks[:1], tasks[1:])
    assert together["tree"] == again["tree"]
    assert project.queue()["flaky"] == {"sh check.sh": 1}
    (line,) = [s for s in project.here("queue", "list").out.splitlines() if "flaky" in s]
    assert "sh check.sh" in line


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=24m", "corral-test", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this machine does not let root mount a small disk")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_the_disk_fills_and_has_room_again(small_disk: Path) -> None:
    project = make_refinery_repo(
        small_disk / "project", "! ls | grep -q '^bad-'\n", "slots = 1\nreturns = 1\n"
    )
    first = project.hand_in({"file-1": "x\n"})
    project.once()
    others = [project.hand_in({f"file-{n}": "x\n"}) for n in range(2, 5)]
    bad = project.hand_in({"bad-1": "x\n"})
    before = project.git("rev-parse", TRUNK)
    filler = small_disk / "filler"
    with project.refinery() as process, filler.open("wb") as file:
        for size in (1 << 20, 4096, 1):
            _fill(file.fileno(), size)
        time.sleep(3)  # however far it gets
        filler.unlink()
        file.truncate(0)
        project.until(lambda: process.poll() is not None or _over(project, [*others, bad]))
    project.once()  # if it gave up, the next one goes on
    states = project.states()
    assert {states[task] for task in (first, *others)} == {"done"}
    assert states[bad] == "failed"
    assert project.git("merge-base", before, TRUNK) == before
    assert "bad-1" not in project.git("ls-tree", "--name-only", TRUNK)
    assert project.here("log", "verify").code == 0
    project.git("fsck", "--strict")
    shutil.rmtree(project.path)


def _fill(file: int, size: int) -> None:
    try:
        while True:
            os.write(file, b"x" * size)
    except OSError:
        return


def _over(project: RefineryRepo, tasks: list[str]) -> bool:
    states = project.states()
    return all(states[task] in ("done", "failed") for task in tasks)


def test_a_check_ends_with_a_refinery_that_is_stopped_and_is_run_by_the_next(
    tmp_path: Path,
) -> None:
    go = tmp_path / "go"
    check = f"trap '' TERM; until test -e {go}; do sleep 0.1; done\n"
    project = make_refinery_repo(tmp_path / "project", check, "deadline_s = 1000\n")
    task = project.hand_in({"file": "x\n"})
    with project.refinery() as refinery:
        project.until(lambda: processes_of(project))
        refinery.terminate()
        refinery.wait(PATIENCE_S)
        assert processes_of(project) == []
    (stopped,) = project.queue()["checks"]
    assert (stopped["result"], stopped["detail"]) == ("cancelled", "the refinery was stopped")
    assert project.states()[task] == "review"
    go.touch()
    project.once()
    assert project.states()[task] == "done"
    assert not project.events("change.returned")
