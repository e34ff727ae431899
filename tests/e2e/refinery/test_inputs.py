"""Strategies, dependencies, and the strangest changes that can be handed in."""

import os
import subprocess
from pathlib import Path

import pytest

from corral.core.ids import TaskId
from corral.core.log.events import TaskEdited
from corral.roles.log import Log
from corral.store.sqlite import SqliteStore
from tests.e2e.refinery.refinery_repo import TRUNK, RefineryRepo, make_refinery_repo


def two_commits(project: RefineryRepo, name: str) -> str:
    """Make a branch with a commit by Ann and one by Ben."""
    first = project.branch("first", {f"{name}-1": "x\n"})
    tree = project.plumb(
        "rev-parse", f"{project.branch('both', {f'{name}-2': 'x'}, first)}^{{tree}}"
    )
    ben = {"GIT_AUTHOR_NAME": "Ben", "GIT_AUTHOR_EMAIL": "ben@example.org"}
    return project.plumb("commit-tree", tree, "-p", first, "-m", "second step", env=ben)


@pytest.mark.parametrize("strategy", ["squash", "rebase", "merge"])
def test_each_convoy_lands_in_its_own_way(tmp_path: Path, strategy: str) -> None:
    project = make_refinery_repo(tmp_path / "project", "true\n", "slots = 1\n")
    made = project.here("convoy", "create", "Other", "--strategy", strategy, "--json", code=0).data
    task = project.add("Do it in two steps", "--convoy", made["id"])
    commit = two_commits(project, "file")
    project.submit(task, commit)
    project.once()
    trunk = f"convoy/{made['id']}/trunk"
    log = project.git("log", "--first-parent", "--reverse", "--format=%an", f"main..{trunk}")
    parents = project.git("log", "-1", "--format=%P", trunk).split()
    message = project.git("log", "-1", "--format=%B", trunk)
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
    assert project.git("rev-parse", f"{trunk}^{{tree}}") == project.git(
        "rev-parse", f"{commit}^{{tree}}"
    )


def needs(project: RefineryRepo, task: str, need: str) -> None:
    """Let work need another one after it was handed in; no command does that."""
    event = TaskEdited(task=TaskId(task), needs=(TaskId(need),))
    Log(SqliteStore(project.folder), "test").record(lambda state, now: [event])


@pytest.mark.parametrize("order", ["needed first", "needing first"])
def test_work_lands_with_or_after_what_it_needs(tmp_path: Path, order: str) -> None:
    project = make_refinery_repo(tmp_path / "project", "test ! -e b || test -e a\n", "slots = 1\n")
    below = project.add("below")
    above = project.add("above")
    base = project.branch(f"convoy/project/{below}", {"a": "1\n"})
    # Built on the other one, in the same file.
    top = project.branch(f"convoy/project/{above}", {"a": "2\n", "b": "x\n"}, base)
    works = [(below, base), (above, top)]
    for task, commit in works if order == "needed first" else works[::-1]:
        project.submit(task, commit)
    needs(project, above, below)
    project.once()
    assert [e["data"]["task"] for e in project.events("task.landed")] == [below, above]
    assert project.git("show", f"{TRUNK}:a") == "2"
    assert not project.events("change.returned")


def test_work_whose_need_is_not_handed_in_waits_and_says_so(tmp_path: Path) -> None:
    project = make_refinery_repo(tmp_path / "project", "true\n", "slots = 1\n")
    need = project.add("need")
    task = project.hand_in({"file": "x\n"})
    needs(project, task, need)
    project.once(30)  # and it ends
    assert project.states()[task] == "review"
    assert f"needs {need}, not yet in the queue" in project.why(task)
    project.submit(need, project.branch(f"convoy/project/{need}", {"other": "x\n"}))
    project.once()
    assert [e["data"]["task"] for e in project.events("task.landed")] == [need, task]


def test_strange_things_are_handed_in(tmp_path: Path) -> None:
    project = make_refinery_repo(tmp_path / "project", "true\n", "slots = 1\nreturns = 1\n")
    good = project.hand_in({"file": "x\n"})
    missing, foreign, empty, many, names, clash = (project.add(f"strange {n}") for n in range(6))
    project.submit(missing, "0123456789" * 4)
    tree = project.plumb("rev-parse", "main^{tree}")
    project.submit(foreign, project.plumb("commit-tree", tree, "-m", "from nowhere"))
    project.submit(empty, project.git("rev-parse", "main"))
    project.submit(many, strange_commit(project, [f"many/{n}".encode() for n in range(3000)], b"x"))
    weird = [b"new\nline", b"latin-\xe9", b"-dash", b"quote\"'", b"tab\there"]
    project.submit(names, strange_commit(project, weird, b"one"))
    project.submit(clash, strange_commit(project, weird, b"another"))
    project.once()
    states = project.states()
    assert {states[task] for task in (good, empty, many)} == {"done"}
    assert {states[task] for task in (missing, foreign)} == {"failed"}
    assert "does not exist" in project.task(missing)["reason"]
    assert "nothing in common with the trunk" in project.task(foreign)["reason"]
    assert sorted((states[names], states[clash])) == ["done", "failed"]
    found = subprocess.run(
        ["git", "ls-tree", "-r", "-z", "--name-only", TRUNK],
        cwd=project.path,
        env=project.env,
        capture_output=True,
        check=True,
    ).stdout.split(b"\0")
    assert {*weird, b"many/2999", b"file"} <= set(found)
    (returned,) = [
        e["data"] for e in project.events("change.returned") if e["data"]["why"] == "conflict"
    ]
    assert len(returned["paths"]) == len(weird)
    assert project.here("log", "verify").code == 0


def strange_commit(project: RefineryRepo, names: list[bytes], content: bytes) -> str:
    """Make a commit with files of any name."""
    index = {"GIT_INDEX_FILE": str(project.path / ".git" / "strange-index")}
    blob = project.plumb("hash-object", "-w", "--stdin", stdin=content.decode())
    project.plumb("read-tree", "main", env=index)
    lines = b"".join(b"100644 %s\t%s\0" % (blob.encode(), name) for name in names)
    subprocess.run(
        ["git", "update-index", "-z", "--index-info"],
        cwd=project.path,
        env=project.env | index,
        input=lines,
        check=True,
    )
    tree = project.plumb("write-tree", env=index)
    os.unlink(index["GIT_INDEX_FILE"])
    return project.plumb("commit-tree", tree, "-p", "main", "-m", "strange")
