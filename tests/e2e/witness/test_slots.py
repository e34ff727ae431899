"""At every event the session limits hold; a subtree keeps to its budget and depth."""

import json

import pytest

from tests.e2e.witness.witness_repo import WitnessRepo

POOLS = """\
[slots]
total = 12
reserve = 2
pools = { small = 3, other = 5 }
[engine.small]
type = "shell"
command = ["true"]
pool = "small"
[engine.other]
type = "shell"
command = ["true"]
pool = "other"
[watch]
attempts = 1
"""


@pytest.mark.parametrize("tasks", [60, pytest.param(200, marks=pytest.mark.long)])
def test_many_tasks_never_have_more_sessions_than_allowed(project: WitnessRepo, tasks: int) -> None:
    project.configure(POOLS)
    engines = ("small", "other", "")
    urgent = set()
    for number in range(tasks):
        engine = engines[number % 3]
        words = ["--engine", engine] if engine else ["--run", "true"]
        if number % 20 == 19:
            words.append("--urgent")
        task = project.add(f"task {number}", *words)
        urgent |= {task} if "--urgent" in words else set()
    project.once()
    running: dict[str, tuple[str, str]] = {}
    most = {"total": 0, "plain": 0, "small": 0, "other": 0}
    for line in project.here("log", "--json").out.splitlines():
        event = json.loads(line)
        data = event["data"]
        if event["type"] == "session.started":
            running[data["session"]] = (data["task"], data.get("pool", ""))
            pools = [pool for _, pool in running.values()]
            most["total"] = max(most["total"], len(running))
            if data["task"] not in urgent:
                most["plain"] = max(most["plain"], len(running))
            for pool in ("small", "other"):
                most[pool] = max(most[pool], pools.count(pool))
        elif event["type"] == "session.ended":
            del running[data["session"]]
    assert not running
    assert len(project.of_type("session.ended")) == tasks
    assert 3 < most["total"] <= 12
    assert most["plain"] <= 10
    # How many there are at once depends on the machine; that there are several does not.
    assert 1 < most["small"] <= 3
    assert 1 < most["other"] <= 5


def test_a_session_that_asks_for_more_than_its_budget_is_refused_by_name(
    project: WitnessRepo,
) -> None:
    project.configure(
        "[slots]\ntotal = 1\nreserve = 0\n[watch]\nattempts = 1\n"
    )  # none may end early
    ask = (
        "for n in 1 2 3 4 5 6 7 8 9 10; do"
        ' corral task add "part $n" --run "sleep 0" >> said.txt 2>> refused.txt; done;'
        "git add -A; git commit -qm asked"
    )
    task = project.script(ask, "--budget", "4")
    project.once()
    commit = project.task(task)["commit"]
    assert commit, project.detail(task)
    assert len(project.git("show", f"{commit}:said.txt").splitlines()) == 4
    refused = project.git("show", f"{commit}:refused.txt")
    assert refused.count(f"{task} already has 4 open tasks below it, and may have at most 4") == 6
    added = [e["data"] for e in project.of_type("task.added") if e["data"].get("parent") == task]
    assert len(added) == 4


def test_a_session_cannot_go_deeper_than_its_levels(project: WitnessRepo) -> None:
    inner = 'corral task add "grandchild" --run true; true'
    task = project.script(
        f"corral task add child --run 'sh -c \"{inner}\"' && echo a > a.txt"
        " && git add -A && git commit -qm asked",
        "--budget",
        "4",
        "--levels",
        "1",
    )
    project.once()
    child = next(
        e["data"]["task"] for e in project.of_type("task.added") if e["data"].get("parent")
    )
    said = project.here("session", "tail", f"{child}.1").out
    assert f"{child} may not have tasks below it" in said
    assert project.verdict(task) == "proved"
    assert [e["data"]["title"] for e in project.of_type("task.added")] == ["work", "child"]
