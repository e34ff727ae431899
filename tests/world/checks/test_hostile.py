"""Checks that misbehave get the right outcome, and the next run in their slot is unaffected."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from corral.world.checks import RunResult, tail
from tests.world.checks.check_runs import CheckRuns, parent_of
from tests.world.trees.tree_repo import git, repository

DAEMONS = """
setsid sh -c 'trap "" TERM HUP; while :; do date >> writer.txt; sleep 0.02; done' &
(setsid sh -c '(while :; do touch again/file 2>/dev/null || mkdir again; done) &' &)
env -i setsid sh -c 'while :; do sleep 1; done' "$PWD" > /dev/null 2>&1 &
while ! test -s writer.txt; do sleep 0.01; done
"""


@pytest.mark.parametrize(
    ("script", "result", "command"),
    [
        (DAEMONS, RunResult.GREEN, False),
        (f"{DAEMONS} exit 4", RunResult.RED, True),
        # Its runner is gone, so the end of the command is unknown.
        ("setsid sleep 1000 & kill -9 $PPID; sleep 1000", RunResult.LOST, True),
        (f"setsid sleep 1000 & kill -9 {parent_of('$PPID')}; sleep 1000", RunResult.LOST, True),
        (
            f"shim={parent_of('$PPID')}; keeper={parent_of('$shim')}; setsid sleep 1000 & "
            "kill -9 $keeper $shim; sleep 1000",
            RunResult.LOST,
            True,
        ),
        ('rm -rf "$PWD" "$TMPDIR"', RunResult.GREEN, False),
        ('d=$PWD; cd /; rm -rf "$d"; ln -s "$HOME" "$d"', RunResult.GREEN, False),
        ("rm -rf $(git rev-parse --git-dir)", RunResult.GREEN, False),
        ("kill -STOP $$", RunResult.TIMED_OUT, True),
        ("yes > /dev/null & exec sleep 1000", RunResult.TIMED_OUT, True),
    ],
)
def test_misbehaviour(checks: CheckRuns, script: str, result: RunResult, command: bool) -> None:
    deadline_s = 3 if result is RunResult.TIMED_OUT else 60
    done = checks.run("true", script, deadline_s=deadline_s)
    assert (done.result, done.command) == (result, script if command else ""), done
    assert checks.mentioned() == []
    if "keeper" not in script:  # without one, what is left is ended before the slot is used again
        assert checks.alive() == set()
    checks.assert_unaffected()


def test_a_command_after_the_tree_is_gone_fails(checks: CheckRuns) -> None:
    done = checks.run('rm -rf "$PWD"', "true")
    assert (done.result, done.command, done.code) == (RunResult.RED, "true", 126)
    assert "No such file" in done.last_lines[-1]
    checks.assert_unaffected()


def test_a_run_that_deletes_its_own_folder_is_lost(checks: CheckRuns) -> None:
    run = checks.start(f"rm -rf {checks.folder}/*; seq 1000")
    done = checks.ended(run)
    assert done.result is RunResult.LOST
    checks.assert_unaffected()


def test_a_gigabyte_of_output_is_bounded(checks: CheckRuns) -> None:
    limit = 1 << 20
    run = checks.start("head -c 1073741824 /dev/zero", "echo end; exit 2", output_bytes=limit)
    done = checks.ended(run, 120)
    assert (done.result, done.command) == (RunResult.RED, "echo end; exit 2")
    assert done.last_lines[-1] == "end"
    assert len(done.last_lines) <= 40
    assert sum(os.path.getsize(f"{run.folder}/{n}") for n in os.listdir(run.folder)) < 3 * limit
    assert tail(run.folder, 1) == ["end"]


def test_branches_that_a_check_moves_are_moved_and_its_tree_is_detached_again(
    checks: CheckRuns,
) -> None:
    """The repository's refs are shared: the refinery has to compare them, this can only be told."""
    main, older = git(checks.repo, "rev-parse", "main", "main~1").split()
    script = "git update-ref refs/heads/other HEAD~1; git checkout -q -b mine"
    assert checks.run(script).green
    assert git(checks.repo, "rev-parse", "other~0", "main").split() == [older, main]
    assert "[mine]" in git(checks.repo, "worktree", "list")
    checks.pool.release(1)
    assert "[mine]" not in git(checks.repo, "worktree", "list")
    checks.assert_unaffected()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=12m", "corral-test", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this machine does not let root mount a small disk")
    yield place
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_check_that_fills_the_disk_is_red_and_leaves_room(small_disk: Path) -> None:
    checks = CheckRuns(repository(small_disk / "project"))
    try:
        done = checks.run("true", "cat /dev/zero > filler")
        assert (done.result, done.command) == (RunResult.RED, "cat /dev/zero > filler")
        assert done.disk_full
        assert [c.code for c in done.commands] == [0, 1]
        inside = checks.run("cat /dev/zero > $TMPDIR/filler")
        assert (inside.result, inside.disk_full) == (RunResult.RED, True)
        for_ever = checks.run("while :; do cat /dev/zero >> filler; done", deadline_s=3)
        assert for_ever.result is RunResult.TIMED_OUT
        assert not checks.run("false").disk_full
        checks.assert_unaffected()
    finally:
        checks.close()
