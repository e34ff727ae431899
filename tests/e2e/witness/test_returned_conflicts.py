"""Work that came back with a conflict: its brief is true, and no conflict is left undecided."""

import shlex
from pathlib import Path

import pytest

from tests.e2e.witness.witness_repo import QUIET, WitnessRepo, make_witness_repo

TRUNK = "convoy/project/trunk"
COMMIT = "git add -A && git commit -qm work"
SETTINGS = f'{QUIET}[refinery]\nchecks = ["true"]\nslots = 1\n'
BINARY = r"printf '\000{}\n' > logo.png"


class ConflictRepo(WitnessRepo):
    """A project in which one task lands before another that conflicts with it."""

    def clash(self, landed: str, returned: str, again: str) -> str:
        """Have both scripts work at once, and the last one at the second attempt."""
        first = self.script(f"{landed} && {COMMIT}", "--priority", "9", title="First")
        brief = self.path.parent / "brief"
        second = self.script(
            f"if [ $CORRAL_SESSION = $CORRAL_TASK.1 ]; then {returned} && echo x > more && {COMMIT}"
            f"; else cat > {shlex.quote(str(brief))}; {again}; fi",
            title="Second",
        )
        self.once()
        self.corral("refinery", "run", "--once")
        assert self.task(first)["state"] == "done"
        assert self.task(second)["state"] == "todo"
        self.once()
        self.corral("refinery", "run", "--once")
        return second

    def brief(self) -> str:
        return (self.path.parent / "brief").read_text()

    def landed(self) -> set[str]:
        return set(self.git("ls-tree", "-r", "--name-only", TRUNK).split())


def make(path: Path, more: str = "") -> ConflictRepo:
    project = ConflictRepo(make_witness_repo(path, SETTINGS + more).path)
    (path / "logo.png").write_bytes(b"\0start\n")
    (path / "old.txt").write_text("1\n2\n3\n")
    (path / "notes").write_text("1\n")
    project.git("add", "--all")
    project.git("commit", "--quiet", "-m", "start")
    return project


DELETED = ("git rm -q old.txt", "echo 4 >> old.txt")
CHANGED = DELETED[::-1]
DRAWN = (BINARY.format("landed"), BINARY.format("mine"))


@pytest.mark.parametrize(
    ("sides", "left"),
    [
        (DELETED, "old.txt~yours"),
        (CHANGED, "old.txt~landed"),
        (DRAWN, "logo.png~landed, logo.png~yours"),
        pytest.param(("mkdir d && echo 1 > d/a", "echo 2 > d"), "d~yours", marks=pytest.mark.long),
    ],
)
def test_a_conflict_without_markers_that_nobody_decided_is_not_proved(
    tmp_path: Path, sides: tuple[str, str], left: str
) -> None:
    project = make(tmp_path / "project")
    task = project.clash(*sides, COMMIT)
    assert project.task(task)["state"] == "failed"
    assert project.verdict(task) == "dirty"
    assert f"the conflict is not decided in {left}" in project.detail(task)
    assert "more" not in project.landed()
    for name in left.split(", "):
        assert name in project.brief()


@pytest.mark.parametrize(
    ("sides", "decide", "there"),
    [
        (DELETED, "mv old.txt~yours old.txt", "1\n2\n3\n4"),
        pytest.param(DELETED, "rm old.txt~yours", None, marks=pytest.mark.long),
        pytest.param(CHANGED, "mv old.txt~landed old.txt", "1\n2\n3\n4", marks=pytest.mark.long),
        (CHANGED, "git rm -qf old.txt~landed", None),
    ],
)
def test_a_decision_for_either_side_lands(
    tmp_path: Path, sides: tuple[str, str], decide: str, there: str | None
) -> None:
    project = make(tmp_path / "project")
    task = project.clash(*sides, f"{decide} && {COMMIT}")
    assert project.task(task)["state"] == "done"
    assert "more" in project.landed()
    assert ("old.txt" in project.landed()) == (there is not None)
    if there is not None:
        assert project.git("show", f"{TRUNK}:old.txt") == there
    assert not [name for name in project.landed() if "~" in name]


@pytest.mark.parametrize("side", ["landed", pytest.param("yours", marks=pytest.mark.long)])
def test_a_binary_file_lands_as_it_was_decided(tmp_path: Path, side: str) -> None:
    project = make(tmp_path / "project")
    other = {"landed": "yours", "yours": "landed"}[side]
    decide = f"mv logo.png~{side} logo.png && rm logo.png~{other}"
    task = project.clash(*DRAWN, f"{decide} && {COMMIT}")
    assert project.task(task)["state"] == "done"
    drawn = {"landed": "landed", "yours": "mine"}[side]
    assert project.git("show", f"{TRUNK}:logo.png") == f"\0{drawn}"


@pytest.mark.parametrize("kind", ["clone", pytest.param("worktree", marks=pytest.mark.long)])
def test_a_fresh_tree_shows_no_conflict_and_the_brief_does_not_say_so(
    tmp_path: Path, kind: str
) -> None:
    project = make(tmp_path / "project", f'[trees]\nfresh = true\nkind = "{kind}"\n')
    task = project.clash("echo 2 > notes", "echo 3 > notes", "true")
    assert project.verdict(task) == "no_change"
    assert project.task(task)["state"] == "failed"
    assert "your work is in the files" not in project.brief()
    assert project.git("rev-parse", TRUNK) in project.brief()


@pytest.mark.parametrize("kind", ["clone", pytest.param("worktree", marks=pytest.mark.long)])
def test_there_the_work_can_be_brought_in_as_the_brief_says(tmp_path: Path, kind: str) -> None:
    project = make(tmp_path / "project", f'[trees]\nfresh = true\nkind = "{kind}"\n')
    how = "$(sed -n 's/^    \\(git merge .*\\)/\\1/p' \"{brief}\")"
    again = f"{how.format(brief=tmp_path / 'brief')}; echo 2 and 3 > notes && {COMMIT}"
    task = project.clash("echo 2 > notes", "echo 3 > notes", again)
    assert project.task(task)["state"] == "done", project.detail(task)
    assert project.git("show", f"{TRUNK}:notes") == "2 and 3"
    assert "more" in project.landed()


def test_a_session_that_does_nothing_about_a_conflict_is_not_proved(tmp_path: Path) -> None:
    project = make(tmp_path / "project")
    task = project.clash("echo 2 > notes", "echo 3 > notes", "git reset -q --hard")
    assert project.verdict(task) == "no_change"
    assert project.task(task)["state"] == "failed"
