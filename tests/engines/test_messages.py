"""Real agents get a message once, at their next turn, whichever process is killed."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from corral.world.engines import conversations
from tests.e2e.engines.engine_repo import EngineRepo
from tests.engines.engine_tree import plan
from tests.engines.test_witness import project_of
from tests.standin.scenario import Scenario
from tests.standin.server import StandIn

WAYS = [("claude-code", "cli"), ("codex", "cli"), ("claude-code", "acp"), ("codex", "acp")]


def prepared(
    place: Path, programs: Path, standin: StandIn, engine: str, transport: str
) -> EngineRepo:
    name = f"letters-{engine}-{transport}"
    project = project_of(place, programs, standin, {name: engine})
    config = project.path / ".corral" / "config.toml"
    text = config.read_text()
    config.write_text(text.replace('type = "', f'transport = "{transport}"\ntype = "'))
    return project


def told(scenario: Scenario, message: str) -> list[int]:
    """Return how often a message stands in each request to the model."""
    asked = [one for one in scenario.seen(bodies=True).requests if one.work]
    return [json.dumps(one.body).count(f"[{message} from ") for one in asked]


def working(project: EngineRepo, name: str, place: Path, delay_s: float) -> str:
    """Add a task whose model takes its time before it does anything."""
    brief = place / f"{name}.md"
    write = {"op": "write", "path": "a.py", "content": "y = 2\n", "delay": delay_s}
    brief.write_text(plan(write, {"op": "say", "text": "Done."}))
    return project.add("Write it", "--engine", name, "--brief-file", str(brief))


def message(*steps: dict[str, Any]) -> str:
    return f"PLAN {json.dumps(steps)}"


@pytest.mark.parametrize(("engine", "transport"), WAYS)
def test_a_message_in_the_middle_of_a_turn_is_the_next_turn_once(
    tmp_path: Path, programs: Path, standin: StandIn, engine: str, transport: str
) -> None:
    project = prepared(tmp_path, programs, standin, engine, transport)
    name = f"letters-{engine}-{transport}"
    scenario = standin.scenario(name)
    write = {"op": "write", "path": "told.py", "content": "z = 3\n", "delay": 2.0}
    with project.witness() as first:
        task = working(project, name, tmp_path, 8.0)
        project.until(lambda: any(one.work for one in scenario.seen().requests))
        text = message(write, {"op": "say", "text": "Noted."})
        sent = project.data("message", "send", f"{task}.1", text)["id"]
        project.until(lambda: project.of_type("message.taken"))
        first.kill()
        first.wait()
    with project.witness():
        assert project.until_ended(task) == "proved", project.detail(task)
    assert project.git("show", f"{project.task(task)['commit']}:told.py") == "z = 3"
    counts = told(scenario, sent)
    assert counts[0] == 0, "it came in the middle of a turn"
    assert max(counts) == counts[-1] == 1, counts
    (proof,) = project.of_type("message.delivered")
    assert proof["data"]["proof"] == "record"
    assert project.reactions() == ([("message", "resume")] if transport == "cli" else [])
    assert project.leftovers() == []


@pytest.mark.parametrize("engine", ["claude-code", "codex"])
def test_an_agent_that_is_killed_with_a_message_in_its_record_is_not_told_again(
    tmp_path: Path, programs: Path, standin: StandIn, engine: str
) -> None:
    name = f"killed-letters-{engine}"
    project = project_of(tmp_path, programs, standin, {name: engine})
    scenario = standin.scenario(name)
    slow = {"op": "write", "path": "told.py", "content": "z = 3\n", "delay": 20.0}
    with project.witness():
        task = working(project, name, tmp_path, 6.0)
        project.until(lambda: any(one.work for one in scenario.seen().requests))
        sent = project.data("message", "send", f"{task}.1", message(slow))["id"]
        home = str(project.room(f"{task}.1") / "home")
        project.until(lambda: any(told(scenario, sent)))
        project.until(lambda: conversations.has(home, f"[{sent} from "))
        started = json.loads((project.room(f"{task}.1") / "run-2" / "process.json").read_text())
        os.kill(int(started["program_pid"]), signal.SIGKILL)
        assert project.until_ended(task) == "proved", project.detail(task)
    assert project.reactions() == [("message", "resume"), ("crashed", "resume")]
    assert max(told(scenario, sent)) == 1
    assert [e["data"]["proof"] for e in project.of_type("message.delivered")] == ["record"]
