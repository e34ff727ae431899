"""A process may be killed at every step of making a tree or giving it back."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from corral.world.git.tree import Tree
from corral.world.trees import Trees
from corral.world.trees.slots import Slot, TreeSlots
from tests.world.trees.tree_repo import PERSON, commit_file, git, opened, working_files

# The child kills itself when it is about to change a file or start a program for the n-th time.
CHILD = """
import os, signal, subprocess, sys
from corral.world.repository import find
from corral.world.trees import Trees
repo, name, kind, left = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "subprocess.Popen"}
armed = False
def count(event, args):
    global left
    if armed and event in CHANGES:
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(count)
trees = Trees(find(repo))
armed = True
tree = trees.make(name, "convoy/x/1", "main", kind=kind)
armed = False
open(os.path.join(tree.path, name + ".txt"), "w").write(name)
for words in (["add", "--all"], ["commit", "--quiet", "-m", name]):
    subprocess.run(["git", *words], cwd=tree.path, check=True)
open(os.path.join(tree.path, "draft-" + name), "w").write(name)
print("committed", flush=True)
armed = True
trees.release(tree)
print("released", flush=True)
"""


@pytest.mark.parametrize(
    ("kind", "parked", "stride"),
    [
        ("clone", True, 29),
        pytest.param("clone", False, 5, marks=pytest.mark.long),
        pytest.param("clone", True, 3, marks=pytest.mark.long),
        pytest.param("worktree", False, 7, marks=pytest.mark.long),
    ],
)
def test_every_step_may_be_the_last(repo: Path, kind: str, *, parked: bool, stride: int) -> None:
    trees = opened(repo)
    if parked:
        trees.release(trees.make("first", "convoy/x/first", "main"))
    step, said = 1, ""
    while "released" not in said:
        name = f"s{step}"
        done = subprocess.run(
            [sys.executable, "-c", CHILD, str(repo), name, kind, str(step)],
            env=os.environ | PERSON,
            capture_output=True,
            check=False,
        )
        said = done.stdout.decode()
        assert done.returncode in (0, -signal.SIGKILL), done.stderr.decode()
        put_right(repo, trees, name, committed="committed" in said)
        step += stride
    assert step > 40, "it was not killed at all of these steps"


def put_right(repo: Path, trees: Trees, name: str, *, committed: bool) -> None:
    """Do what the next witness does; nothing may be lost, and the branch can be used again."""
    trees.sweep()
    if trees.find(name) is not None:
        trees.release(trees.adopt(name))
    if committed:
        assert git(repo, "show", f"convoy/x/1:{name}.txt") == name
        refs = [kept.ref for kept in trees.keep.list_kept(name)]
        assert name in [git(repo, "show", f"{ref}:draft-{name}", fine=(0, 128)) for ref in refs]
    again = trees.make(f"{name}-again", "convoy/x/1", "main")
    assert not git(again.path, "status", "--porcelain")
    trees.release(again)
    assert trees.list() == []
    git(repo, "fsck", "--strict", "--no-dangling")


def test_a_clone_of_an_earlier_version_is_taken_over(repo: Path, trees: Trees) -> None:
    """Its git folder was inside the tree."""
    path = Path(trees.place) / "tree-1"
    path.parent.mkdir(exist_ok=True)
    git(repo, "branch", "convoy/x/1")
    git(repo, "clone", "--quiet", "--shared", "--branch=convoy/x/1", ".", str(path))
    base = git(repo, "rev-parse", "main")
    git(repo, "update-ref", "refs/corral/base/tree-1", base)
    own = str(path / ".git")
    old = Slot(1, "live", Tree(str(path), "s1", "clone", "convoy/x/1", base, own))
    TreeSlots(str(repo / ".git"), trees.place).save(old)
    done = commit_file(path, "done.txt", "done")
    tree = trees.adopt("s1")
    assert trees.facts(tree).branch_commit == done
    assert trees.collect(tree) == done
    trees.release(tree)
    assert git(repo, "rev-parse", "convoy/x/1") == done
    again = trees.make("s2", "convoy/x/1", "main")
    assert (again.path, git(again.path, "rev-parse", "HEAD")) == (str(path), done)
    assert working_files(again.path) == {**working_files(repo), b"done.txt": (False, b"done")}
    assert (path / ".git").is_file()
