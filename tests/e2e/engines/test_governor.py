"""R22, R23: an account that bears five at once, from twenty tasks on the board to all landed."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.engines import caller
from tests.e2e.engines.pace import pace_of
from tests.e2e.engines.ranch import QUIET, Ranch, make_ranch
from tests.standin.server import StandIn, serving

TASKS, BEARS, STEPS = 20, 5, 3
PROFILE = """
[engine.{name}]
type = "command"
output = "facts"
commit = true
base_url = "{url}"
command = {command}
"""
CHECKS = '[refinery]\nchecks = ["true"]\n'


@pytest.fixture
def standin() -> Iterator[StandIn]:
    with serving() as server:
        yield server


def profile(standin: StandIn, name: str, steps: int = STEPS) -> str:
    command = json.dumps([sys.executable, "-I", "-S", str(Path(caller.__file__)), str(steps)])
    return PROFILE.format(name=name, url=standin.url(name), command=command)


def herd(place: Path, config: str, tasks: int = TASKS, engine: str = "default") -> Ranch:
    ranch = make_ranch(place / "project", QUIET + CHECKS + config)
    for number in range(tasks):
        ranch.add(f"Task {number}", "--engine", engine)
    return ranch


def run(ranch: Ranch) -> dict[str, Any]:
    """Run the whole convoy to its end; return the report."""
    done = ranch.patient(300, "run", "farm", "--headless", "--json")
    assert done.code == 0, (done.out[-3000:], done.err[-2000:])
    report: dict[str, Any] = json.loads(done.out.splitlines()[-1])["data"]
    return report


def events(ranch: Ranch) -> list[dict[str, Any]]:
    return [json.loads(line) for line in ranch.here("log", "--json").out.splitlines()]


@pytest.mark.parametrize(
    "retry_after", [None, 1.0], ids=["without-retry-after", "with-retry-after"]
)
def test_twenty_tasks_land_on_an_account_that_bears_five(
    tmp_path: Path, standin: StandIn, retry_after: float | None
) -> None:
    limits = standin.scenario("default").limits
    limits.max_concurrent, limits.retry_after, limits.delay = BEARS, retry_after, 1.0
    ranch = herd(tmp_path, profile(standin, "default"))
    report = run(ranch)
    pace = pace_of(events(ranch))
    print(pace.points)
    print([r.status for r in standin.scenario("default").seen().requests])
    print(
        [
            (e["type"], e["at"] - pace.begin)
            for e in events(ranch)
            if e["type"] in ("session.limited", "task.parked")
        ]
    )
    print(
        pace.end - pace.begin,
        [pace.median(pace.at(a / 10), pace.at((a + 1) / 10)) for a in range(10)],
    )
    assert report["landed"] == TASKS
