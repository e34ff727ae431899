"""Honest agents that use git as people do: all land, and the user's repository is as before."""

import subprocess
from pathlib import Path

import pytest

from tests.e2e.witness.test_apart import users_own
from tests.e2e.witness.witness_repo import WitnessRepo, make_witness_repo
from tests.patience import PATIENCE_S, until
from tests.world.trees.tree_repo import repository

ALLOW = "protocol.file.allow=always"  # the submodule's remote is a folder
CONFIG = """\
[slots]
total = 8
reserve = 0
[watch]
beat_s = 600
attempts = 1
[refinery]
checks = ["sh check.sh"]
slots = 1
"""
# Every piece of work has a file of its own, and none may bring a report or another one's draft.
CHECK = """\
set -e
test ! -e progress.md && test ! -e results.json
for file in work-*.txt; do test "$(cat "$file")" = "${file%.txt}"; done
"""
WRITE = "echo work-$CORRAL_TASK > work-$CORRAL_TASK.txt"
COMMIT = 'git add -A && git commit -qm "Work on $CORRAL_TASK"'
HOOKS = '"$(git rev-parse --git-path hooks)"'
POINTER = "version https://git-lfs.github.com/spec/v1\\noid sha256:%s\\nsize 6\\n"
HABITS = {
    "stashes": f"{WRITE} && git stash -q -u && git stash pop -q && {COMMIT}"
    " && echo idea > idea.txt && git stash -q -u",
    "tags": f"{WRITE} && {COMMIT} && git tag wip && git tag -a -m done v1-$CORRAL_TASK",
    "names itself": "git config user.name Robot && git config user.email robot@example.org"
    f" && git config pull.rebase true && {WRITE} && {COMMIT}",
    "uses a worktree": "git worktree add -q -b side ../side-$CORRAL_TASK && cd ../side-$CORRAL_TASK"
    f' && {WRITE} && {COMMIT} && cd "$OLDPWD" && git merge -q side'
    " && git worktree remove ../side-$CORRAL_TASK && git branch -q -d side",
    "uses a submodule": f"git -c {ALLOW} submodule update -q --init && sh inner/run.sh"
    f" && {WRITE} && {COMMIT}",
    "adds a large file": f"{WRITE} && printf 'large\\n' > big && id=$(sha256sum big | cut -c1-64)"
    ' && d="$(git rev-parse --git-dir)/lfs/objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-4)"'
    f' && mkdir -p "$d" && mv big "$d/$id" && printf "{POINTER}" $id > big-$CORRAL_TASK.bin'
    f" && {COMMIT}",
    "has hooks": f"mkdir -p {HOOKS} && printf '#!/bin/sh\\necho checked >> .git-hook-ran\\n'"
    f" > {HOOKS}/post-commit && chmod +x {HOOKS}/post-commit && {WRITE} && {COMMIT}"
    " && rm .git-hook-ran",
    "collects garbage": f"{WRITE} && {COMMIT} && git gc -q && git commit -q --amend --no-edit",
    "reports": f"echo '1 - started' >> progress.md && {WRITE} && {COMMIT}"
    " && echo '2 - done [outputs: 1]' >> progress.md",
    "rebases": f"{WRITE} && {COMMIT} && git checkout -q -b draft HEAD~1"
    " && echo d > draft-$CORRAL_TASK.md && git add -A && git commit -qm draft"
    " && git checkout -q - && git rebase -q draft && git branch -q -D draft",
}


def make_project(path: Path) -> WitnessRepo:
    """Make a project with a submodule, large files, a hook, a tag, and a stash of the user's."""
    project = make_witness_repo(path, CONFIG)
    remote = repository(path.parent / "remote")
    project.git("-c", ALLOW, "submodule", "--quiet", "add", str(remote), "inner")
    (path / "check.sh").write_text(CHECK)
    (path / ".gitattributes").write_text("*.bin filter=lfs diff=lfs merge=lfs -text\n")
    (path / "work-0.txt").write_text("work-0\n")
    project.git("add", "--all")
    project.git("commit", "-qm", "a project")
    project.git("tag", "v0")
    hook = path / ".git" / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 1\n")
    (path / "work-0.txt").write_text("an idea of the user\n")
    project.git("stash", "--quiet")
    (path / "untracked.txt").write_text("of the user\n")
    return project


def as_the_user_has_it(project: WitnessRepo) -> dict[str, object]:
    """Return what is the user's; the trees of checks are worktrees, and stay for the next check."""
    found = users_own(project)
    checks = f"{project.trees().place}/check-"
    lines = str(found["worktrees"]).splitlines()
    paths = [line.split()[0] for line in lines if not line.startswith(checks)]
    return found | {"worktrees": paths}


@pytest.mark.parametrize("times", [1, pytest.param(10, marks=pytest.mark.long)])
def test_all_land_and_the_repository_is_as_before(tmp_path: Path, times: int) -> None:
    project = make_project(tmp_path / "project")
    before, checkout = as_the_user_has_it(project), project.checkout()
    tasks = [
        (habit, project.script(script, "--accept", "sh check.sh", title=habit))
        for habit, script in HABITS.items()
        for _ in range(times)
    ]
    refinery = project.started("refinery", "run", stdout=subprocess.DEVNULL)
    try:
        with project.witness():
            until(
                lambda: _are_over(project, tasks),
                lambda: project.here("status").out,
                patience_s=times * PATIENCE_S,
            )
    finally:
        refinery.terminate()
        assert refinery.wait() == 0
    ended = {task: (habit, project.task(task)["state"]) for habit, task in tasks}
    assert ended == {task: (habit, "done") for habit, task in tasks}, project.here("log").out
    assert project.alerts() == {}
    landed = project.git("ls-tree", "--name-only", "convoy/project/trunk").split()
    assert {f"work-{task}.txt" for _, task in tasks} < set(landed)
    assert not {"progress.md", "idea.txt", ".git-hook-ran"} & set(landed)
    for task in (task for habit, task in tasks if habit == "stashes"):
        assert project.kept(f"{task}.1"), "its stash is kept"
    assert project.trees().list() == []
    assert project.leftovers() == []
    assert as_the_user_has_it(project) == before
    assert project.checkout() == checkout
    project.git("fsck", "--strict")
    project.git("gc", "--quiet")
    project.git("stash", "pop", "--quiet")


def _are_over(project: WitnessRepo, tasks: list[tuple[str, str]]) -> bool:
    states = {task["id"]: task["state"] for task in project.here("task", "list", "--json").data}
    return {states[task] for _, task in tasks} <= {"done", "failed"}
