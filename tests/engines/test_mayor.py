"""The mayor with real agents: corrected, asked again, resumed, and only reading."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.corral_command import make_repository
from tests.e2e.mayor.mayor_repo import MayorRepo, plan, task
from tests.engines.engine_tree import KEY, MODELS
from tests.standin.server import StandIn

CONFIG = """\
[watch]
grace_s = 2
[engine.planner]
type = "{type}"
model = "{model}"
base_url = "{url}"
env = ["CORRAL_TEST_KEY"]
permission = "all"
turn_s = 60
[mayor]
engine = "planner"
"""
MARK = "Your plan was not accepted"


@pytest.mark.parametrize("engine", ["claude-code", "codex"])
def test_a_real_agent_is_corrected_and_goes_on_with_the_same_conversation(
    tmp_path: Path, programs: Path, standin: StandIn, engine: str
) -> None:
    name = f"mayor-{engine}"
    make_repository(tmp_path / "project")
    project = MayorRepo(tmp_path / "project")
    project.corral("init")
    project.configure(CONFIG.format(type=engine, model=MODELS[engine], url=standin.url(name)))
    project.env["PATH"] = f"{programs}:{project.env['PATH']}"
    project.env["CORRAL_TEST_KEY"] = KEY
    good = plan(task("a", brief="x" * 9_000), task("b", needs=["a"]))
    wrong = plan(task("a", needs=["zebra"]))
    steps: list[dict[str, Any]] = [{"op": "say", "texts": ["No plan.", wrong, good], "mark": MARK}]
    before = project.checkout()
    project.corral("mayor", "start", "--task", f"Do it. PLAN {json.dumps(steps)}", "--yes")
    assert project.titles() == {"Do a": "todo", "Do b": "todo"}
    answered = [event["data"] for event in project.of_type("mayor.answered")]
    assert [bool(one.get("problems")) for one in answered] == [True, True, False]
    assert 'there is no task "zebra"' in answered[1]["problems"][0]
    asked = [event["data"] for event in project.of_type("mayor.asked")]
    assert asked[0].get("resume", "") == ""
    assert asked[1]["resume"] == asked[2]["resume"] == answered[0]["thread"] != ""
    assert project.mayor()["tokens"] > 0

    change = plan(task("c"), cancel=["b"])
    write = {"op": "write", "path": "made.txt", "content": "no\n"}
    again = [write, {"op": "say", "text": str(change)}]
    project.corral("mayor", "ask", f"Again. PLAN {json.dumps(again)}", "--yes")
    assert project.titles() == {"Do a": "todo", "Do b": "cancelled", "Do c": "todo"}
    last = project.of_type("mayor.answered")[-1]["data"]
    assert last.get("wrote", []) == [], "it may only look"
    assert project.of_type("mayor.asked")[-1]["data"]["resume"] == answered[0]["thread"]
    assert project.checkout() == before
    assert KEY not in project.here("log", "--json").out
    project.nothing_left()
