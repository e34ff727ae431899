"""Every false claim gets its own verdict, harms nobody, and loses nothing.

All of them run side by side, with honest neighbours, under one witness.
"""

import subprocess
from pathlib import Path

import pytest

from tests.e2e.witness.witness_repo import QUIET, WORK, WitnessRepo, make_witness_repo

COMMIT = "git add -A && git commit -qm work"
TRUNK = "convoy/project/trunk"
HONEST = 3  # neighbours before and after

# Until it is recorded that the session has ended.
OVER = (
    "until test -e $CORRAL_RUN/corral/sessions/$CORRAL_SESSION/run-1/exit.json; do sleep 0.05; done"
)
# name: (script, options, verdict, a word of the detail, files that must not be lost)
LIARS: dict[str, tuple[str, tuple[str, ...], str, str, dict[str, str]]] = {
    "does nothing": ("echo all done", (), "no_change", "", {}),
    "empty commit": ("git commit -q --allow-empty -m done", (), "no_change", "", {}),
    "other branch": (
        f"git checkout -q -b mine && echo a > a.txt && {COMMIT}",
        (),
        "off_branch",
        "mine",
        {},
    ),
    "detached": (
        f"git checkout -q --detach && echo a > d.txt && {COMMIT}",
        (),
        "off_branch",
        "",
        {},
    ),
    "back to base": (
        f"{WORK} && git checkout -q --detach HEAD~1",
        (),
        "off_branch",
        "detached",
        {},
    ),
    "dirty": (
        f"{WORK} && echo draft > draft.txt",
        (),
        "dirty",
        "draft.txt",
        {"draft.txt": "draft"},
    ),
    "staged": (
        f"{WORK} && echo s > staged.txt && git add staged.txt",
        (),
        "dirty",
        "staged.txt",
        {"staged.txt": "s"},
    ),
    "a name that is not text": (
        f"{WORK} && echo draft > \"$(printf 'draft\\377')\"",
        (),
        "dirty",
        "draft?",
        {},
    ),
    "hidden change": (
        f"{WORK} && git update-index --assume-unchanged README.md && echo x > README.md",
        (),
        "dirty",
        "README.md",
        {"README.md": "x"},
    ),
    "hides its draft": (
        f"{WORK} && echo 'draft*' > .gitignore && echo draft > draft.txt",
        (),
        "dirty",
        ".gitignore",
        {"draft.txt": "draft"},
    ),
    "hides everything": (
        f"{WORK} && mkdir notes && echo draft > notes/draft.txt && echo '*' > .gitignore",
        (),
        "proved",
        "",
        {"notes/draft.txt": "draft", ".gitignore": "*"},
    ),
    "out of scope": (
        f"mkdir -p src && echo a > src/a.py && echo b > secrets.txt && {COMMIT}",
        ("--path", "src/**"),
        "out_of_scope",
        "secrets.txt",
        {},
    ),
    "breaks it after": (
        f"echo good > state.txt && {COMMIT} && grep -q good state.txt"
        f" && echo bad > state.txt && {COMMIT}",
        ("--accept", "grep -q good state.txt"),
        "checks_failed",
        "grep -q good",
        {},
    ),
    "breaks it in the dark": (
        f"echo good > state.txt && {COMMIT} && (setsid sh -c '{OVER}; echo bad > state.txt' &)",
        ("--accept", "grep -q good state.txt"),
        "proved",  # whatever it left running is gone before anything is judged
        "",
        {},
    ),
    "deletes its tree": (
        f'{WORK} && d=$PWD && cd / && rm -rf "$d"',
        (),
        "dirty",
        "gone",
        {},
    ),
    "replaces .git": (
        f"{WORK} && rm .git && git init -q . && echo n > n.txt && {COMMIT}",
        (),
        "off_branch",
        ".git",
        {"n.txt": "n"},
    ),
    "collects garbage": (
        # It fails while work is being kept; the work is then made and kept again.
        f"{WORK} && for n in 1 2 3 4 5 6 7 8; do git gc --quiet --prune=now && break; done",
        (),
        "proved",
        "",
        {},
    ),
    "moves the trunk": (
        f'{WORK} && git push -q -f "$CORRAL_RUN" HEAD:refs/heads/{TRUNK}',
        (),
        "off_branch",
        "trunk",
        {},
    ),
    "moves its own copy of the trunk": (
        f"{WORK} && git branch -f {TRUNK} HEAD",
        (),
        "proved",
        "",
        {},
    ),
    "deletes its branch": (
        f"{WORK} && git checkout -q --detach && git branch -q -D convoy/project/$CORRAL_TASK",
        (),
        "off_branch",
        "",
        {},
    ),
    "orphan history": (
        f"{WORK} && git update-ref refs/heads/convoy/project/$CORRAL_TASK"
        " $(git commit-tree -m root HEAD^{tree})",
        (),
        "off_branch",
        "does not follow",
        {},
    ),
    "exits badly": (f"{WORK}; echo last words; exit 3", (), "crashed", "exit code 3", {}),
}


@pytest.fixture(scope="module")
def after(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[WitnessRepo, dict[str, str], list[str]]:
    """Run them all; return the project, the task of each liar, and the honest tasks."""
    project = make_witness_repo(tmp_path_factory.mktemp("liars") / "project", QUIET)
    project.git("config", "gc.auto", "0")
    before = project.checkout()
    over = project.path.parent / "over"
    over.mkdir()

    def noted(script: str) -> str:
        return f'({script}); code=$?; touch "{over}/$CORRAL_TASK"; exit $code'

    # Git itself loses what somebody adds while another one prunes all that nothing names yet. So
    # that is done once the others have had their say, while they are judged and kept.
    others = len(LIARS) - 1 + 2 * HONEST
    wait = f'until [ "$(ls "{over}" | wc -l)" -ge {others} ]; do sleep 0.05; done'
    first = [project.script(noted(f"sleep 0.5; {WORK}"), title="honest") for _ in range(HONEST)]
    tasks = {
        name: project.script(
            f"{wait}; {script}" if name == "collects garbage" else noted(script),
            *options,
            title=name,
        )
        for name, (script, options, *_) in LIARS.items()
    }
    last = [project.script(noted(f"sleep 1; {WORK}"), title="honest") for _ in range(HONEST)]
    project.once()
    assert project.checkout() == before
    return project, tasks, [*first, *last]


@pytest.mark.parametrize("name", LIARS)
def test_each_liar_gets_its_own_verdict(
    after: tuple[WitnessRepo, dict[str, str], list[str]], name: str
) -> None:
    project, tasks, _ = after
    _, _, verdict, word, _ = LIARS[name]
    assert (project.verdict(tasks[name]), name) == (verdict, name), project.detail(tasks[name])
    assert word in project.detail(tasks[name])
    assert project.task(tasks[name])["state"] == ("review" if verdict == "proved" else "failed")


@pytest.mark.parametrize("name", [name for name, liar in LIARS.items() if liar[4]])
def test_what_a_liar_left_uncommitted_is_kept(
    after: tuple[WitnessRepo, dict[str, str], list[str]], name: str
) -> None:
    project, tasks, _ = after
    for path, content in LIARS[name][4].items():
        assert project.has_file_kept(f"{tasks[name]}.1", path, content), project.kept()


def test_what_a_liar_committed_anywhere_is_still_reachable(
    after: tuple[WitnessRepo, dict[str, str], list[str]],
) -> None:
    project, tasks, _ = after
    subjects = project.git("log", "--all", "--format=%an").split("\n")
    for name in ("other branch", "detached", "back to base", "deletes its tree", "orphan history"):
        assert f"corral {tasks[name]}.1" in subjects, name


def test_honest_neighbours_are_proved_and_nothing_of_theirs_is_lost(
    after: tuple[WitnessRepo, dict[str, str], list[str]],
) -> None:
    project, _, honest = after
    assert {project.verdict(task) for task in honest} == {"proved"}
    for task in honest:
        commit = project.task(task)["commit"]
        assert project.git("show", f"{commit}:work-{task}.txt") == f"{task}.1"


def test_the_trunk_is_back_where_the_log_says_and_somebody_is_told(
    after: tuple[WitnessRepo, dict[str, str], list[str]],
) -> None:
    project, tasks, _ = after
    base = project.session(f"{tasks['does nothing']}.1")["base"]
    assert project.git("rev-parse", TRUNK) == base
    assert project.alerts()["trunk_moved"] == f"{tasks['moves the trunk']}.1"


def test_nothing_is_left_running_or_lying_about(
    after: tuple[WitnessRepo, dict[str, str], list[str]],
) -> None:
    project, _, _ = after
    assert project.leftovers() == []
    assert project.trees().list() == [], project.here("alert", "list").out
    listed = subprocess.run(
        ["git", "fsck", "--connectivity-only"], cwd=project.path, capture_output=True, check=True
    )
    assert b"missing" not in listed.stdout
    assert Path(project.path).exists()
