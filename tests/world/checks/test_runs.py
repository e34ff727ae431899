"""Check runs: the right outcome, read from the run's folder alone."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from corral.core.errors import BadInput, Refused
from corral.world import clock, processes
from corral.world.checks import Pool, RunResult, Runs, is_overdue, key, outcome, stop, tail
from corral.world.processes import records
from corral.world.repository import find
from tests.world.checks.check_runs import CheckRuns, parent_of
from tests.world.processes.sessions import await_in, kill, written
from tests.world.trees.tree_repo import commit_file, git

DAY = 24 * 3_600_000


def test_all_commands_pass_in_order(checks: CheckRuns) -> None:
    burn = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done"
    run = checks.start("echo one > order", "echo two >> order; cat order", burn)
    done = checks.ended(run)
    assert done.result is RunResult.GREEN
    assert (done.command, done.code, done.last_lines, done.killed) == ("", None, (), 0)
    assert [(c.number, c.code) for c in done.commands] == [(1, 0), (2, 0), (3, 0)]
    assert tail(run.folder, 9)[1:4] == ["+ echo two >> order; cat order", "one", "two"]
    slowest = done.commands[2]
    assert 0 < slowest.cpu_s <= done.cpu_s
    assert 0 < slowest.wall_s <= done.wall_s < 30


def test_the_first_failure_ends_the_run_and_is_told(checks: CheckRuns) -> None:
    failing = "echo out; echo why >&2; exit 3"
    done = checks.run("true", failing, "echo never")
    assert (done.result, done.command, done.code, done.signal) == (RunResult.RED, failing, 3, None)
    assert done.last_lines[-2:] == ("out", "why")
    assert "never" not in done.last_lines[-1]
    assert [c.code for c in done.commands] == [0, 3]
    assert not done.disk_full
    killed = checks.run("kill -9 $$")
    assert (killed.result, killed.code, killed.signal) == (RunResult.RED, None, 9)
    group = checks.run("trap '' TERM; kill -9 0")
    assert (group.result, group.signal) == (RunResult.RED, 9)
    missing = checks.run("no-such-program --at-all")
    assert (missing.result, missing.code) == (RunResult.RED, 127)


def test_a_run_gets_a_clean_environment(checks: CheckRuns, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GIT_SSL_CAINFO", raising=False)  # certificates are passed through
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_AUTHOR_NAME", "CORRAL_TOKEN", "SECRET"):
        monkeypatch.setenv(name, "inherited")
    run = checks.start("env | sort", "touch $TMPDIR/x", ports=(4001, 4002), env={"CI": "1"})
    assert checks.ended(run).green
    found = dict(line.split("=", 1) for line in tail(run.folder, 99) if "=" in line)
    assert "inherited" not in found.values()
    assert {name for name in found if name.startswith("GIT_")} == {
        "GIT_EDITOR",
        "GIT_TERMINAL_PROMPT",
    }
    assert (found["CORRAL_PORT_1"], found["CORRAL_PORT_2"], found["CI"]) == ("4001", "4002", "1")
    assert found["HOME"] == os.environ["HOME"]
    assert (
        found["PATH"] == f"{run.tree}/.venv/bin:{run.tree}/node_modules/.bin:{os.environ['PATH']}"
    )
    assert (found["CORRAL_CHECK"], found["CORRAL_COMMIT"]) == (run.id, run.commit)
    assert os.listdir(found["TMPDIR"]) == ["x"]
    checks.pool.release(1)
    assert os.listdir(found["TMPDIR"]) == []


def test_the_deadline_holds_after_the_starter_has_died(checks: CheckRuns) -> None:
    hang = "trap '' TERM; echo hangs; while :; do sleep 1; done"
    done = checks.run("true", hang, deadline_s=3)
    assert (done.result, done.command) == (RunResult.TIMED_OUT, hang)
    assert done.last_lines[-1] == "hangs"
    assert 3 <= done.wall_s < 60  # it would run forever
    checks.assert_unaffected()


def test_a_superseded_run_is_stopped_at_once_and_makes_room(checks: CheckRuns) -> None:
    run = checks.start("setsid sh -c 'trap \"\" TERM; sleep 1000' & echo > ready; sleep 1000")
    written(f"{run.tree}/ready")
    assert outcome(run.folder) is None
    assert stop(run.folder)
    done = checks.ended(run)
    assert done.result is RunResult.STOPPED
    assert done.command == run.commands[0]
    assert not stop(run.folder)
    checks.assert_unaffected()


def test_runs_in_different_slots_go_on_side_by_side(checks: CheckRuns) -> None:
    newer = commit_file(checks.repo, "newer.txt", "newer")
    wait = "mkfifo $TMPDIR/gate && read go < $TMPDIR/gate; ! test -e newer.txt"
    first = checks.start(wait, commit="main~1")
    second = checks.start("test -e newer.txt", slot=2)
    assert checks.ended(second).green
    assert second.commit == newer
    assert outcome(first.folder) is None
    stop(first.folder)
    assert checks.pool.slots() == [1, 2]


def test_what_cannot_start_says_so(checks: CheckRuns, monkeypatch: pytest.MonkeyPatch) -> None:
    checks.run("true")  # so that there is a keeper, which needs an interpreter too
    with monkeypatch.context() as broken:
        broken.setattr(sys, "executable", "/nowhere/python")
        with pytest.raises(processes.CouldNotStart, match="nowhere"):
            checks.start("true")
    done = outcome(str(checks.folder / "r2"))
    assert done
    assert done.result is RunResult.COULD_NOT_START
    assert "nowhere" in done.detail
    with pytest.raises(Refused, match="a run r1 already"):
        checks.runs.start(1, "r1", "main", ["true"], deadline_s=1)
    for bad in ("", "a.1", "../x", "-x"):
        with pytest.raises(BadInput):
            checks.runs.start(1, bad, "main", ["true"], deadline_s=1)
    with pytest.raises(BadInput):
        checks.runs.start(1, "r9", "main", [], deadline_s=1)
    assert not stop(str(checks.folder / "r9"))
    checks.assert_unaffected()


CALLER = """
import sys, time
from corral.world.checks import Pool, Runs
from corral.world.repository import find
Runs(Pool(find(sys.argv[1]))).start(1, "r9", "main", sys.argv[2:], deadline_s=60)
print("started", flush=True)
time.sleep(1000)
"""


@pytest.mark.parametrize(("code", "result"), [(0, RunResult.GREEN), (5, RunResult.RED)])
def test_a_killed_refinery_loses_nothing(checks: CheckRuns, code: int, result: RunResult) -> None:
    gate = checks.repo.parent / "gate"
    os.mkfifo(gate)
    commands = ["echo first", f"read go < {gate}; echo on; exit {code}"]
    command = [sys.executable, "-c", CALLER, str(checks.repo), *commands]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as caller:
        assert caller.stdout is not None
        assert caller.stdout.readline() == b"started\n"
        caller.kill()
    later = Runs(Pool(find(str(checks.repo))))
    assert later.adopt() == {"r9": None}
    with pytest.raises(Refused, match="r9 is still running"):
        later.start(1, "r10", "main", ["true"], deadline_s=60)
    (run,) = later.all()
    gate.write_text("go\n")
    done = checks.ended(run)
    assert (done.result, done.command) == (result, commands[1] if code else "")
    assert [c.code for c in done.commands] == [0, code]
    assert later.adopt() == {"r9": done}
    checks.assert_unaffected()


def test_a_run_whose_starter_died_before_it_began_never_begins(checks: CheckRuns) -> None:
    run = checks.start("true")
    checks.ended(run)
    for name in os.listdir(run.folder):
        if name != "run.json":
            os.unlink(f"{run.folder}/{name}")
    with checks.pool.hold(2):  # as if it were being started, but in another slot
        assert outcome(run.folder) is not None
    checks.pool.checkout(1, "main")
    assert os.path.exists(f"{run.folder}/process.json"), "it was withdrawn"
    (checks.folder / "half").mkdir()
    adopted = checks.runs.adopt()[run.id]
    assert adopted
    assert adopted.result is RunResult.COULD_NOT_START
    assert not processes.ask_stop(run.folder)
    with pytest.raises(Refused):
        checks.runs.start(1, "half", "main", ["true"], deadline_s=1)
    checks.assert_unaffected()


def test_a_frozen_shim_is_overdue_and_still_ends_as_timed_out(
    checks: CheckRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = checks.start(f"kill -STOP {parent_of('$PPID')}; exec sleep 1000", deadline_s=4)
    shim = checks.record(run)["pid"]
    await_in(run.folder, lambda: "T" in _state(shim) or None)
    assert not is_overdue(run.folder)
    started = checks.record(run)["started_at"]
    with monkeypatch.context() as later:
        later.setattr(clock, "now", lambda: started + 20_000)
        assert is_overdue(run.folder)
    await_in(run.folder, lambda: clock.now() > started + 4000 or None)
    assert outcome(run.folder) is None
    assert stop(run.folder)
    done = checks.ended(run)
    assert done.result is RunResult.TIMED_OUT
    assert not is_overdue(run.folder)


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_old_runs_are_pruned_but_not_the_last_nor_young_failures(checks: CheckRuns) -> None:
    red = checks.start("false")
    checks.ended(red)
    checks.run("true")
    going = checks.start("sleep 1000", slot=2)
    last = checks.start("true")
    checks.ended(last)
    assert checks.runs.prune(keep=1) == 1
    assert {run.id for run in checks.runs.all()} == {red.id, going.id, last.id}
    later = Runs(checks.pool, now=lambda: red.asked_at + 8 * DAY)
    (checks.folder / "half").mkdir()
    assert later.prune(keep=1) == 2
    assert {run.id for run in checks.runs.all()} == {going.id, last.id}
    assert later.prune(keep=0) == 1
    assert sorted(os.listdir(checks.folder)) == [going.id]


def test_a_key_changes_with_whatever_decides_the_result() -> None:
    one = key(["make lint", "make test"], {"env": {"A": "1"}, "timeout": 5})
    assert one == key(("make lint", "make test"), {"timeout": 5, "env": {"A": "1"}})
    others = [
        key(["make test", "make lint"], {"env": {"A": "1"}, "timeout": 5}),
        key(["make lint make test"], {"env": {"A": "1"}, "timeout": 5}),
        key(["make lint", "make test"], {"env": {"A": "2"}, "timeout": 5}),
        key(["make lint", "make test"]),
    ]
    assert len({one, *others}) == 5


def test_strays_of_a_run_that_lost_everything_are_ended(checks: CheckRuns) -> None:
    run = checks.start("setsid sleep 1000 & echo > ready; sleep 1000")
    written(f"{run.tree}/ready")
    record = checks.record(run)
    kill(record["keeper_pid"], signal.SIGKILL)
    kill(record["pid"], signal.SIGKILL)
    done = checks.ended(run)
    assert (done.result, done.command) == (RunResult.LOST, run.commands[0])
    assert checks.alive()
    other = checks.start("sleep 1000", slot=2)
    assert checks.runs.end_strays() == 0
    assert checks.record(other)["program_pid"] in checks.alive()
    stop(other.folder)
    checks.ended(other)
    assert records.read(run.folder, records.EXIT) is None
    checks.assert_unaffected()
    assert git(checks.repo, "worktree", "list").count("check-") == 2
