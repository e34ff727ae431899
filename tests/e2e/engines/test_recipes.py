"""A profile with an agent's type runs it by its recipe and reads its output."""

import json
import os
import sys
from pathlib import Path

from tests.e2e.engines.engine_repo import QUIET, WORK, EngineRepo, fact
from tests.world.engines.runners import scripted_agent

# Behaves like Claude Code does when it prints JSON: same options, same lines.
AGENT = """\
#!/bin/sh
cat > "$HOME/brief"
echo "$@" > "$HOME/words"
echo '{"type":"system","subtype":"init","session_id":"c-1","model":"claude-x"}'
case "$ANTHROPIC_API_KEY" in good-*) ;; *)
  echo '{"type":"result","subtype":"success","is_error":true,"api_error_status":401,\
"result":"Invalid API key","total_cost_usd":0}'; exit 0;; esac
echo made > made.txt
echo '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"1","name":"Write",\
"input":{"file_path":"made.txt"}}]}}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"done",\
"total_cost_usd":0.5,"modelUsage":{"claude-x":{"inputTokens":10,"outputTokens":2}}}'
exit 1
"""
CONFIG = """\
[engine.default]
type = "claude-code"
command = ["{agent}"]
model = "claude-x"
env = ["ANTHROPIC_API_KEY"]
"""


def test_an_agent_is_run_by_its_recipe_and_what_it_leaves_is_committed(project: EngineRepo) -> None:
    agent = _agent(project)
    project.configure(QUIET + CONFIG.format(agent=agent))
    project.env["ANTHROPIC_API_KEY"] = "good-key-0123"
    task = project.add("Make it")
    project.once()
    assert project.verdict(task) == "proved", project.detail(task)
    assert project.git("show", f"{project.task(task)['commit']}:made.txt") == "made"
    home = project.room(f"{task}.1") / "home"
    assert f"# {task}: Make it" in (home / "brief").read_text()
    words = (home / "words").read_text()
    assert "--output-format stream-json" in words
    assert "good-key" not in words
    assert project.session(f"{task}.1")["thread"] == "c-1"
    assert project.spent()["cost_usd"] == 0.5


def test_a_wrong_key_is_its_own_verdict_though_the_agent_exits_0(project: EngineRepo) -> None:
    agent = _agent(project)
    project.configure(QUIET + CONFIG.format(agent=agent))
    project.env["ANTHROPIC_API_KEY"] = "bad-key-0123"
    task = project.add("Make it")
    project.once()
    assert project.verdict(task) == "refused", project.detail(task)
    assert project.alerts() == {"account_refused": "claude-code:ANTHROPIC_API_KEY"}
    assert os.environ.get("ANTHROPIC_API_KEY") != "bad-key-0123"


def _agent(project: EngineRepo) -> Path:
    path = project.path.parent / "claude"
    path.write_text(AGENT)
    path.chmod(0o755)
    return path


def test_an_agent_is_driven_through_a_protocol_by_a_runner(project: EngineRepo) -> None:
    agent = Path(scripted_agent.__file__)
    command = json.dumps([sys.executable, str(agent), "plain"])
    project.configure(
        f'{QUIET}[engine.default]\ntype = "command"\ntransport = "acp"\ncommand = {command}\n'
    )
    task = project.add("Say something")
    project.once()
    assert project.verdict(task) == "no_change", project.detail(task)
    found = project.session(f"{task}.1")
    assert found["thread"] == "ses-1"
    assert "Say something" in found["engine"]["said"]


def test_a_command_of_the_users_is_judged_by_its_code_unless_it_tells_facts(
    project: EngineRepo,
) -> None:
    project.configure(f'{QUIET}[engine.default]\ntype = "command"\n')
    good = project.script(f"echo working; {WORK}")
    bad = project.script("echo oh no >&2; exit 3")
    limited = project.script(f"{fact('finished', trouble='request', text='400')}; exit 0")
    project.once()
    assert project.verdict(good) == "proved", project.detail(good)
    assert (project.verdict(bad), project.verdict(limited)) == ("crashed", "rejected")
    assert "oh no" in project.detail(bad)
