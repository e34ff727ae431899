"""The part of the tutorial that needs a real agent, typed as it stands there.

The stand-in plays the model. It does what its prompt tells it to, so the goal is followed by what
the model is to answer; nothing else is added but the address of the stand-in.
"""

import json
import subprocess
from pathlib import Path

from tests.docs.pages import CONFIG, ROOT, blocks, steps
from tests.e2e.corral_command import environment
from tests.engines.engine_tree import KEY
from tests.standin.server import StandIn

PAGE = "docs/tutorial/first-change.md"
GOAL = "Refuse negative prices with a ValueError, and test that"


def test_the_goal_of_the_tutorial_lands(tmp_path: Path, programs: Path, standin: StandIn) -> None:
    env = environment(tmp_path, ANTHROPIC_API_KEY=KEY)
    env["PATH"] = f"{programs}:{env['PATH']}"
    here = tmp_path / "shop"

    def typed(command: str, where: Path = here) -> str:
        done = subprocess.run(
            ["bash", "-c", command], cwd=where, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout

    prepared = [command for command, _ in steps(PAGE) if not command.startswith("cd ")]
    typed(prepared[0], tmp_path)
    for command in prepared[1:]:
        typed(command)

    text = (ROOT / PAGE).read_text("utf-8")
    profile = list(blocks(text, "toml"))[-1]
    address = f'base_url = "{standin.url("tutorial")}"\n'
    kind = 'type = "claude-code"\n'
    assert kind in profile
    (here / CONFIG).write_text(profile.replace(kind, kind + address))

    write = {
        "op": "edit",
        "path": "prices.py",
        "old": "    return",
        "new": "    if min(prices, default=0) < 0:\n        raise ValueError(prices)\n    return",
    }
    task = {
        "key": "refuse",
        "title": "Refuse negative prices",
        "brief": f"Do it. PLAN {json.dumps([write, {'op': 'say', 'text': 'Done.'}])}",
        "paths": ["prices.py"],
        "accept": ["! python3 -B -c 'import prices; prices.total([-1])'"],
    }
    answer = json.dumps({"convoy": {"title": "Negative prices"}, "task": [task]})
    script = json.dumps([{"op": "say", "text": answer}])
    shown = list(blocks(text, "sh"))
    assert any(GOAL in block for block in shown), "the page has another goal now"
    env["GOAL"] = f"{GOAL}. PLAN {script}"
    for block in shown:
        typed(block.replace(GOAL, "$GOAL"))
    assert "ValueError" in typed("git show convoy/negative-prices/trunk:prices.py")
    assert KEY not in typed("corral log --json")
