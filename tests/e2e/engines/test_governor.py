"""Accounts that allow five sessions at once land twenty tasks each."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.engines.limited_accounts import (
    BEARS,
    STEPS,
    caller_profile,
    events,
    of,
    run,
    settles,
    workers,
)
from tests.standin.server import StandIn, serving

TASKS = 20


@pytest.fixture
def standin() -> Iterator[StandIn]:
    with serving() as server:
        yield server


@pytest.mark.alone
def test_twenty_tasks_on_each_account_land_and_five_of_each_run_at_a_time(
    tmp_path: Path, standin: StandIn
) -> None:
    accounts = {"told": 1.0, "untold": None}  # seconds to wait, as the account says
    for name, retry_after in accounts.items():
        limits = standin.scenario(name).limits
        limits.max_concurrent, limits.retry_after, limits.delay = BEARS, retry_after, 3.0
    profiles = "".join(caller_profile(standin, name) for name in accounts)
    project, _ = workers(tmp_path, profiles, dict.fromkeys(accounts, TASKS))
    report = run(project)
    assert report["landed"] == 2 * TASKS
    for task in report["tasks"]:
        steps = project.git("show", f"{report['trunk']}:{task['id']}.txt").splitlines()
        assert steps == [f"step {n}" for n in range(STEPS)], "each step once, whoever did it"
    log = events(project)
    for name in accounts:
        settles(log, name, standin.scenario(name))
    assert of(log, "task.delayed") == [] == of(log, "task.failed"), "an attempt was used up"
    assert {e["data"]["verdict"] for e in of(log, "session.ended")} == {"limited", "proved"}
    parked = of(log, "task.parked")
    assert len(parked) == len(of(log, "session.started")) - 2 * TASKS
    assert len({e["data"]["until_at"] for e in parked}) > len(parked) * 0.8, "they return together"
    assert project.leftovers() == []


def test_after_a_reset_time_the_herd_comes_back_one_by_one(
    tmp_path: Path, standin: StandIn
) -> None:
    scenario = standin.scenario("default")
    scenario.limits.closed_until = reset = float(int(time.time()) + 3600)
    project, tasks = workers(tmp_path, caller_profile(standin, "default"), {"default": 12})
    config = project.path / ".corral" / "config.toml"
    config.write_text(config.read_text().replace("total = 50", "total = 8"))
    with project.witness():
        project.until(lambda: len(project.of_type("task.parked")) == 8)
        parked, waiting = (project.here("why", name).out for name in (tasks[0], tasks[-1]))
        until = {e["data"]["until_at"] for e in project.of_type("task.parked")}
    assert "is parked for another" in parked
    assert "no attempt was used up (limited: 429: You exceeded your current quota" in parked
    assert "the account 'command:default' is limited (quota) for another" in waiting
    assert len(until) == 8, "two of them would come back together"
    assert min(until) >= reset * 1000
    assert max(until) <= reset * 1000 + 61_000
    assert len(project.of_type("session.started")) == 8, "the others wait for the account"


def test_another_profile_stands_in_and_all_is_landed_before_the_reset(
    tmp_path: Path, standin: StandIn
) -> None:
    standin.scenario("default").limits.closed_until = time.time() + 3600
    profiles = caller_profile(standin, "default") + 'fallback = "spare"\n'
    project, _ = workers(tmp_path, profiles + caller_profile(standin, "spare"), {"default": 4})
    assert run(project)["landed"] == 4
    log = events(project)
    assert {e["data"]["account"] for e in of(log, "session.limited")} == {"command:default"}
    proved = {e["data"]["session"] for e in of(log, "session.ended", verdict="proved")}
    stood_in = {e["data"]["session"] for e in of(log, "session.started", profile="spare")}
    assert proved == stood_in
    assert of(log, "task.delayed") == []
