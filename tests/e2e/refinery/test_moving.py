"""I4, I5: branches and the trunk move; only what was handed in and checked lands."""

from pathlib import Path
from typing import Any

import pytest

from corral.roles.refinery import landing
from corral.world.git.landing import Landed
from corral.world.git.landing import land as land_by_git
from tests.e2e.refinery.yard import TRUNK, Yard, make_yard
from tests.world.trees.tree_repo import git

CHECK = """\
if [ -n "$CORRAL_CHECK" ]; then
  echo x >> {place}/began
  while [ ! -e {place}/open ]; do sleep 0.05; done
fi
! ls | grep -q '^bad-'
"""


class Gated(Yard):
    """A yard whose checks wait until they are let through."""

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
def yard(tmp_path: Path) -> Gated:
    made = make_yard(tmp_path / "project", CHECK.format(place=tmp_path), "slots = 1\nreturns = 1\n")
    return Gated(made.path)


def test_what_was_handed_in_lands_whatever_happens_to_the_branch(yard: Gated) -> None:
    moved, deleted, forced = (yard.hand_in({f"file-{n}": f"{n}\n"}) for n in range(3))
    handed_in = {t: yard.git("rev-parse", f"convoy/yard/{t}") for t in (moved, deleted, forced)}
    with yard.refinery():
        yard.until(yard.began)
        later = yard.branch(f"convoy/yard/{moved}", {"bad-1": "x\n"}, handed_in[moved])
        yard.git("branch", "-D", f"convoy/yard/{deleted}")
        yard.branch(f"convoy/yard/{forced}", {"bad-2": "x\n"})
        git(yard.path, "reflog", "expire", "--expire=now", "--all")
        git(yard.path, "gc", "--quiet", "--prune=now")
        yard.open()
        yard.until(lambda: yard.landed(moved, deleted, forced))
    yard.once()
    names = yard.git("ls-tree", "--name-only", TRUNK).split()
    assert {"file-0", "file-1", "file-2"} <= set(names)
    assert not any(name.startswith("bad-") for name in names)
    reachable = set(yard.git("rev-list", "--all").split())
    assert {*handed_in.values(), later} <= reachable


def test_a_push_to_the_trunk_is_taken_in_and_all_is_checked_on_it(yard: Gated) -> None:
    task = yard.hand_in({"file-1": "x\n"})
    with yard.refinery():
        yard.until(yard.began)
        pushed = yard.branch("pushed", {"pushed": "x\n"}, TRUNK)
        yard.git("update-ref", f"refs/heads/{TRUNK}", pushed)
        yard.open()
        yard.until(lambda: yard.landed(task))
    begun = yard.events("landing.begun")
    assert [e["data"]["old"] for e in begun if e["data"]["old"] != pushed] == []
    assert yard.git("rev-parse", f"{TRUNK}^") == pushed
    assert yard.began() == 2  # the first one stood on what the trunk was before
    assert [e["data"]["new"] for e in yard.events("trunk.moved")][-1] == pushed
    ended = {e["data"]["run"]: e["data"]["result"] for e in yard.events("check.ended")}
    assert ended["R2"] == "green"
    assert begun[-1]["data"]["run"] == "R2"


def test_a_trunk_that_loses_what_landed_is_put_back(yard: Gated) -> None:
    first = yard.hand_in({"file-1": "x\n"})
    yard.open()
    yard.once()
    (yard.place / "open").unlink()
    tip = yard.git("rev-parse", TRUNK)
    second = yard.hand_in({"file-2": "x\n"})
    before = yard.began()
    with yard.refinery():
        yard.until(lambda: yard.began() > before)
        elsewhere = yard.branch("elsewhere", {"other": "x\n"})
        yard.git("update-ref", f"refs/heads/{TRUNK}", elsewhere)
        yard.git("branch", "-D", "elsewhere")
        yard.open()
        yard.until(lambda: yard.landed(first, second))
    assert yard.git("rev-parse", f"{TRUNK}^") == tip
    assert "moved the trunk of yard" in yard.alerts()["trunk_moved"]
    assert elsewhere in yard.git("rev-list", "--all").split()
    assert yard.began() == 2  # nothing had to be checked again


@pytest.mark.parametrize("first", ["bad-1", "file-1"])
def test_work_that_is_handed_in_anew_is_never_judged_by_the_old_run(
    yard: Gated, first: str
) -> None:
    task = yard.hand_in({first: "x\n"})
    with yard.refinery() as process:
        yard.until(yard.began)
        process.kill()
        process.wait()
    yard.here("queue", "eject", task, "--reason", "one more thing", code=0)
    assert "taken out of the queue: one more thing" in yard.task(task)["reason"]
    yard.here("task", "retry", task, code=0)
    yard.submit(task, yard.branch(f"convoy/yard/{task}", {"good-1": "x\n"}))
    yard.open()
    yard.once()
    assert yard.landed(task)
    names = yard.git("ls-tree", "--name-only", TRUNK).split()
    assert ("good-1" in names, first in names) == (True, False)
    assert not yard.events("change.returned")


def test_a_push_in_the_very_moment_of_landing(yard: Gated, monkeypatch: pytest.MonkeyPatch) -> None:
    task = yard.hand_in({"file-1": "x\n"})
    yard.open()
    pushed: list[str] = []

    def land(*args: Any) -> Landed:
        if not pushed:
            pushed.append(yard.branch("pushed", {"pushed": "x\n"}, TRUNK))
            yard.git("update-ref", f"refs/heads/{TRUNK}", pushed[0])
        return land_by_git(*args)

    monkeypatch.setattr(landing, "land", land)
    yard.here("refinery", "run", "--once", code=0)
    assert yard.landed(task)
    assert yard.git("rev-parse", f"{TRUNK}^") == pushed[0]
    assert [e["data"]["landed"] for e in yard.events("landing.ended")] == [False, True]
    assert yard.began() == 2
