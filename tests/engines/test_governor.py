"""R22, R23: twenty tasks of a real agent on an account that bears five at once, all landed."""

from pathlib import Path

from tests.e2e.engines.herding import BEARS, CHECKS, events, of, run, settles
from tests.engines.running import KEY, plan
from tests.engines.test_witness import ranch_of
from tests.standin.server import StandIn

TASKS, TURN_S = 20, 4.0


def test_twenty_tasks_of_claude_code_settle_at_five_and_land(
    tmp_path: Path, programs: Path, standin: StandIn
) -> None:
    scenario = standin.scenario("herd")
    limits = scenario.limits
    limits.max_concurrent, limits.retry_after, limits.delay = BEARS, 2.0, TURN_S
    ranch = ranch_of(tmp_path, programs, standin, {"herd": "claude-code"}, turn_s=120)
    config = ranch.path / ".corral" / "config.toml"
    config.write_text(CHECKS + config.read_text().replace("total = 50", "total = 12"))
    tasks = []
    for number in range(TASKS):
        brief = tmp_path / f"{number}.md"
        steps = [
            {"op": "write", "path": f"{part}-{number}.py", "content": "y = 2\n"} for part in "ab"
        ]
        brief.write_text(plan(*steps, {"op": "say", "text": "Done."}))
        words = ("--engine", "herd", "--brief-file", str(brief), "--path", f"*-{number}.py")
        tasks.append(ranch.add(f"Write {number}", *words, "--accept", f"test -f b-{number}.py"))
    report = run(ranch, 500)
    assert report["landed"] == TASKS
    log = events(ranch)
    settles(log, "herd", scenario)
    assert of(log, "task.failed") == [] == of(log, "task.delayed"), "an attempt was used up"
    assert KEY not in str(log)
    assert ranch.leftovers() == []
