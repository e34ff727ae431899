"""Real agents that report usage only at the end are stopped within a turn."""

import json
from pathlib import Path
from typing import Any

from tests.engines.engine_tree import MODELS, plan
from tests.engines.test_witness import project_of
from tests.standin.server import StandIn
from tests.standin.talk import Usage

LATE = ("codex", "gemini", "copilot", "continue")
INPUT, OUTPUT = 5.0, 20.0  # dollars for a million tokens
# Each step takes a moment, as with a real model, so that the witness has time to see it.
MUCH = plan(
    *({"op": "write", "path": f"{n}.py", "content": "y = 2\n", "delay": 3.0} for n in range(20)),
    {"op": "say", "text": "Done."},
)


def test_claude_code_stops_within_a_turn_of_its_budget_and_the_report_is_right(
    tmp_path: Path, programs: Path, standin: StandIn
) -> None:
    project = project_of(tmp_path, programs, standin, {"thrifty": "claude-code"})
    config = project.path / ".corral" / "config.toml"
    config.write_text(config.read_text() + "[budget]\ntask_usd = 0.1\n")
    brief = tmp_path / "brief.md"
    brief.write_text(MUCH)
    task = project.add("Write much", "--engine", "thrifty", "--brief-file", str(brief))
    project.once()
    assert (project.verdict(task), project.task(task)["state"]) == ("over_budget", "failed")
    seen = standin.scenario("thrifty").seen()
    turns = [record for record in seen.requests if record.work]
    total = project.spent()
    tokens = (total["fresh"], total["cached"], total["output"])
    assert tokens == (seen.usage.fresh, seen.usage.cached, seen.usage.output)
    assert total["cost_usd"] >= 0.1, json.dumps(total)
    assert total["cost_usd"] < 0.1 + 2 * total["cost_usd"] / len(turns), "one turn more at most"
    assert len(turns) < 10
    assert project.leftovers() == []


def test_those_that_tell_nothing_while_they_run_are_stopped_within_a_turn_of_their_budget(
    tmp_path: Path, programs: Path, standin: StandIn
) -> None:
    names = {f"late-{engine}": engine for engine in LATE}
    project = project_of(tmp_path, programs, standin, names)
    prices = {
        f'[budget.prices."{MODELS[engine]}"]\ninput = {INPUT}\noutput = {OUTPUT}\n'
        for engine in LATE
    }
    config = project.path / ".corral" / "config.toml"
    config.write_text(config.read_text() + "[budget]\ntask_usd = 0.1\n" + "".join(prices))
    brief = tmp_path / "brief.md"
    brief.write_text(MUCH)
    tasks = {}
    for name in names:
        tasks[name] = project.add("Write much", "--engine", name, "--brief-file", str(brief))
    project.patient(400, "witness", "run", "--once")
    lines = {one["name"]: one for one in project.here("cost", "--json", code=0).data["tasks"]}
    for name, task in tasks.items():
        assert project.verdict(task) == "over_budget", (name, project.detail(task))
        _check(lines[task], [one.usage for one in standin.scenario(name).seen().requests], name)
    assert project.leftovers() == []


def _check(line: dict[str, Any], used: list[Usage], name: str) -> None:
    """Check the report of a task against what the model has counted for each request."""
    used = [one for one in used if one != Usage()]
    enough = next(n for n in range(len(used) + 1) if _usd(sum(used[:n], Usage())) >= 0.1)
    assert enough > 1, f"{name}: the first turn cost it all, which shows nothing"
    # One more turn may have begun; if it was cut off, its usage is unknown.
    assert enough <= len(used) <= enough + 1, name
    reported = Usage(line["fresh"], line["cached"], line["output"])
    assert reported in [sum(used[:n], Usage()) for n in range(enough, len(used) + 1)], name
    assert abs(line["cost_usd"] - _usd(reported)) < 1e-6, name


def _usd(used: Usage) -> float:
    return ((used.fresh + used.cached) * INPUT + used.output * OUTPUT) / 1e6
