"""A person reverts landed work on the trunk: it is noticed, and the work can land again."""

from pathlib import Path

import pytest

from tests.e2e.refinery.refinery_repo import TRUNK, RefineryRepo, make_refinery_repo
from tests.world.trees.tree_repo import git


def make(folder: Path, strategy: str) -> RefineryRepo:
    settings = f'slots = 1\nmode = "serial"\nstrategy = "{strategy}"\n'
    return make_refinery_repo(folder / "project", "true\n", settings)


def revert(project: RefineryRepo, *what: str) -> str:
    """Revert commits on the trunk as a person does, in a working tree of their own."""
    place = project.path.parent / "person"
    if not place.exists():
        project.git("worktree", "add", "--quiet", str(place), TRUNK)
    git(place, "reset", "--quiet", "--hard")
    git(place, "revert", "--no-edit", *what)
    return git(place, "rev-parse", "HEAD").strip()


def undo(project: RefineryRepo, strategy: str) -> str:
    return revert(project, *(["-m", "1"] if strategy == "merge" else []), TRUNK)


def names(project: RefineryRepo) -> set[str]:
    return set(project.git("ls-tree", "--name-only", TRUNK).split())


@pytest.mark.parametrize("strategy", ["squash", "rebase", "merge"])
def test_a_revert_is_noticed_and_the_same_commit_lands_again(tmp_path: Path, strategy: str) -> None:
    project = make(tmp_path, strategy)
    task = project.hand_in({"file-1": "x\n"})
    other = project.hand_in({"file-2": "x\n"})
    project.once()
    commit = project.git("rev-parse", f"convoy/project/{task}")
    landed = project.task(task)["commit"]
    by = revert(project, *(["-m", "1"] if strategy == "merge" else []), landed)
    project.once()
    assert names(project) & {"file-1", "file-2"} == {"file-2"}
    said = project.alerts()["reverted"]
    assert f"the work of {task} was reverted on the trunk by {by[:12]} (Revert " in said
    assert said.endswith(f"corral task retry {task}")
    assert by[:12] in project.here("task", "show", task).out
    assert by[:12] in project.here("why", task).out
    assert f"corral task retry {task}" in project.here("why", task).out
    assert project.why(other) == f"{other} has landed"
    project.here("task", "retry", task, code=0)
    assert project.alerts() == {}
    assert by[:12] in project.task(task)["reason"]
    project.submit(task, commit)
    project.once()
    assert project.states()[task] == "done"
    assert {"file-1", "file-2"} <= names(project)
    assert project.task(task)["commit"] != landed


def test_a_fix_on_top_of_merged_and_reverted_work_lands_with_that_work(tmp_path: Path) -> None:
    project = make(tmp_path, "merge")
    task = project.hand_in({"file-1": "x\n"})
    project.once()
    undo(project, "merge")
    fix = project.branch("fix", {"file-2": "x\n"}, f"convoy/project/{task}")
    project.once()
    project.here("task", "retry", task, code=0)
    project.submit(task, fix)
    project.once()
    assert {"file-1", "file-2"} <= names(project)
    assert project.states()[task] == "done"


def test_work_that_began_on_work_that_was_reverted_lands_without_it(tmp_path: Path) -> None:
    project = make(tmp_path, "merge")
    project.hand_in({"file-1": "x\n"})
    project.once()
    start = project.git("rev-parse", TRUNK)
    undo(project, "merge")
    project.hand_in({"file-2": "x\n"}, base=start)
    project.once()
    assert names(project) & {"file-1", "file-2"} == {"file-2"}


@pytest.mark.parametrize("strategy", ["rebase", "merge"])
def test_one_commit_of_several_is_reverted(tmp_path: Path, strategy: str) -> None:
    project = make(tmp_path, strategy)
    first = project.branch("first", {"file-1": "x\n"})
    task = project.hand_in({"file-2": "x\n"}, base="first")
    project.once()
    by = revert(project, first if strategy == "merge" else f"{TRUNK}~1")
    project.once()
    assert (
        f"the work of {task} was reverted on the trunk by {by[:12]}" in project.alerts()["reverted"]
    )


def test_a_revert_of_something_else_or_of_a_revert_is_no_news(tmp_path: Path) -> None:
    project = make(tmp_path, "squash")
    task = project.hand_in({"file-1": "x\n"})
    project.once()
    revert(project, "main")
    project.once()
    assert project.alerts() == {}
    revert(project, "HEAD")
    undo_of = revert(project, project.task(task)["commit"])
    project.once()
    assert undo_of[:12] in project.alerts()["reverted"]
    revert(project, "HEAD")
    project.once()
    assert project.alerts() == {}
    assert "file-1" in names(project)
