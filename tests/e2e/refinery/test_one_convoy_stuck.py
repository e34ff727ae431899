"""One convoy that cannot go on holds up no other, and a person is told why."""

import os
import shutil
from pathlib import Path

import pytest

from tests.e2e.refinery.refinery_repo import RefineryRepo, make_refinery_repo

SLOW = 'echo $$ > "{place}/began"; while [ ! -e "{place}/open" ]; do sleep 0.05; done'


def make(path: Path, finish: str) -> RefineryRepo:
    """Make a project with the convoy `project` on main and `other` on a branch of its own."""
    project = make_refinery_repo(path, "true\n", f'slots = 1\nfinish = "{finish}"\n')
    project.git("branch", "other-base")
    project.here("convoy", "create", "Other", "--base", "other-base", code=0)
    return project


def hand_in(project: RefineryRepo, convoy: str) -> str:
    task = project.add("work", "--convoy", convoy)
    project.submit(task, project.branch(f"convoy/{convoy}/{task}", {f"file-{task}": "x\n"}))
    return task


def with_gh(project: RefineryRepo, script: str) -> None:
    """Give the project a remote, and a `gh` that is this script."""
    place = project.path.parent
    project.plumb("init", "--quiet", "--bare", str(place / "remote"))
    project.git("remote", "add", "origin", str(place / "remote"))
    gh = place / "bin" / "gh"
    gh.parent.mkdir()
    gh.write_text(f"#!/bin/sh\n{SLOW.format(place=place)}\n{script}\n")
    gh.chmod(0o755)
    project.env["PATH"] = f"{gh.parent}{os.pathsep}{project.env['PATH']}"


def finished(project: RefineryRepo) -> dict[str, tuple[str, str]]:
    found = (event["data"] for event in project.events("convoy.finished"))
    return {one["convoy"]: (one["how"], one.get("note", "")) for one in found}


def test_the_folder_in_which_the_base_is_checked_out_is_gone(tmp_path: Path) -> None:
    project = make(tmp_path / "project", "merge")
    project.git("checkout", "--quiet", "-b", "mine")
    project.git("worktree", "add", "--quiet", str(tmp_path / "gone"), "main")
    shutil.rmtree(tmp_path / "gone")
    tasks = [hand_in(project, convoy) for convoy in ("project", "other")]
    main = project.git("rev-parse", "main")
    project.once()
    assert {project.states()[task] for task in tasks} == {"done"}
    how, note = finished(project)["project"]
    assert how == "left"
    assert f"{tmp_path / 'gone'}, which does not exist" in note
    assert "git worktree prune" in note
    assert finished(project)["other"][0] == "fast_forwarded"
    assert project.git("rev-parse", "main") == main
    project.git("worktree", "prune")
    project.here("finish", "project", "--how", "merge", code=0)
    assert f"file-{tasks[0]}" in project.git("ls-tree", "--name-only", "main").split()


@pytest.mark.parametrize(
    ("end", "how", "word"),
    [
        ("exit 0", "asked", "to main"),
        ("echo no such host >&2; exit 1", "left", "no such host: git push -u origin"),
        ('echo "a pull request already exists: there" >&2; exit 1', "asked", "to main"),
    ],
)
def test_a_slow_gh(tmp_path: Path, end: str, how: str, word: str) -> None:
    project = make(tmp_path / "project", "pull-request")
    with_gh(project, end)
    hand_in(project, "project")
    with project.refinery():
        project.until((tmp_path / "began").exists)
        other = hand_in(project, "other")
        project.until(lambda: project.states()[other] == "done")
        assert "project" not in finished(project)
        (tmp_path / "open").touch()
        project.until(lambda: len(finished(project)) == 2)
    assert finished(project)["project"][0] == how
    assert word in finished(project)["project"][1]
    listed = project.git("ls-remote", "origin", "refs/heads/convoy/project/trunk").split()
    assert listed[:1] == [project.git("rev-parse", "convoy/project/trunk")]


def test_a_slow_gh_ends_with_the_refinery(tmp_path: Path) -> None:
    project = make(tmp_path / "project", "pull-request")
    with_gh(project, "")
    hand_in(project, "project")
    with project.refinery() as process:
        project.until((tmp_path / "began").exists)
        process.terminate()
        process.wait()
    project.until(lambda: not Path(f"/proc/{(tmp_path / 'began').read_text().strip()}").exists())
    assert finished(project) == {}


def test_a_stale_lock_of_packed_refs(tmp_path: Path) -> None:
    project = make(tmp_path / "project", "leave")
    lock = project.path / ".git" / "packed-refs.lock"
    lock.touch()
    tasks = [hand_in(project, convoy) for convoy in ("project", "other")]
    project.once()
    assert {project.states()[task] for task in tasks} == {"done"}
    said = project.alerts()["refinery"]
    assert f"{lock}" in said
    assert "rm" in said
    lock.unlink()
    project.once()
    assert "refinery" not in project.alerts()
    assert not project.git("for-each-ref", "refs/corral/spec")
