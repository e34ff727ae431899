"""The target is green at every commit, with forty changes handed in at once or two hundred.

What is bad, what goes together and which checks fail for no reason is chosen by a fixed seed;
CORRAL_SEED=N tries another one.
"""

import os
import random
from pathlib import Path

import pytest

from tests.e2e.refinery.refinery_repo import TRUNK, RefineryRepo, make_refinery_repo

# A file `bad-*` is red alone; `pair-N-a` and `pair-N-b` are red together. Some runs fail for no
# reason, unless somebody only wants to know the truth; but once only with the same change on top,
# since bad luck twice in a row cannot be distinguished from a bad change.
CHECK = """\
set -e
if [ -n "$CORRAL_CHECK" ]; then
  if rm "WEATHER/$(git log -1 --format='%(trailers:key=Task,valueonly)')" 2>/dev/null; then
    echo "the weather is bad"; exit 9
  fi
fi
if ls | grep -q '^bad-'; then echo "found $(ls | grep '^bad-')"; exit 1; fi
for a in $(ls | grep '^pair-.*-a$'); do
  if [ -e "${a%-a}-b" ]; then echo "$a does not go with its other half"; exit 2; fi
done
"""
SEED = int(os.environ.get("CORRAL_SEED", "5"))


class Work:
    """What was handed in: which tasks are good, and which cannot all land."""

    def __init__(self, project: RefineryRepo, size: int, weather: Path) -> None:
        chosen = random.Random(SEED)
        self.bad: set[str] = set()
        self.pairs: list[tuple[str, str]] = []
        self.rivals: list[tuple[str, str]] = []  # textual conflicts
        numbers = list(range(size))
        chosen.shuffle(numbers)
        tenth, few = size // 10, 2 * (size // 40)
        bad, pairs = numbers[:tenth], numbers[tenth : tenth + few]
        rivals, unlucky = numbers[tenth + few : tenth + 2 * few], numbers[-size // 4 :]
        works: list[dict[str, str]] = []
        for number in range(size):
            files = {f"file-{number}": "x\n"}
            if number in bad:
                files = {f"bad-{number}": "x\n"}
            elif number in pairs:
                at = pairs.index(number)
                files[f"pair-{at // 2}-{'ab'[at % 2]}"] = "x\n"
            elif number in rivals:
                at = rivals.index(number)
                files[f"same-{at // 2}"] = f"written by {number}\n"
            works.append(files)
        tasks = project.hand_in_all(works)
        self.bad = {tasks[n] for n in bad}
        self.pairs = [(tasks[pairs[n]], tasks[pairs[n + 1]]) for n in range(0, few, 2)]
        self.rivals = [(tasks[rivals[n]], tasks[rivals[n + 1]]) for n in range(0, few, 2)]
        for number in unlucky:
            (weather / tasks[number]).touch()
        self.commits = {t: project.git("rev-parse", f"convoy/project/{t}") for t in tasks}


@pytest.fixture(scope="module", params=[40, pytest.param(200, marks=pytest.mark.long)])
def run(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[RefineryRepo, Work]:
    print(f"CORRAL_SEED={SEED}")
    place = tmp_path_factory.mktemp("red")
    weather = place / "weather"
    weather.mkdir()
    check = CHECK.replace("WEATHER", str(weather))
    project = make_refinery_repo(place / "project", check, "slots = 2\nreturns = 1\n")
    work = Work(project, request.param, weather)
    before = project.checkout()
    project.once(600)
    assert len(list(weather.iterdir())) < request.param // 4, "some runs failed for no reason"
    assert project.checkout() == before
    return project, work


def test_every_state_of_the_target_is_green(run: tuple[RefineryRepo, Work], tmp_path: Path) -> None:
    project, _ = run
    states = project.first_parents()
    assert states[-1] == project.git("rev-parse", TRUNK)
    assert set(project.tips()) <= set(states)
    red = [commit for commit in states if not project.is_green(commit, tmp_path / "scratch")]
    assert red == []


def test_all_good_work_landed_and_only_that(run: tuple[RefineryRepo, Work]) -> None:
    project, work = run
    states = project.states()
    assert {task for task in work.bad if states[task] == "done"} == set()
    for one, other in (*work.pairs, *work.rivals):
        assert sorted((states[one], states[other])) == ["done", "failed"], (one, other)
    doubtful = {task for pair in (*work.pairs, *work.rivals) for task in pair} | work.bad
    assert {state for task, state in states.items() if task not in doubtful} == {"done"}


def test_each_bad_one_is_named_with_its_log(run: tuple[RefineryRepo, Work]) -> None:
    project, work = run
    told = {task: project.task(task)["reason"] for task in work.bad}
    assert all("sh check.sh fails" in reason for reason in told.values())
    assert all("found bad-" in reason for reason in told.values())
    returned = {e["data"]["task"]: e["data"] for e in project.events("change.returned")}
    for pair in work.rivals:
        (sent,) = [returned[task] for task in pair if task in returned]
        (landed,) = [task for task in pair if task not in returned]
        assert sent["why"] == "conflict"
        assert sent["beside"] == [landed]


def test_no_commit_became_unreachable_and_nothing_is_left(run: tuple[RefineryRepo, Work]) -> None:
    project, work = run
    reachable = set(project.git("rev-list", "--all").split())
    assert set(work.commits.values()) <= reachable
    refs = project.git("for-each-ref", "--format=%(refname)", "refs/corral/spec").split()
    assert refs == []
    assert project.here("queue", "list", "--json").data["changes"] == []
