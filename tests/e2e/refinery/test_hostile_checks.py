"""Checks that hang, flood, fork, kill what runs them, or cannot be run at all."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.refinery.yard import TRUNK, Yard, make_yard
from tests.patience import PATIENCE_S


def processes_of(yard: Yard) -> list[str]:
    """Return the processes that a check of this repository has started and that still run."""
    wanted = f"CORRAL_RUN={yard.path / '.git'}".encode()
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
    yard = make_yard(tmp_path / "project", check, 'mode = "serial"\nreturns = 1\ndeadline_s = 6\n')
    hangs, floods, forks, good = (
        yard.hand_in({name: "x\n"}) for name in ("hangs", "floods", "forks", "good")
    )
    yard.once()
    states = yard.states()
    assert [states[t] for t in (hangs, floods, forks, good)] == ["failed"] * 3 + ["done"]
    assert "it took longer than 6 s" in yard.task(hangs)["reason"]
    assert "a line of output" in yard.task(floods)["reason"]
    assert "forked" in yard.task(forks)["reason"]
    yard.until(lambda: not processes_of(yard))
    checks = yard.path / ".git" / "corral" / "checks"
    size = sum(p.stat().st_size for p in checks.rglob("*") if p.is_file())
    assert size < 60_000_000  # each of the two flooded runs keeps at most 16 MB
    (temporary,) = tmp_path.rglob("check-1-tmp")
    assert list(temporary.iterdir()) == []


def test_runs_that_come_to_nothing_rest_longer_and_longer_and_blame_nobody(
    tmp_path: Path,
) -> None:
    broken = tmp_path / "broken"
    broken.touch()
    # Its runner is its parent: nobody sees how the command ends.
    check = f'if [ -e {broken} ] && [ -n "$CORRAL_CHECK" ]; then kill -9 $PPID; sleep 5; fi\n'
    yard = make_yard(tmp_path / "project", f"[ -n 1 ]\n{check}", "slots = 1\n")
    settings = yard.path / ".corral" / "config.toml"
    settings.write_text(settings.read_text().replace("sh check.sh", ". ./check.sh"))
    task = yard.hand_in({"file": "x\n"})
    began = time.monotonic()
    with yard.refinery():
        yard.until(lambda: len(_results(yard)) >= 2)
        assert time.monotonic() - began >= 2  # the rest after the first one
        assert "the last 2 runs came to nothing, so the next one waits for 4 s" in yard.why(task)
        assert "came to nothing" in yard.alerts()["cannot_check"]
        broken.unlink()
        yard.until(lambda: yard.states()[task] == "done")
    assert _results(yard) == ["lost", "lost", "green"]
    assert not yard.events("change.returned")
    assert "cannot_check" not in yard.alerts()


def _results(yard: Yard) -> list[str]:
    return [e["data"]["result"] for e in yard.events("check.ended")]


def test_a_flaky_check_is_run_again_counted_and_shown(tmp_path: Path) -> None:
    weather = tmp_path / "weather"
    check = f'if [ -n "$CORRAL_CHECK" ] && rm {weather} 2>/dev/null; then exit 7; fi\n'
    yard = make_yard(tmp_path / "project", check, "slots = 1\n")
    yard.hand_in_all([{f"file-{n}": "x\n"} for n in range(12)])
    yard.once()  # work that is handed in here is good, as a rule
    before = len(_results(yard))
    weather.touch()
    tasks = [yard.hand_in({name: "x\n"}) for name in ("one", "other")]
    yard.once()
    assert {yard.states()[task] for task in tasks} == {"done"}
    assert _results(yard)[before:] == ["red", "green", "green"]
    together, first, again = (e["data"] for e in yard.events("check.started")[before:])
    assert together["members"] == tasks
    assert (first["members"], again["members"]) == (tasks[:1], tasks[1:])
    assert together["tree"] == again["tree"]
    assert yard.queue()["flaky"] == {"sh check.sh": 1}
    assert "flaky: 'sh check.sh', 1 times" in yard.here("queue", "list").out


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
    yard = make_yard(small_disk / "project", "! ls | grep -q '^bad-'\n", "slots = 1\nreturns = 1\n")
    first = yard.hand_in({"file-1": "x\n"})
    yard.once()
    others = [yard.hand_in({f"file-{n}": "x\n"}) for n in range(2, 5)]
    bad = yard.hand_in({"bad-1": "x\n"})
    before = yard.git("rev-parse", TRUNK)
    filler = small_disk / "filler"
    with yard.refinery() as process, filler.open("wb") as file:
        for size in (1 << 20, 4096, 1):
            _fill(file.fileno(), size)
        time.sleep(3)  # however far it gets
        filler.unlink()
        file.truncate(0)
        yard.until(lambda: process.poll() is not None or _over(yard, [*others, bad]))
    yard.once()  # if it gave up, the next one goes on
    states = yard.states()
    assert {states[task] for task in (first, *others)} == {"done"}
    assert states[bad] == "failed"
    assert yard.git("merge-base", before, TRUNK) == before
    assert "bad-1" not in yard.git("ls-tree", "--name-only", TRUNK)
    assert yard.here("log", "verify").code == 0
    yard.git("fsck", "--strict")
    shutil.rmtree(yard.path)


def _fill(file: int, size: int) -> None:
    try:
        while True:
            os.write(file, b"x" * size)
    except OSError:
        return


def _over(yard: Yard, tasks: list[str]) -> bool:
    states = yard.states()
    return all(states[task] in ("done", "failed") for task in tasks)


def test_a_check_ends_with_a_refinery_that_is_stopped_and_is_run_by_the_next(
    tmp_path: Path,
) -> None:
    go = tmp_path / "go"
    check = f"trap '' TERM; until test -e {go}; do sleep 0.1; done\n"
    yard = make_yard(tmp_path / "project", check, "deadline_s = 1000\n")
    task = yard.hand_in({"file": "x\n"})
    with yard.refinery() as refinery:
        yard.until(lambda: processes_of(yard))
        refinery.terminate()
        refinery.wait(PATIENCE_S)
        assert processes_of(yard) == []
    (stopped,) = yard.queue()["checks"]
    assert (stopped["result"], stopped["detail"]) == ("cancelled", "the refinery was stopped")
    assert yard.states()[task] == "review"
    go.touch()
    yard.once()
    assert yard.states()[task] == "done"
    assert not yard.events("change.returned")
