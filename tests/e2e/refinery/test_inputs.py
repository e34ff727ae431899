"""R30, R33: strategies, dependencies, and whatever strange thing can be handed in."""

import os
import subprocess
from pathlib import Path

import pytest

from corral.core.ids import TaskId
from corral.core.log.events import TaskEdited
from corral.roles.log import Log
from corral.store.sqlite import SqliteStore
from tests.e2e.refinery.yard import TRUNK, Yard, make_yard


def two_commits(yard: Yard, name: str) -> str:
    """Make a branch with a commit by Ann and one by Ben."""
    first = yard.branch("first", {f"{name}-1": "x\n"})
    tree = yard.plumb("rev-parse", f"{yard.branch('both', {f'{name}-2': 'x'}, first)}^{{tree}}")
    ben = {"GIT_AUTHOR_NAME": "Ben", "GIT_AUTHOR_EMAIL": "ben@example.org"}
    return yard.plumb("commit-tree", tree, "-p", first, "-m", "second step", env=ben)


@pytest.mark.parametrize("strategy", ["squash", "rebase", "merge"])
def test_each_convoy_lands_in_its_own_way(tmp_path: Path, strategy: str) -> None:
    yard = make_yard(tmp_path / "project", "true\n", "slots = 1\n")
    made = yard.here("convoy", "create", "Other", "--strategy", strategy, "--json", code=0).data
    task = yard.add("Do it in two steps", "--convoy", made["id"])
    commit = two_commits(yard, "file")
    yard.submit(task, commit)
    yard.once()
    trunk = f"convoy/{made['id']}/trunk"
    log = yard.git("log", "--first-parent", "--reverse", "--format=%an", f"main..{trunk}")
    parents = yard.git("log", "-1", "--format=%P", trunk).split()
    message = yard.git("log", "-1", "--format=%B", trunk)
    assert (
        log.splitlines()
        == {
            "squash": ["Tester"],
            "rebase": ["Tester", "Ben"],
            "merge": ["Corral refinery"],
        }[strategy]
    )
    assert parents[1:] == ([commit] if strategy == "merge" else [])
    assert f"Task: {task}" in message
    assert "Refinery-Run: R1" in message
    assert "Refinery-Tested: tip" in message
    assert ("Co-authored-by: Ben <ben@example.org>" in message) is (strategy == "squash")
    assert yard.git("rev-parse", f"{trunk}^{{tree}}") == yard.git("rev-parse", f"{commit}^{{tree}}")


def needs(yard: Yard, task: str, need: str) -> None:
    """Let work need another one after it was handed in; no command does that."""
    event = TaskEdited(task=TaskId(task), needs=(TaskId(need),))
    Log(SqliteStore(yard.folder), "test").record(lambda state, now: [event])


@pytest.mark.parametrize("order", ["needed first", "needing first"])
def test_work_lands_with_or_after_what_it_needs(tmp_path: Path, order: str) -> None:
    yard = make_yard(tmp_path / "project", "test ! -e b || test -e a\n", "slots = 1\n")
    below = yard.add("below")
    above = yard.add("above")
    base = yard.branch(f"convoy/yard/{below}", {"a": "1\n"})
    # Built on the other one, in the same file.
    top = yard.branch(f"convoy/yard/{above}", {"a": "2\n", "b": "x\n"}, base)
    works = [(below, base), (above, top)]
    for task, commit in works if order == "needed first" else works[::-1]:
        yard.submit(task, commit)
    needs(yard, above, below)
    yard.once()
    assert [e["data"]["task"] for e in yard.events("task.landed")] == [below, above]
    assert yard.git("show", f"{TRUNK}:a") == "2"
    assert not yard.events("change.returned")


def test_work_whose_need_is_not_handed_in_waits_and_says_so(tmp_path: Path) -> None:
    yard = make_yard(tmp_path / "project", "true\n", "slots = 1\n")
    need = yard.add("need")
    task = yard.hand_in({"file": "x\n"})
    needs(yard, task, need)
    yard.once(30)  # and it ends
    assert yard.states()[task] == "review"
    assert f"waits for {need}, which it needs" in yard.why(task)
    yard.submit(need, yard.branch(f"convoy/yard/{need}", {"other": "x\n"}))
    yard.once()
    assert [e["data"]["task"] for e in yard.events("task.landed")] == [need, task]


def test_strange_things_are_handed_in(tmp_path: Path) -> None:
    yard = make_yard(tmp_path / "project", "true\n", "slots = 1\nreturns = 1\n")
    good = yard.hand_in({"file": "x\n"})
    missing, foreign, empty, many, names, clash = (yard.add(f"strange {n}") for n in range(6))
    yard.submit(missing, "0123456789" * 4)
    tree = yard.plumb("rev-parse", "main^{tree}")
    yard.submit(foreign, yard.plumb("commit-tree", tree, "-m", "from nowhere"))
    yard.submit(empty, yard.git("rev-parse", "main"))
    yard.submit(many, strange_commit(yard, [f"many/{n}".encode() for n in range(3000)], b"x"))
    weird = [b"new\nline", b"latin-\xe9", b"-dash", b"quote\"'", b"tab\there"]
    yard.submit(names, strange_commit(yard, weird, b"one"))
    yard.submit(clash, strange_commit(yard, weird, b"another"))
    yard.once()
    states = yard.states()
    assert {states[task] for task in (good, empty, many)} == {"done"}
    assert {states[task] for task in (missing, foreign)} == {"failed"}
    assert "is not there" in yard.task(missing)["reason"]
    assert "nothing in common with the trunk" in yard.task(foreign)["reason"]
    assert sorted((states[names], states[clash])) == ["done", "failed"]
    found = subprocess.run(
        ["git", "ls-tree", "-r", "-z", "--name-only", TRUNK],
        cwd=yard.path,
        env=yard.env,
        capture_output=True,
        check=True,
    ).stdout.split(b"\0")
    assert {*weird, b"many/2999", b"file"} <= set(found)
    (returned,) = [
        e["data"] for e in yard.events("change.returned") if e["data"]["why"] == "conflict"
    ]
    assert len(returned["paths"]) == len(weird)
    assert yard.here("log", "verify").code == 0


def strange_commit(yard: Yard, names: list[bytes], content: bytes) -> str:
    """Make a commit with files of any name."""
    index = {"GIT_INDEX_FILE": str(yard.path / ".git" / "strange-index")}
    blob = yard.plumb("hash-object", "-w", "--stdin", stdin=content.decode())
    yard.plumb("read-tree", "main", env=index)
    lines = b"".join(b"100644 %s\t%s\0" % (blob.encode(), name) for name in names)
    subprocess.run(
        ["git", "update-index", "-z", "--index-info"],
        cwd=yard.path,
        env=yard.env | index,
        input=lines,
        check=True,
    )
    tree = yard.plumb("write-tree", env=index)
    os.unlink(index["GIT_INDEX_FILE"])
    return yard.plumb("commit-tree", tree, "-p", "main", "-m", "strange")
