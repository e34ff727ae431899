"""A check tree is exactly its commit, cheaply, whatever happened in it or to it before."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from corral.core.errors import BadInput, NotFound, Refused
from corral.world.repository import find
from corral.world.trees import Trees
from tests.patience import PATIENCE_S
from tests.world.checks.check_runs import CheckRuns, committed
from tests.world.processes.sessions import await_in, written
from tests.world.trees.tree_repo import commit_file, everything, git, working_files

MESS = r"""
set -e
own=$(git rev-parse --git-dir); common=$(git rev-parse --git-common-dir)
# A change that only its ctime betrays.
cp -p part1/file1.txt keep-times; printf 'CONTENT of 1\n' > part1/file1.txt
touch -r keep-times part1/file1.txt; rm keep-times
git update-index --assume-unchanged part1/file4.txt; echo changed > part1/file4.txt
git update-index --skip-worktree part1/file7.txt; rm part1/file7.txt
chmod 000 part2/file2.txt; chmod +x part2/file5.txt; rm link; mkdir link; touch link/inside
rm -r part0; ln -s /etc part0; touch untracked ignored.log; mkdir -p build/deep empty
git init -q inner; git -C inner -c user.name=a -c user.email=a@b commit -q --allow-empty -m x
mkdir closed; touch closed/file; chmod 000 closed; mkfifo pipe
mkdir part3; touch part3/new; chmod 555 part3
git checkout -q -b stolen; git add untracked
touch "$own/index.lock" "$own/MERGE_HEAD"; mkdir -p "$own/rebase-merge"
echo nonsense > "$own/index"
git config --file "$own/config.worktree" core.bare true
printf '#!/bin/sh\ntouch %s\n' "$MARK" > trap.sh; chmod +x trap.sh
cp trap.sh "$common/hooks/post-checkout"; cp trap.sh "$common/hooks/post-index-change"
git config core.fsmonitor "$PWD/trap.sh"; git config core.hooksPath "$PWD"
git config filter.trap.smudge "$PWD/trap.sh"; git config filter.trap.clean "$PWD/trap.sh"
echo '* filter=trap' > "$common/info/attributes"
rm -f .git; git init -q .; git config core.worktree /tmp
"""


def test_whatever_a_run_left_is_gone(checks: CheckRuns, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    commit_file(checks.repo, "part1/file1.txt", "another\n")
    left = checks.run(MESS, commit="main~1", env={"MARK": str(mark)})
    assert left.green, left
    config = checks.repo / ".git" / "config"
    expected = committed_without_traps(checks.repo, "main~1")
    mark.unlink(missing_ok=True)
    path = checks.pool.checkout(1, "main~1")
    assert not mark.exists()
    assert working_files(path) == expected
    assert not os.path.exists(f"{path}/empty")
    assert "fsmonitor" in config.read_text()  # the user's to decide about
    disarm(checks.repo)
    checks.assert_unaffected()
    listed = git(checks.repo, "worktree", "list", "--porcelain")
    assert f"worktree {path}\n" in listed
    assert "prunable" not in listed
    assert "stolen" not in listed


def disarm(repo: Path) -> None:
    for key in ("core.fsmonitor", "core.hooksPath", "filter.trap.smudge", "filter.trap.clean"):
        git(repo, "config", "--unset", key)
    (repo / ".git" / "info" / "attributes").unlink()
    shutil.rmtree(repo / ".git" / "hooks")


def committed_without_traps(repo: Path, commit: str) -> dict[bytes, object]:
    clean = repo.parent / "clean"
    git(repo.parent, "clone", "--quiet", "--no-checkout", str(repo), str(clean))
    git(clean, "checkout", "--quiet", "--detach", git(repo, "rev-parse", commit))
    return working_files(clean)


def test_a_change_that_hides_its_time_is_seen(checks: CheckRuns, tmp_path: Path) -> None:
    (tmp_path / "gitconfig").write_text("[core]\n\ttrustctime = false\n\tcheckStat = minimal\n")
    path = Path(checks.pool.checkout(1, "main"))
    file = path / "part1" / "file1.txt"
    before = file.stat()
    # Git counts in seconds, and compares the contents of what is as new as its index: as if that
    # had been written in the next second, after many other files.
    index = checks.repo / ".git" / "corral" / "check-trees" / "check-1"
    await_in(str(index), lambda: time.time() > int(before.st_mtime) + 1 or None)
    os.utime(index / "index")
    file.write_text(file.read_text().upper())
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    checks.pool.checkout(1, "main")
    assert file.read_text() == "content of 1\n"


def test_a_missing_folder_or_a_link_is_recreated(checks: CheckRuns, tmp_path: Path) -> None:
    path = Path(checks.pool.checkout(1, "main"))
    (checks.repo / "precious").write_text("untracked, of the user")
    before = everything(checks.repo, leaving_out=(b".git",))
    shutil.rmtree(path)
    path.symlink_to(checks.repo)
    shutil.rmtree(f"{path}-tmp")
    Path(f"{path}-tmp").symlink_to(tmp_path)
    checks.assert_unaffected()
    assert not path.is_symlink()
    assert everything(checks.repo, leaving_out=(b".git",)) == before
    shutil.rmtree(path)
    shutil.rmtree(checks.repo / ".git" / "worktrees" / "check-1")
    checks.assert_unaffected()
    shutil.rmtree(checks.repo / ".git" / "corral" / "check-trees")
    checks.assert_unaffected()
    assert git(checks.repo, "worktree", "list").count("\n") == 1


def test_only_the_kept_paths_stay(repo: Path) -> None:
    checks = CheckRuns(repo, keep=("build/cache", "node_modules/"))
    path = Path(checks.pool.checkout(1, "main"))
    for name in ("build/cache/a", "build/b", "node_modules/x/y", "part0/node_modules/z"):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text("x")
    inode = path.stat().st_ino
    checks.pool.checkout(1, "main~1")
    untracked = git(path, "ls-files", "--others").splitlines()
    assert untracked == ["build/cache/a", "node_modules/x/y"]
    assert path.stat().st_ino == inode  # it was cleaned, not recreated


def test_a_filled_submodule_is_emptied(checks: CheckRuns) -> None:
    repo = checks.repo
    git(repo, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    git(repo, "commit", "--quiet", "-m", "a submodule")
    path = Path(checks.pool.checkout(1, "main"))
    assert not list((path / "sub").iterdir())
    (path / "sub" / "left").write_text("by a check")
    inode = path.stat().st_ino
    checks.pool.checkout(1, "main")
    assert not list((path / "sub").iterdir())
    assert path.stat().st_ino == inode


def test_many_files_go(checks: CheckRuns) -> None:
    path = Path(checks.pool.checkout(1, "main"))
    for part in range(20):
        (path / f"many{part}").mkdir()
        for number in range(1000):
            (path / f"many{part}" / f"{number}.log").touch()
    checks.pool.checkout(1, "main~1")
    assert working_files(path) == committed(checks.repo, "main~1")


def test_sessions_trees_and_check_trees_leave_each_other_alone(checks: CheckRuns) -> None:
    trees = Trees(find(str(checks.repo)))
    path = checks.pool.checkout(1, "main")
    tree = trees.make("s1", "convoy/x/1", "main")
    assert trees.list() == [tree]
    trees.release(tree)
    trees.sweep()
    assert trees.drain() == 1
    assert trees.list() == []
    assert os.path.exists(f"{path}/run.sh")
    git(checks.repo, "worktree", "prune", "--expire=now")
    assert path in git(checks.repo, "worktree", "list")
    assert checks.pool.slots() == [1]
    checks.pool.remove(1)
    assert checks.pool.slots() == []
    assert not os.path.exists(path)
    assert not os.path.exists(f"{path}-tmp")
    assert git(checks.repo, "worktree", "list").count("\n") == 0


def test_a_users_own_tree_of_that_name_is_not_touched(checks: CheckRuns, tmp_path: Path) -> None:
    git(checks.repo, "worktree", "add", "--quiet", "--detach", str(tmp_path / "check-1"))
    checks.assert_unaffected()
    checks.pool.remove(1)
    assert git(tmp_path / "check-1", "status", "--porcelain") == ""


def test_a_slot_in_use_is_refused_and_not_removed(checks: CheckRuns) -> None:
    run = checks.start("exec sleep 1000")
    for use in (checks.pool.remove, checks.pool.release, lambda n: checks.pool.checkout(n, "main")):
        with pytest.raises(Refused, match=f"the run {run.id} is still running"):
            use(1)
    with pytest.raises(NotFound, match="no commit 'nothing'"):
        checks.pool.checkout(2, "nothing")
    with pytest.raises(BadInput):
        checks.pool.checkout(0, "main")
    with checks.pool.hold(3), pytest.raises(Refused, match="being prepared"):
        checks.pool.remove(3)


def test_garbage_is_collected_meanwhile(checks: CheckRuns) -> None:
    commits = [commit_file(checks.repo, "part0/file0.txt", f"{n}\n") for n in range(4)]
    # In a process of its own: one that we fork holds our locks for a moment.
    over = Path(checks.repo, ".git", "over")
    loop = 'until test -e "$0"; do git gc --quiet --prune=now || exit 1; done'
    collector = subprocess.Popen(["sh", "-c", loop, str(over)], cwd=checks.repo)
    try:
        for number in range(24):
            checks.pool.checkout(1 + number % 2, commits[number % 4])
            if number % 8 == 7:
                checks.pool.remove(2)
    finally:
        over.touch()
        assert collector.wait(PATIENCE_S) == 0
    # What is checked out is held by the tree itself.
    git(checks.repo, "reset", "--quiet", "--hard", "HEAD~4")
    path = checks.pool.checkout(1, commits[3])
    git(checks.repo, "reflog", "expire", "--expire=now", "--all")
    git(checks.repo, "gc", "--quiet", "--prune=now")
    assert git(path, "show", f"{commits[3]}:part0/file0.txt") == "3"


CALLER = """
import sys
from corral.world.checks import Pool
from corral.world.repository import find
Pool(find(sys.argv[1])).checkout(1, sys.argv[2])
"""


def test_a_killed_checkout_cannot_write_into_the_next_one(
    checks: CheckRuns, tmp_path: Path
) -> None:
    repo = checks.repo
    # A filter of the user's own, so git runs it; it waits, and then takes its time.
    wait = f"echo began >> {tmp_path}/began; while ! test -e {tmp_path}/gate; do sleep 0.02; done"
    smudge = f"{wait}; sleep 0.1; cat"
    (tmp_path / "gitconfig").write_text(f'[filter "slow"]\n\tsmudge = "{smudge}"\n')
    (repo / ".gitattributes").write_text("part2/** filter=slow\n")
    git(repo, "add", ".gitattributes")
    git(repo, "commit", "--quiet", "-m", "slow")
    with subprocess.Popen([sys.executable, "-c", CALLER, str(repo), "main"]) as caller:
        written(str(tmp_path / "began"))
        caller.kill()
    with pytest.raises(Refused, match="being prepared"), checks.pool.hold(1, patience_s=0):
        pass
    (tmp_path / "gitconfig").write_text("")
    (tmp_path / "gate").touch()
    path = checks.pool.checkout(1, "main~1")
    assert working_files(path) == committed(repo, "main~1")
