"""Real agents started by hand: each claims a task and uses all the tools.

They run outside of the witness, as somebody would start them by hand, and know the server only from
their own configuration of MCP: two over HTTP, two over the bridge. Each hands a task to the next.
"""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

from corral.core.engine.facts import Answered, Used
from corral.world import keys
from corral.world.engines.recipe import Mcp, Permission
from corral.world.engines.registry import find
from tests.e2e.corral_command import CORRAL
from tests.e2e.engines.engine_repo import QUIET, EngineRepo, make_engine_repo
from tests.engines.engine_tree import EngineTree, Outcome, plan
from tests.engines.test_tools import up
from tests.standin.server import StandIn

RUNNERS = {"claude-code": "http", "codex": "http", "gemini": "pipe", "opencode": "pipe"}
TOOLS = {
    *("status", "claim", "progress", "lease", "release", "inbox", "message", "add_task", "why"),
    *("submit", "hand_off"),
}
_SHOWN = r'"token": ?"(\d+)"'  # in the answer to a claim, or to a lease
_COMMIT = r"(?<![0-9a-f])[0-9a-f]{40}(?![0-9a-f])"


class RelayedEngineTree(EngineTree):
    """An engine in a working tree that a person has made for it."""

    def __init__(self, project: EngineRepo, name: str, standin: StandIn, programs: Path) -> None:
        self.recipe = find(name)
        self.place = project.path.parent / name
        self.tree, self.home = self.place / "tree", self.place / "home"
        self._base_url = standin.url(f"relay-{name}")
        self._path = f"{programs}:{project.env['PATH']}"
        self._ranch = project
        project.git("worktree", "add", "-q", "-b", f"by-{name}", str(self.tree), "main")

    def start(self, brief: str) -> Outcome:
        return self.run(self.job(brief, permission=Permission.ALL, **self._tools()), limit_s=300)

    def _tools(self) -> dict[str, Any]:
        """Return how to configure the engine for the server, following its documentation."""
        name = self.recipe.type
        if RUNNERS[name] == "pipe":
            words = (CORRAL, "mcp", "--as", name, "--repo", str(self._ranch.path))
            return {"mcp": Mcp(command=words)}
        url = json.loads((self._ranch.folder / "server.json").read_text())["url"] + "/mcp"
        if name == "codex":
            table = f'{{url="{url}", bearer_token_env_var="CORRAL_TEST_TOKEN", required=true,'
            table += f' http_headers={{"Corral-Actor"="{name}"}},'
            table += ' default_tools_approval_mode="approve"}'
            return {"args": ("-c", f"mcp_servers.corral={table}")}
        head = {"Authorization": "Bearer ${CORRAL_TEST_TOKEN}", "Corral-Actor": name}
        server = {"type": "http", "url": url, "headers": head}
        config = json.dumps({"mcpServers": {"corral": server}})
        return {"args": ("--mcp-config", config)}

    def _env(self) -> dict[str, str]:
        return {**super()._env(), "CORRAL_TEST_TOKEN": keys.read(str(self._ranch.folder / "token"))}


def call(tool: str, **args: Any) -> dict[str, Any]:
    return {"op": "call", "tool": tool, "args": args}


def commit(file: str) -> dict[str, Any]:
    words = f"echo {file} > {file} && git add -A && git commit -qm {file} && git rev-parse HEAD"
    return {"op": "run", "cmd": words}


def steps(name: str, own: str, baton: str, after: str, next_task: str) -> str:
    """What one runner does: all of its own task, then the baton, for `after` if there is one."""
    own_token, lease_token, baton_token = (f"{{{{{n} {_SHOWN}}}}}" for n in range(3))
    newest = f"{{{{-1 {_COMMIT}}}}}"
    if after:
        pass_on = [call("hand_off", task=baton, to=after, note=f"by {name}", token=baton_token)]
    else:
        handed_in = call("submit", task=baton, token=baton_token, commit=newest)
        pass_on = [commit("baton.py"), handed_in]
    return plan(
        call("status"),
        call("claim"),
        call("progress", text=f"{name} is at it", task=own),
        call("lease", resource=f"service:{name}"),
        call("release", resource=f"service:{name}", token=lease_token),
        call("inbox"),
        call("message", to=next_task or "people", text=f"greetings from {name}"),
        call("add_task", title=f"Follow-up of {name}", assignee="nobody"),
        call("why", task=own),
        commit(f"{name}.py"),
        call("submit", task=own, token=own_token, commit=newest),
        call("claim", task=baton),
        *pass_on,
        {"op": "say", "text": "Done."},
    )


def test_four_agents_work_off_a_board_by_themselves_and_all_of_it_lands(
    tmp_path: Path, programs: Path, standin: StandIn
) -> None:
    project = make_engine_repo(tmp_path / "project", QUIET)
    names = list(RUNNERS)
    own = {name: project.add(f"Write {name}.py", "--for", name) for name in names}
    baton = project.add("Write baton.py", "--for", names[0])
    with up(project):
        for name, after in zip(names, [*names[1:], ""], strict=True):
            runner = RelayedEngineTree(project, name, standin, programs)
            brief = steps(name, own[name], baton, after, own.get(after, ""))
            outcome = runner.start(brief)
            assert outcome.code == 0, (name, outcome.facts[-5:])
            assert all(answer.ok for answer in outcome.all(Answered)), (name, outcome.facts)
            used = {
                tool for tool in TOOLS for fact in outcome.all(Used) if fact.tool.endswith(tool)
            }
            assert used == (TOOLS if after else TOOLS - {"hand_off"}), name
        _check_log(project, own, baton)
    project.patient(200, "refinery", "run", "--once")
    landed = {event["data"]["task"] for event in project.of_type("task.landed")}
    assert landed == {*own.values(), baton}
    files = project.git("ls-tree", "--name-only", "convoy/project/trunk").split()
    assert {*(f"{name}.py" for name in names), "baton.py"} <= set(files)


def _check_log(project: EngineRepo, own: dict[str, str], baton: str) -> None:
    """Each did each of it, under its own name, and once."""
    names = list(own)
    claims = [(e["data"]["task"], e["data"]["holder"]) for e in project.of_type("task.claimed")]
    assert claims == [pair for name in names for pair in ((own[name], name), (baton, name))]
    for kind in ("lease.acquired", "lease.released", "message.sent", "task.commented"):
        assert [e["actor"] for e in project.of_type(kind)] == names, kind
    handed = [(e["actor"], e["data"]["to"]) for e in project.of_type("task.handed_off")]
    assert handed == list(pairwise(names))
    submitted = [e["actor"] for e in project.of_type("task.submitted")]
    assert submitted == [*names, names[-1]]
    read = [(e["actor"], e["data"]["reader"]) for e in project.of_type("message.delivered")]
    assert read == [(name, name) for name in names[1:]]
    added = [e["actor"] for e in project.of_type("task.added") if "Follow-up" in e["data"]["title"]]
    assert added == names
