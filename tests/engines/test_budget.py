"""R28: a real agent that tells its cost only at its end is stopped within a turn all the same."""

import json
from pathlib import Path

from tests.engines.running import plan
from tests.engines.test_witness import ranch_of
from tests.standin.server import StandIn


def test_claude_code_stops_within_a_turn_of_its_budget_and_the_report_is_right(
    tmp_path: Path, programs: Path, standin: StandIn
) -> None:
    ranch = ranch_of(tmp_path, programs, standin, {"thrifty": "claude-code"})
    config = ranch.path / ".corral" / "config.toml"
    config.write_text(config.read_text() + "[budget]\ntask_usd = 0.1\n")
    # Each takes a moment, as with a real model, so that the witness has time to see it.
    steps = [
        {"op": "write", "path": f"{n}.py", "content": "y = 2\n", "delay": 2.0} for n in range(20)
    ]
    brief = tmp_path / "brief.md"
    brief.write_text(plan(*steps, {"op": "say", "text": "Done."}))
    task = ranch.add("Write much", "--engine", "thrifty", "--brief-file", str(brief))
    ranch.once()
    assert (ranch.verdict(task), ranch.task(task)["state"]) == ("over_budget", "failed")
    seen = standin.scenario("thrifty").seen()
    turns = [record for record in seen.requests if record.work]
    total = ranch.spent()
    tokens = (total["fresh"], total["cached"], total["output"])
    assert tokens == (seen.usage.fresh, seen.usage.cached, seen.usage.output)
    assert total["cost_usd"] >= 0.1, json.dumps(total)
    assert total["cost_usd"] < 0.1 + 2 * total["cost_usd"] / len(turns), "one turn more at most"
    assert len(turns) < 10
    assert ranch.leftovers() == []
