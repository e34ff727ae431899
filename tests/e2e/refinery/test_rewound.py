"""A trunk always contains what is known to have landed, whoever rewinds it."""

from pathlib import Path

import pytest

from tests.e2e.refinery.refinery_repo import TRUNK, RefineryRepo, make_refinery_repo
from tests.e2e.witness.witness_repo import QUIET, WORK, WitnessRepo, make_witness_repo

REWIND = f"branch -f {TRUNK} {TRUNK}~1"


@pytest.fixture
def project(tmp_path: Path) -> RefineryRepo:
    """A convoy with two landings and a task that is still open."""
    made = make_refinery_repo(tmp_path / "project", "true\n", 'slots = 1\nmode = "serial"\n')
    for number in (1, 2):
        made.hand_in({f"file-{number}": "x\n"})
        made.once()
    return made


def names(project: RefineryRepo | WitnessRepo) -> set[str]:
    return set(project.git("ls-tree", "--name-only", TRUNK).split())


@pytest.mark.parametrize("idle", [True, False])
def test_a_person_rewinds_it_to_an_earlier_landing(project: RefineryRepo, *, idle: bool) -> None:
    earlier, newest = project.tips()
    project.git("update-ref", f"refs/heads/{TRUNK}", earlier)
    later = project.add("open") if idle else project.hand_in({"file-3": "x\n"})
    project.once()
    assert {"file-1", "file-2"} <= names(project)
    said = project.alerts()["trunk_moved"]
    assert f"somebody moved the trunk of project to {earlier[:12]}" in said
    assert f"reset to {newest[:12]}" in said
    assert project.states()[later] == ("todo" if idle else "done")
    assert not [e for e in project.events("trunk.moved") if e["data"]["new"] == earlier]


def test_every_rewind_is_told(project: RefineryRepo) -> None:
    earlier, newest = project.tips()
    project.add("open")
    for _ in range(2):
        project.git("update-ref", f"refs/heads/{TRUNK}", earlier)
        project.once()
        assert project.git("rev-parse", TRUNK) == newest
        (alert,) = project.here("alert", "list", "--json").data
        project.here("alert", "clear", alert["id"], code=0)


def test_what_a_person_adds_to_a_rewound_trunk_is_kept(project: RefineryRepo) -> None:
    earlier, newest = project.tips()
    mine = project.branch("mine", {"mine": "x\n"}, earlier)
    project.git("update-ref", f"refs/heads/{TRUNK}", mine)
    project.git("branch", "-D", "mine")
    project.add("open")
    project.once()
    assert project.git("rev-parse", TRUNK) == newest
    assert mine in project.git("rev-list", "--all").split()


def test_the_deleted_trunk_of_a_convoy_is_made_again_only_while_it_has_work(
    project: RefineryRepo,
) -> None:
    newest = project.tips()[-1]
    project.git("branch", "-D", TRUNK)
    project.once()
    assert TRUNK not in project.git("branch", "--list", TRUNK)
    project.add("open")
    project.once()
    assert project.git("rev-parse", TRUNK) == newest


@pytest.mark.parametrize("git", ["git", "GIT_COMMITTER_EMAIL=ann@example.org git"])
def test_a_session_rewinds_it(tmp_path: Path, git: str) -> None:
    project = make_witness_repo(tmp_path / "project", f'{QUIET}[refinery]\nchecks = ["true"]\n')
    for _ in range(2):
        project.script(WORK)
        project.once()
        project.corral("refinery", "run", "--once")
    newest = project.git("rev-parse", TRUNK)
    rewind = f'{git} --git-dir="$CORRAL_RUN" {REWIND}'
    task = project.script(f"{WORK} && {rewind}")
    project.once()
    assert project.git("rev-parse", TRUNK) == newest
    assert project.verdict(task) == "off_branch"
    assert project.alerts()["trunk_moved"] == f"{task}.1"


def test_two_sessions_rewind_it_one_after_the_other(tmp_path: Path) -> None:
    project = make_witness_repo(tmp_path / "project", f'{QUIET}[refinery]\nchecks = ["true"]\n')
    for _ in range(2):
        project.script(WORK)
        project.once()
        project.corral("refinery", "run", "--once")
    newest = project.git("rev-parse", TRUNK)
    rewind = f'git --git-dir="$CORRAL_RUN" {REWIND}'
    wait = "until [ -e '{0}' ]; do sleep 0.05; done"
    one, other = tmp_path / "one", tmp_path / "other"
    tasks = [
        project.script(f"{WORK} && {rewind} && touch '{one}' && {wait.format(other)}"),
        project.script(f"{WORK} && {wait.format(one)} && {rewind} && touch '{other}'"),
    ]
    project.once()
    assert project.git("rev-parse", TRUNK) == newest
    assert [project.verdict(task) for task in tasks] == ["off_branch", "off_branch"]
