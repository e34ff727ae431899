"""Sessions share objects with the repository, and neither refs nor settings with anyone."""

from pathlib import Path

import pytest

from tests.e2e.corral_command import Board
from tests.e2e.witness.witness_repo import QUIET, WORK, WitnessRepo
from tests.world.trees.tree_repo import everything

COMMIT = "git add -A && git commit -qm work"
WAIT = 'until [ -e "{0}" ]; do sleep 0.05; done'


def users_own(project: Board) -> dict[str, object]:
    """Return what is the user's in the repository: refs, settings, hooks, stash and locks."""
    refs = project.git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()
    git_dir = project.path / ".git"
    return {
        "refs": [ref for ref in refs if not ref.startswith(("refs/corral/", "refs/heads/convoy/"))],
        "config": (git_dir / "config").read_text(),
        "hooks": everything(git_dir / "hooks"),
        "info": everything(git_dir / "info"),
        "stash": project.git("stash", "list"),
        "locks": sorted(path.name for path in git_dir.rglob("*.lock") if "corral" not in str(path)),
        "worktrees": project.git("worktree", "list"),
    }


def test_two_agents_that_stash_get_their_own_work_back(project: WitnessRepo) -> None:
    meeting = project.path.parent / "meeting"
    meeting.mkdir()
    before = users_own(project)

    def stasher(me: str, other: str) -> str:
        """Stash while the other one has stashed, and pop in the same order: the stacks cross."""
        there = WAIT.format(meeting / other)
        return (
            f"echo {me} > {me}.txt && git add -A && git stash -q && touch '{meeting / me}'"
            f" && {there} && git stash pop -q && {COMMIT}"
        )

    first = project.script(stasher("first", "second"))
    second = project.script(stasher("second", "first"))
    project.once()
    for task, name in ((first, "first"), (second, "second")):
        assert project.verdict(task) == "proved", project.detail(task)
        commit = project.task(task)["commit"]
        assert project.git("diff", "--name-only", "main", commit) == f"{name}.txt"
    assert users_own(project) == before


RUINOUS = {
    "bare": "git config core.bare true",
    "hooks": "git config core.hooksPath /nowhere",
    "signing": "git config commit.gpgsign true && git config user.signingkey nobody",
    "identity": "git config user.name Mallory && git config user.email m@example.org",
    "tags": "git tag v9 && git branch -f main HEAD~0 && git update-ref refs/heads/other HEAD",
    "worktrees": "git worktree add -q ../beside-$CORRAL_TASK && git worktree prune",
    "collects": "git gc -q --prune=now && git reflog expire --expire=now --all && git prune",
    "locks": 'd=$(git rev-parse --git-common-dir) && touch "$d/packed-refs.lock" "$d/config.lock"',
    "a hook": 'ln -s /bin/false "$(git rev-parse --git-path hooks)/pre-push"',
    "a note": "git notes add -m note HEAD && git replace --graft HEAD",
}


def test_what_an_agent_does_to_its_repository_is_nobody_elses(project: WitnessRepo) -> None:
    lost = project.git("commit-tree", "-m", "only the user knows it", "HEAD^{tree}")
    before, checkout = users_own(project), project.checkout()
    tasks = [project.script(f"{WORK} && {what}") for what in RUINOUS.values()]
    project.once()
    honest = project.script(WORK)
    project.once()
    for task, name in zip(tasks, RUINOUS, strict=True):
        assert project.verdict(task) == "proved", (name, project.detail(task))
    assert project.verdict(honest) == "proved"
    assert users_own(project) == before
    assert project.checkout() == checkout
    assert project.git("cat-file", "-t", lost) == "commit"
    project.git("gc", "--quiet")
    project.git("fsck", "--strict")


@pytest.mark.parametrize("kind", ["clone", "worktree"])
def test_an_agent_finds_what_it_would_find_in_a_worktree(project: WitnessRepo, kind: str) -> None:
    project.configure(f'{QUIET}[trees]\nkind = "{kind}"\n')
    project.git("tag", "-a", "v1", "-m", "first")
    project.git("pack-refs", "--all")
    project.git("tag", "v2")
    project.git("branch", "feature")
    project.git("config", "demo.answer", "42")
    project.git("update-ref", "refs/remotes/origin/main", "main")
    project.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    hook = project.path / ".git" / "hooks" / "commit-msg"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text('#!/bin/sh\necho "hooked" >> "$1"\n')
    hook.chmod(0o755)
    (project.path / ".git" / "info" / "exclude").write_text("*.scratch\n")
    task = project.script(
        "git describe --tags --exact-match v1 && git rev-parse v2 feature main origin/main origin"
        " && git diff --quiet main && git log -1 --format=%s convoy/project/trunk"
        " && test $(git config demo.answer) = 42 && echo x > my.scratch && echo x > work.txt"
        f" && {COMMIT} && git log -1 --format=%B | grep hooked && ! git ls-files | grep scratch"
    )
    project.once()
    said = (project.run_of(f"{task}.1") / "output").read_text()
    assert project.verdict(task) == "proved", project.detail(task) + said


@pytest.mark.parametrize("kind", ["clone", "worktree"])
def test_corral_works_inside_a_session_without_a_server(project: WitnessRepo, kind: str) -> None:
    project.configure(f'{QUIET}[trees]\nkind = "{kind}"\n')
    task = project.script(f"cd .corral 2>/dev/null; corral task show $CORRAL_TASK && {WORK}")
    project.once()
    said = (project.run_of(f"{task}.1") / "output").read_text()
    assert project.verdict(task) == "proved", project.detail(task) + said
    assert task in said


def test_commits_survive_a_session_that_deletes_its_git(project: WitnessRepo) -> None:
    task = project.script(f"{WORK} && rm -rf .git && exit 3")
    project.once()
    assert project.verdict(task) == "crashed"
    branch = f"convoy/project/{task}"
    assert project.git("show", f"{branch}:work-{task}.txt") == f"{task}.1"


def test_the_next_attempt_goes_on_with_the_commits_of_the_last(project: WitnessRepo) -> None:
    project.configure(QUIET.replace("attempts = 1", "attempts = 2"))
    task = project.script(f"{WORK} && [ $CORRAL_SESSION = $CORRAL_TASK.2 ]")
    project.once()
    assert project.verdict(task) == "proved", project.detail(task)
    commit = project.task(task)["commit"]
    assert project.git("show", f"{commit}:work-{task}.txt") == f"{task}.1\n{task}.2"


def test_files_of_the_pool_serve_both_kinds(project: WitnessRepo) -> None:
    for kind in ("worktree", "clone", "worktree", "clone"):
        project.configure(f'{QUIET}[trees]\nkind = "{kind}"\npool = 1\n')
        task = project.script(f"git status --porcelain >&2; {WORK}")
        project.once()
        assert project.verdict(task) == "proved", project.detail(task)
    assert [path.name for path in Path(project.trees().place).iterdir()] == ["tree-1"]
    assert project.git("worktree", "list").count("\n") == 0
    project.git("fsck", "--strict")


@pytest.mark.parametrize("kind", ["clone", "worktree"])
def test_a_commit_starts_no_collection_that_would_be_killed(
    project: WitnessRepo, kind: str
) -> None:
    project.configure(f'{QUIET}[trees]\nkind = "{kind}"\n')
    project.git("config", "gc.auto", "1")
    project.git("config", "maintenance.auto", "true")
    loose = "for n in 1 2 3 4; do echo $n > $n.txt; git add -A; git commit -qm $n; done"
    task = project.script(f"mkdir d && cd d && {loose} && git config --get gc.auto")
    project.once()
    assert project.verdict(task) == "proved", project.detail(task)
    assert (project.run_of(f"{task}.1") / "output").read_text() == "0\n"
    assert [event["data"].get("killed", 0) for event in project.of_type("session.ended")] == [0]
    assert not list((project.path / ".git" / "objects").glob("pack/*"))
    assert not list((project.path / ".git").glob("gc.*"))


@pytest.mark.parametrize("add", ["git add -A", "git add -A -f"])
@pytest.mark.parametrize("kind", ["clone", "worktree"])
def test_reports_are_never_part_of_the_work(project: WitnessRepo, kind: str, add: str) -> None:
    project.configure(f'{QUIET}[trees]\nkind = "{kind}"\n')
    script = (
        'echo "1 - I am $CORRAL_TASK" >> progress.md && mkdir -p src'
        f" && echo $CORRAL_TASK > src/$CORRAL_TASK.txt && {add} && git commit -qm work"
        " && echo '{}' > results.json"
    )
    tasks = [project.script(script), project.script(script, "--path", "src/**")]
    project.once()
    for task in tasks:
        assert project.verdict(task) == "proved", project.detail(task)
        commit = project.task(task)["commit"]
        assert project.git("diff", "--name-only", "main", commit) == f"src/{task}.txt"
        assert project.has_file_kept(f"{task}.1", "results.json", "{}")


def test_a_file_that_the_project_has_is_the_projects(project: WitnessRepo) -> None:
    (project.path / "results.json").write_text("[1]")
    project.git("add", "results.json")
    project.git("commit", "-qm", "our results")
    task = project.script("echo [2] > results.json && git commit -qam better")
    project.once()
    assert project.verdict(task) == "proved", project.detail(task)
    assert project.git("show", f"{project.task(task)['commit']}:results.json") == "[2]"


def test_large_files_of_a_session_are_not_lost_with_its_tree(project: WitnessRepo) -> None:
    task = project.script(
        "echo large > big.bin && id=$(sha256sum big.bin | cut -c1-64)"
        ' && d="$(git rev-parse --git-dir)/lfs/objects/$(echo $id | cut -c1-2)"'
        ' && mkdir -p "$d/xx" && cp big.bin "$d/xx/$id" && echo lie > "$d/xx/$(printf %064d 0)"'
        " && printf 'oid sha256:%s\\n' $id > big.bin"
        f" && {COMMIT}"
    )
    project.once()
    assert project.verdict(task) == "proved", project.detail(task)
    pointer = project.git("show", f"{project.task(task)['commit']}:big.bin")
    name = pointer.removeprefix("oid sha256:")
    store = project.path / ".git" / "lfs" / "objects"
    assert (store / name[:2] / name[2:4] / name).read_text() == "large\n"
    assert [path.name for path in store.rglob("*") if path.is_file()] == [name]
