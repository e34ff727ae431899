"""The target stays green while people and sessions rewind it, delete folders and leave locks.

The changes and checks are those of `test_never_red`. The witness runs beside the refinery, some of
its sessions behave badly, one convoy waits for a slow `gh`, and after each landing somebody does
something that a fixed seed chooses; CORRAL_SEED=N tries another one.
"""

import random
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.e2e.refinery.refinery_repo import TRUNK, RefineryRepo, make_refinery_repo
from tests.e2e.refinery.test_never_red import CHECK, SEED, Work
from tests.e2e.refinery.test_one_convoy_stuck import finished, hand_in, with_gh
from tests.e2e.whole.test_honest import ALLOW, HABITS
from tests.e2e.witness.witness_repo import WORK, WitnessRepo
from tests.patience import PATIENCE_S, until
from tests.world.trees.tree_repo import repository

SETTINGS = """\
slots = 2
returns = 1
finish = "pull-request"
[slots]
total = 4
reserve = 0
[trees]
pool = 2
[watch]
beat_s = 600
attempts = 1
"""
REWINDER = "rewinds the trunk"
# What sessions do besides their work, and how their tasks end.
SESSIONS = {
    "stashes": (HABITS["stashes"], "done"),
    "uses a submodule": (HABITS["uses a submodule"], "done"),
    "works": (WORK, "done"),
    REWINDER: (
        f'{WORK} && git --git-dir="$CORRAL_RUN" branch -f {TRUNK} {TRUNK}~1',
        "failed",
    ),
    "deletes its tree": (f'{WORK} && d=$PWD && cd / && rm -rf "$d"', "failed"),
    "leaves a lock": (f'{WORK} && touch "$(git rev-parse --git-dir)/packed-refs.lock"', "done"),
}


class Trouble:
    """A project in which things go wrong: what was handed in, and what was done to it."""

    def __init__(self, place: Path, size: int) -> None:
        self.place = place
        (place / "weather").mkdir()
        check = CHECK.replace("WEATHER", str(place / "weather"))
        self.project = project = make_refinery_repo(place / "project", check, SETTINGS)
        remote = repository(place / "inner")
        project.git("-c", ALLOW, "submodule", "--quiet", "add", str(remote), "inner")
        project.git("commit", "-qm", "a submodule")
        with_gh(project, "")
        project.git("checkout", "--quiet", "-b", "mine")
        project.git("worktree", "add", "--quiet", str(place / "gone"), "main")
        shutil.rmtree(place / "gone")
        self.sessions = WitnessRepo(project.path)
        self.sessions.env = project.env
        self.work = Work(project, size, place / "weather")
        self.expected = {
            self.sessions.script(script, title=name): end
            for name, (script, end) in SESSIONS.items()
            for _ in range(1 if name == REWINDER else max(1, size // 40))
        }
        project.git("branch", "other-base")
        project.here("convoy", "create", "Other", "--base", "other-base", code=0)
        hand_in(project, "other")
        self.chosen = random.Random(SEED)
        self.coming: list[str] = []
        self.done: list[str] = []

    def faults(self) -> dict[str, Callable[[], object]]:
        git_dir, project = self.project.path / ".git", self.project
        earlier = [project.git("rev-parse", "main"), *project.tips()[:-1]]
        parked = sorted(Path(self.sessions.trees().place).glob("tree-*"))
        live = {tree.path for tree in self.sessions.trees().list()}
        free = next((path for path in parked if str(path) not in live), self.place / "none")
        return {
            "rewind": partial(self._rewind, self.chosen.choice(earlier)),
            "packed-refs.lock": (git_dir / "packed-refs.lock").touch,
            "index.lock": (git_dir / "index.lock").touch,
            "a parked tree is deleted": partial(shutil.rmtree, free, ignore_errors=True),
            "a lock is removed": lambda: (git_dir / "packed-refs.lock").unlink(missing_ok=True),
        }

    def _rewind(self, commit: str) -> None:
        """Rewind the trunk once the session that does so is judged: the reflog names the last."""
        rewinder = next(t for t in self.expected if self.project.task(t)["title"] == REWINDER)
        self._wait(lambda: self.project.states()[rewinder] in {"done", "failed"})
        self.project.git("update-ref", f"refs/heads/{TRUNK}", commit)

    def is_over(self) -> bool:
        return set(self.project.states().values()) <= {"done", "failed"}

    def run(self) -> None:
        """Have both roles run until every task has ended, and something go wrong all the while."""
        with self.project.refinery() as refinery:
            with self.sessions.witness() as witness:
                while not self.is_over():
                    landed = len(self.project.tips())
                    self.faults()[self._next()]()
                    self._wait(partial(self._goes_on, landed))
                assert witness.poll() is None, "the witness has ended"
            for lock in ("packed-refs.lock", "index.lock"):
                (self.project.path / ".git" / lock).unlink(missing_ok=True)
            last = hand_in(self.project, "project")  # what is rewound now is put right with it
            self._wait(lambda: self.project.states()[last] == "done")
            assert "other" not in finished(self.project), "it waits for gh"
            (self.place / "open").touch()
            self._wait(lambda: "other" in finished(self.project))
            assert refinery.poll() is None, "the refinery has ended"

    def _next(self) -> str:
        """Return the name of the next fault: all of them, in an order that the seed chooses."""
        if not self.coming:
            self.coming = sorted(self.faults())
            self.chosen.shuffle(self.coming)
        self.done.append(self.coming.pop())
        return self.done[-1]

    def _goes_on(self, landed: int) -> bool:
        return self.is_over() or len(self.project.tips()) > landed

    def _wait(self, what: Callable[[], object]) -> None:
        until(what, lambda: f"{self.done}\n{self.project.here('status').out}", 2 * PATIENCE_S)


@pytest.fixture(scope="module", params=[12, pytest.param(80, marks=pytest.mark.long)])
def after(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Trouble:
    print(f"CORRAL_SEED={SEED}")
    trouble = Trouble(tmp_path_factory.mktemp("faults"), request.param)
    before = trouble.project.checkout()
    trouble.run()
    print(*trouble.done, sep="\n")
    assert trouble.project.checkout() == before
    return trouble


def test_every_state_of_the_target_is_green(after: Trouble, tmp_path: Path) -> None:
    project = after.project
    states = project.first_parents()
    assert states[-1] == project.git("rev-parse", TRUNK)
    landed = {e["data"]["new"] for e in project.events("landing.begun")}
    assert {one for one in landed if _is_of(project, one)} <= set(states)
    assert [one for one in states if not project.is_green(one, tmp_path / "scratch")] == []


def test_every_task_ends_as_its_work_deserves(after: Trouble) -> None:
    states, work = after.project.states(), after.work
    assert {task: states[task] for task in after.expected} == after.expected, after.project.here(
        "session", "list"
    ).out
    assert {task for task in work.bad if states[task] == "done"} == set()
    doubtful = {task for pair in (*work.pairs, *work.rivals) for task in pair} | work.bad
    good = set(states) - doubtful - set(after.expected)
    assert {task: states[task] for task in good} == dict.fromkeys(good, "done")


def test_nothing_is_lost(after: Trouble) -> None:
    project = after.project
    reachable = set(project.git("rev-list", "--all").split())
    assert set(after.work.commits.values()) <= reachable
    names = set(project.git("ls-tree", "--name-only", TRUNK).split())
    for task, end in after.expected.items():
        commits = project.git("rev-list", f"main..convoy/project/{task}").split()
        assert commits, task
        assert end == "failed" or f"work-{task}.txt" in names
    assert after.sessions.trees().list() == [], project.here("alert", "list").out
    assert after.sessions.leftovers() == []
    project.git("fsck", "--strict")


def test_every_fault_happened_and_the_rewinds_were_told(after: Trouble) -> None:
    assert set(after.done) == set(after.faults())
    told = [e["data"] for e in after.project.events("alert.raised")]
    moved = [one["text"] for one in told if one["kind"] == "trunk_moved"]
    tasks = [t["id"] for t in after.project.here("task", "list", "--json").data]
    sessions = [t for t in tasks if after.project.task(t)["title"] == REWINDER]
    assert all(any(text.startswith(f"{task}.1 moved") for text in moved) for task in sessions)


def _is_of(project: RefineryRepo, commit: str) -> bool:
    """Say whether a commit was made for the convoy of the trunk."""
    other = project.git("rev-list", "other-base..convoy/other/trunk").split()
    return commit not in other
