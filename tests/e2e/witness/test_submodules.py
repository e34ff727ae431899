"""Sessions that use submodules: trees go back, nothing is lost, no link leads nowhere."""

from pathlib import Path

import pytest

from tests.e2e.witness.witness_repo import QUIET, WORK, WitnessRepo
from tests.world.trees.tree_repo import commit_file, git, repository

ALLOW = "protocol.file.allow=always"  # the submodule's remote is a folder
INITIALISE = f"git -c {ALLOW} submodule update -q --init"
COMMIT = "git commit -qm inner"
MOVE = "cd inner && echo more > more.txt && git add -A && git commit -qm more && cd .."


@pytest.fixture
def remote(project: WitnessRepo) -> Path:
    """The repository of a submodule of the project, with a second commit on another branch."""
    remote = repository(project.path.parent / "remote")
    project.git("-c", ALLOW, "submodule", "--quiet", "add", str(remote), "inner")
    project.git("commit", "-qm", "a submodule")
    project.git("submodule", "deinit", "--quiet", "--all")
    git(remote, "checkout", "--quiet", "-b", "next")
    commit_file(remote, "next.txt", "next")
    return remote


@pytest.mark.parametrize("kind", ["clone", "worktree"])
@pytest.mark.usefixtures("remote")
def test_a_session_that_initialises_a_submodule_gives_its_tree_back(
    project: WitnessRepo, kind: str
) -> None:
    project.configure(f'{QUIET}[trees]\nkind = "{kind}"\npool = 1\n')
    for _ in range(2):
        script = f"test ! -e inner/run.sh && {INITIALISE} && test -e inner/run.sh && {WORK}"
        task = project.script(script)
        project.once()
        assert project.verdict(task) == "proved", project.detail(task)
        assert project.trees().list() == [], project.here("alert", "list").out
    assert project.alerts() == {}
    assert project.kept() == []
    assert [path.name for path in Path(project.trees().place).glob("tree-*")] == ["tree-1"]


@pytest.mark.usefixtures("remote")
def test_what_a_session_left_in_a_submodule_is_kept(project: WitnessRepo) -> None:
    task = project.script(
        f"{INITIALISE} && {WORK} && {MOVE} && echo draft > inner/draft.txt && git init -q own"
        " && echo x > own/x.txt && git clone -q inner copy && echo '*' > copy/.gitignore"
    )
    project.once()
    session = f"{task}.1"
    assert project.verdict(task) == "dirty"
    assert project.trees().list() == [], project.here("alert", "list").out
    assert project.has_file_kept(session, "inner/draft.txt", "draft")
    assert project.has_file_kept(session, "inner/more.txt", "more")
    assert project.has_file_kept(session, "own/x.txt", "x")
    # The commits come back into a clone of the submodule.
    back = project.path.parent / "back"
    project.corral("rescue", "restore", session, "--to", str(back))
    clone = project.path.parent / "clone"
    git(back, "clone", "--quiet", str(project.path.parent / "remote"), str(clone))
    git(clone, "fetch", "--quiet", str(back / "inner/corral-commits.bundle"), "refs/kept/1")
    assert git(clone, "show", "FETCH_HEAD:more.txt") == "more"
    project.git("fsck", "--strict")


NOWHERE = {
    "committed in the submodule": f"{INITIALISE} && {MOVE} && git add inner && {COMMIT}",
    "made up": f"git update-index --cacheinfo 160000,{'1' * 40},inner && {COMMIT}",
    "its own repository": "git init -q own && cd own && git commit -q --allow-empty -m own"
    f" && cd .. && git add own && {COMMIT}",
}


@pytest.mark.parametrize("how", NOWHERE)
@pytest.mark.usefixtures("remote")
def test_a_link_to_a_commit_that_is_nowhere_is_not_proved(project: WitnessRepo, how: str) -> None:
    task = project.script(f"{WORK} && {NOWHERE[how]}")
    project.once()
    assert project.verdict(task) == "dirty", project.detail(task)
    assert "the submodule's new commit is on none of its remote branches" in project.detail(task)
    assert project.trees().list() == [], project.here("alert", "list").out


def test_a_submodule_may_move_to_a_commit_of_its_remote(project: WitnessRepo, remote: Path) -> None:
    task = project.script(
        f"{INITIALISE} && git -C inner checkout -q origin/next && git add inner && {COMMIT}"
    )
    project.once()
    assert project.verdict(task) == "proved", project.detail(task)
    commit = project.task(task)["commit"]
    assert git(remote, "rev-parse", "next") in project.git("ls-tree", commit, "inner")
