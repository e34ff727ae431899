"""Twenty tasks of a real agent land on an account that allows five sessions at once."""

from pathlib import Path

import pytest

from tests.e2e.engines.limited_accounts import BEARS, CHECKS, events, of, run, settles
from tests.engines.engine_tree import KEY, plan
from tests.engines.test_witness import project_of
from tests.standin.server import StandIn

TASKS, TURN_S = 20, 4.0


@pytest.mark.alone
def test_twenty_tasks_of_claude_code_settle_at_five_and_land(
    tmp_path: Path, programs: Path, standin: StandIn
) -> None:
    scenario = standin.scenario("workers")
    limits = scenario.limits
    limits.max_concurrent, limits.retry_after, limits.delay = BEARS, 2.0, TURN_S
    project = project_of(tmp_path, programs, standin, {"workers": "claude-code"}, turn_s=120)
    config = project.path / ".corral" / "config.toml"
    config.write_text(CHECKS + config.read_text().replace("total = 50", "total = 12"))
    tasks = []
    for number in range(TASKS):
        brief = tmp_path / f"{number}.md"
        steps = [
            {"op": "write", "path": f"{part}-{number}.py", "content": "y = 2\n"} for part in "ab"
        ]
        brief.write_text(plan(*steps, {"op": "say", "text": "Done."}))
        words = ("--engine", "workers", "--brief-file", str(brief), "--path", f"*-{number}.py")
        tasks.append(project.add(f"Write {number}", *words, "--accept", f"test -f b-{number}.py"))
    report = run(project, 500)
    assert report["landed"] == TASKS
    log = events(project)
    settles(log, "workers", scenario)
    assert of(log, "task.failed") == [] == of(log, "task.delayed"), "an attempt was used up"
    assert KEY not in str(log)
    assert project.leftovers() == []
