"""Work lands while the user's checkout, in any state, stays the same to the byte."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.refinery.refinery_repo import TRUNK, RefineryRepo, make_refinery_repo
from tests.world.trees.tree_repo import git


def dirty(project: RefineryRepo) -> None:
    (project.path / "README.md").write_text("changed\n")
    (project.path / "staged").write_text("staged\n")
    project.git("add", "staged")
    (project.path / "staged").write_text("and changed again\n")
    (project.path / "untracked").write_text("untracked\n")


def detached(project: RefineryRepo) -> None:
    project.git("checkout", "--quiet", "--detach", "HEAD")


def in_a_rebase(project: RefineryRepo) -> None:
    project.git("checkout", "--quiet", "-b", "topic", "HEAD~1")
    (project.path / "check.sh").write_text("another\n")
    project.git("add", "--all")
    project.git("commit", "--quiet", "-m", "another")
    git(project.path, "rebase", "main", fine=(1,))
    assert (project.path / ".git" / "rebase-merge").is_dir()


def on_the_trunk(project: RefineryRepo) -> None:
    project.hand_in({"file-0": "x\n"})
    project.once()
    project.git("checkout", "--quiet", TRUNK)
    (project.path / "README.md").write_text("changed\n")


def on_the_base(project: RefineryRepo) -> None:
    assert project.git("symbolic-ref", "HEAD") == "refs/heads/main"


def everything(project: RefineryRepo) -> dict[bytes, object]:
    found = project.checkout()
    for folder in ("rebase-merge",):
        for path in (project.path / ".git" / folder).rglob("*"):
            found[bytes(path)] = path.read_bytes() if path.is_file() else None
    return found


@pytest.mark.parametrize("state", [dirty, detached, in_a_rebase, on_the_trunk, on_the_base])
def test_the_checkout_is_the_same_to_the_byte(
    tmp_path: Path, state: Callable[[RefineryRepo], None]
) -> None:
    finish = "merge" if state in (dirty, in_a_rebase) else "leave"
    project = make_refinery_repo(
        tmp_path / "project", "true\n", f'slots = 1\nfinish = "{finish}"\n'
    )
    state(project)
    before = everything(project)
    main = project.git("rev-parse", "main")
    tasks = [project.hand_in({f"file-{n}": "x\n"}) for n in (1, 2)]
    assert everything(project) == before
    project.once()
    assert everything(project) == before
    assert {project.states()[task] for task in tasks} == {"done"}
    assert "file-2" in project.git("ls-tree", "--name-only", TRUNK).split()
    if state is on_the_trunk:
        said = project.alerts()["trunk_checked_out"]
        assert str(project.path) in said
        assert "switch to another branch there" in said
    if state is dirty:
        (finished,) = project.events("convoy.finished")
        assert finished["data"]["how"] == "left"
        assert "git merge --ff-only" in finished["data"]["note"]
        assert project.git("rev-parse", "main") == main


@pytest.mark.parametrize(
    ("ignored", "landed"),
    [
        ({".env": "my key\n"}, {".env": "theirs\n"}),
        ({"build/mine": "my only copy\n"}, {"build": "a file\n"}),
        ({"notes": "my notes\n"}, {"notes/a": "in a folder\n"}),
        ({"deep/a/.env": "my key\n"}, {"deep/a/.env": "theirs\n"}),
    ],
)
def test_finishing_overwrites_no_ignored_file(
    tmp_path: Path, ignored: dict[str, str], landed: dict[str, str]
) -> None:
    project = make_refinery_repo(
        tmp_path / "project", "true\n", 'slots = 1\nfinish = "fast-forward"\n'
    )
    exclude = project.path / ".git" / "info" / "exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.write_text(".env\nbuild\nnotes\n")
    for name, content in ignored.items():
        path = project.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    before, main = everything(project), project.git("rev-parse", "main")
    project.hand_in(landed)
    project.once()
    (finished,) = project.events("convoy.finished")
    assert finished["data"]["how"] == "left"
    assert (
        "would be overwritten" in finished["data"]["note"]
        or "would lose" in finished["data"]["note"]
    )
    assert everything(project) == before
    assert project.git("rev-parse", "main") == main


def test_ignored_files_that_are_not_in_the_way_hinder_nothing(tmp_path: Path) -> None:
    project = make_refinery_repo(
        tmp_path / "project", "true\n", 'slots = 1\nfinish = "fast-forward"\n'
    )
    (project.path / ".git" / "info").mkdir(exist_ok=True)
    (project.path / ".git" / "info" / "exclude").write_text("*.log\n")
    (project.path / "a.log").write_text("mine\n")
    project.hand_in({"file-1": "x\n"})
    project.once()
    assert (project.path / "file-1").read_text() == "x\n"
    assert (project.path / "a.log").read_text() == "mine\n"
