"""Branches and the trunk move, but only what was handed in and checked lands."""

from pathlib import Path
from typing import Any

import pytest

from corral.roles.refinery import landing
from corral.world.git.landing import land as land_by_git
from tests.e2e.refinery.refinery_repo import TRUNK, RefineryRepo, make_refinery_repo
from tests.world.trees.tree_repo import git

CHECK = """\
if [ -n "$CORRAL_CHECK" ]; then
  echo x >> {place}/began
  while [ ! -e {place}/open ]; do sleep 0.05; done
fi
! ls | grep -q '^bad-'
"""


class GatedRefineryRepo(RefineryRepo):
    """A project whose checks wait until they are let through."""

    @property
    def place(self) -> Path:
        return self.path.parent

    def began(self) -> int:
        try:
            return (self.place / "began").read_text().count("x")
        except FileNotFoundError:
            return 0

    def open(self) -> None:
        (self.place / "open").touch()

    def landed(self, *tasks: str) -> bool:
        states = self.states()
        return all(states[task] == "done" for task in tasks)


@pytest.fixture
def project(tmp_path: Path) -> GatedRefineryRepo:
    made = make_refinery_repo(
        tmp_path / "project", CHECK.format(place=tmp_path), "slots = 1\nreturns = 1\n"
    )
    return GatedRefineryRepo(made.path)


def test_what_was_handed_in_lands_whatever_happens_to_the_branch(
    project: GatedRefineryRepo,
) -> None:
    moved, deleted, forced = (project.hand_in({f"file-{n}": f"{n}\n"}) for n in range(3))
    handed_in = {
        t: project.git("rev-parse", f"convoy/project/{t}") for t in (moved, deleted, forced)
    }
    with project.refinery():
        project.until(project.began)
        later = project.branch(f"convoy/project/{moved}", {"bad-1": "x\n"}, handed_in[moved])
        project.git("branch", "-D", f"convoy/project/{deleted}")
        project.branch(f"convoy/project/{forced}", {"bad-2": "x\n"})
        git(project.path, "reflog", "expire", "--expire=now", "--all")
        git(project.path, "gc", "--quiet", "--prune=now")
        project.open()
        project.until(lambda: project.landed(moved, deleted, forced))
    project.once()
    names = project.git("ls-tree", "--name-only", TRUNK).split()
    assert {"file-0", "file-1", "file-2"} <= set(names)
    assert not any(name.startswith("bad-") for name in names)
    reachable = set(project.git("rev-list", "--all").split())
    assert {*handed_in.values(), later} <= reachable


def test_a_push_to_the_trunk_is_taken_in_and_all_is_checked_on_it(
    project: GatedRefineryRepo,
) -> None:
    task = project.hand_in({"file-1": "x\n"})
    with project.refinery():
        project.until(project.began)
        pushed = project.branch("pushed", {"pushed": "x\n"}, TRUNK)
        project.git("update-ref", f"refs/heads/{TRUNK}", pushed)
        project.open()
        project.until(lambda: project.landed(task))
    begun = project.events("landing.begun")
    assert [e["data"]["old"] for e in begun if e["data"]["old"] != pushed] == []
    assert project.git("rev-parse", f"{TRUNK}^") == pushed
    assert project.began() == 2  # the first one stood on what the trunk was before
    assert [e["data"]["new"] for e in project.events("trunk.moved")][-1] == pushed
    ended = {e["data"]["run"]: e["data"]["result"] for e in project.events("check.ended")}
    assert ended["R2"] == "green"
    assert begun[-1]["data"]["run"] == "R2"


def test_a_trunk_that_loses_what_landed_is_put_back(project: GatedRefineryRepo) -> None:
    first = project.hand_in({"file-1": "x\n"})
    project.open()
    project.once()
    (project.place / "open").unlink()
    tip = project.git("rev-parse", TRUNK)
    second = project.hand_in({"file-2": "x\n"})
    before = project.began()
    with project.refinery():
        project.until(lambda: project.began() > before)
        elsewhere = project.branch("elsewhere", {"other": "x\n"})
        project.git("update-ref", f"refs/heads/{TRUNK}", elsewhere)
        project.git("branch", "-D", "elsewhere")
        project.open()
        project.until(lambda: project.landed(first, second))
    assert project.git("rev-parse", f"{TRUNK}^") == tip
    assert "moved the trunk of project" in project.alerts()["trunk_moved"]
    assert elsewhere in project.git("rev-list", "--all").split()
    assert project.began() == 2  # nothing had to be checked again


@pytest.mark.parametrize("first", ["bad-1", "file-1"])
def test_resubmitted_work_is_never_judged_by_the_old_run(
    project: GatedRefineryRepo, first: str
) -> None:
    task = project.hand_in({first: "x\n"})
    with project.refinery() as process:
        project.until(project.began)
        process.kill()
        process.wait()
    project.here("queue", "eject", task, "--reason", "one more thing", code=0)
    assert "taken out of the queue: one more thing" in project.task(task)["reason"]
    project.here("task", "retry", task, code=0)
    project.submit(task, project.branch(f"convoy/project/{task}", {"good-1": "x\n"}))
    project.open()
    project.once()
    assert project.landed(task)
    names = project.git("ls-tree", "--name-only", TRUNK).split()
    assert ("good-1" in names, first in names) == (True, False)
    assert not project.events("change.returned")


def test_a_push_in_the_very_moment_of_landing(
    project: GatedRefineryRepo, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = project.hand_in({"file-1": "x\n"})
    project.open()
    pushed: list[str] = []

    def land(*args: Any) -> tuple[str, ...]:
        if not pushed:
            pushed.append(project.branch("pushed", {"pushed": "x\n"}, TRUNK))
            project.git("update-ref", f"refs/heads/{TRUNK}", pushed[0])
        return land_by_git(*args)

    monkeypatch.setattr(landing, "land", land)
    project.here("refinery", "run", "--once", code=0)
    assert project.landed(task)
    assert project.git("rev-parse", f"{TRUNK}^") == pushed[0]
    assert [e["data"]["landed"] for e in project.events("landing.ended")] == [False, True]
    assert project.began() == 2
