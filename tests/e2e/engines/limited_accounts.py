"""Whole runs of many workers on accounts with a limit on concurrent sessions."""

import json
import sys
from pathlib import Path
from typing import Any

from tests.e2e.engines import caller
from tests.e2e.engines.engine_repo import QUIET, EngineRepo, make_engine_repo
from tests.e2e.engines.pace import Event, pace_of
from tests.standin.scenario import Scenario
from tests.standin.server import StandIn

BEARS, STEPS = 5, 2
PROFILE = """
[engine.{name}]
type = "command"
output = "facts"
commit = true
base_url = "{url}"
command = {command}
"""
CHECKS = '[refinery]\nchecks = ["true"]\n'


def caller_profile(standin: StandIn, name: str) -> str:
    """Return a profile whose agent asks the stand-in for each of its steps."""
    command = json.dumps([sys.executable, "-I", "-S", str(Path(caller.__file__)), str(STEPS)])
    return PROFILE.format(name=name, url=standin.url(name), command=command)


def workers(place: Path, config: str, tasks: dict[str, int]) -> tuple[EngineRepo, list[str]]:
    """Create a repository with this many tasks per profile; return it and their ids."""
    project = make_engine_repo(place / "project", QUIET + CHECKS + config)
    wanted = [name for name, number in tasks.items() for _ in range(number)]
    return project, [project.add(f"For {name}", "--engine", name) for name in wanted]


def run(project: EngineRepo, limit_s: float = 300) -> dict[str, Any]:
    """Run the whole convoy to its end; return the report."""
    done = project.patient(limit_s, "run", "project", "--headless", "--json")
    assert done.code == 0, (done.out[-3000:], done.err[-2000:])
    report: dict[str, Any] = json.loads(done.out.splitlines()[-1])["data"]
    return report


def events(project: EngineRepo) -> list[Event]:
    return [json.loads(line) for line in project.here("log", "--json").out.splitlines()]


def of(log: list[Event], kind: str, **fields: str) -> list[Event]:
    wanted = fields.items()
    return [e for e in log if e["type"] == kind and wanted <= e["data"].items()]


def settles(log: list[Event], profile: str, scenario: Scenario) -> None:
    """Check that the first burst taught the limit, and that about as many ran from then on.

    A session also starts, commits and is judged, which takes long on a busy machine, and while it
    does it burdens no model: so many more may run. There, too, agents that wait for a limit may try
    again when those that were served have ended. As far as the log knows, all that run are limited
    then, and the governor keeps half of them, which may be fewer than could run.
    """
    started = of(log, "session.started", profile=profile)
    pace = pace_of(log, profile)
    # By then it is known how many are borne; once no task waits, nothing keeps the number up.
    learned, governed = pace.at(1 / 3), started[-1]["at"]
    assert learned < governed, pace
    running, share = pace.median(learned, governed), at_model(log, profile, scenario)
    refusals = [r.at * 1000 for r in scenario.seen().requests if r.status == 429]
    # A turn that was under way is still a lesson.
    late = [at for at in refusals if at > learned + 1000 * scenario.limits.delay]
    mine = {event["data"]["session"] for event in started}
    limits = [e["at"] for e in of(log, "session.limited") if e["data"]["session"] in mine]
    least = min([BEARS - 1, *(pace.number(at) // 2 for at in limits)])
    print(f"{profile}: {running} ran, each {share:.2f} of its time with the model;", end=" ")
    print(f"{len(refusals)} refusals, {len(late)} of them late")
    assert least <= running <= (BEARS + 1) / share, (least, running, share, pace)
    assert len(refusals) - len(late) >= 3, "nothing was there to be learned"
    assert len(late) <= 5, (learned, refusals)


def at_model(log: list[Event], profile: str, scenario: Scenario) -> float:
    """Return which share of its time a session spent with its model."""
    lives: dict[str, int] = {
        e["data"]["session"]: -e["at"] for e in of(log, "session.started", profile=profile)
    }
    for event in of(log, "session.ended"):
        if event["data"]["session"] in lives:
            lives[event["data"]["session"]] += event["at"]
    answered = sum(r.seconds for r in scenario.seen().requests if r.status == 200)
    return answered * 1000 / sum(lives.values())
