"""The agents that speak the Agent Client Protocol, as data.

Some engines speak it when started with other arguments; others need an adapter, a separate
program. Everything else (a private home, files, the model's address) comes from the recipe.
"""

from collections.abc import Callable
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from corral.core.errors import NotFound
from corral.world.engines.agents.codex import provider
from corral.world.engines.agents.output import dumped
from corral.world.engines.recipe import EngineJob, Permission, Prepared
from corral.world.engines.runners.orders import AcpOrder, McpServer, PermissionPolicy


class AcpAgent(Struct, frozen=True, kw_only=True):
    type: str  # of the engine
    install: str = ""  # how to install the adapter
    args: tuple[str, ...] = ()
    adapter: str = ""  # the program, if the engine does not speak the protocol itself
    modes: dict[PermissionPolicy, str] = field(default_factory=dict)  # its mode for a policy
    sandbox: bool = False  # it relies on its own sandbox, unless we confine it
    model_flag: str = ""  # if the model must be named on the command line
    variables: Callable[[EngineJob], dict[str, str]] = lambda job: {}
    meta: dict[str, Any] = field(default_factory=dict)


_POLICY = {
    Permission.READ: PermissionPolicy.DENY,
    Permission.EDIT: PermissionPolicy.ALLOW_EDITS,
    Permission.ALL: PermissionPolicy.ALLOW,
}
# OpenCode asks only about what its configuration leaves open; our policy is to decide.
_ASKED = dict.fromkeys(("edit", "bash", "webfetch", "external_directory"), "ask")


def _codex(job: EngineJob) -> dict[str, str]:
    config: dict[str, Any] = {
        "check_for_update_on_startup": False,
        "analytics": {"enabled": False},
        "feedback": {"enabled": False},
        "sandbox_workspace_write": {"exclude_slash_tmp": True},  # as in its recipe
    }
    variables = {"CODEX_PATH": job.program[0]}
    if job.base_url:
        config |= {"model_provider": "corral", "model_providers": {"corral": provider(job)}}
        variables["MODEL_PROVIDER"] = "corral"
    if job.model:
        config["model"] = job.model
    return variables | {"CODEX_CONFIG": dumped(config)}


AGENTS: dict[str, AcpAgent] = {
    agent.type: agent
    for agent in (
        AcpAgent(
            type="opencode",
            args=("acp",),
            variables=lambda job: {"OPENCODE_PERMISSION": dumped(_ASKED)},
        ),
        AcpAgent(type="gemini", args=("--acp", "--skip-trust"), model_flag="--model"),
        AcpAgent(type="copilot", args=("--acp", "--no-auto-update", "--disable-builtin-mcps")),
        AcpAgent(
            type="claude-code",
            adapter="claude-agent-acp",
            variables=lambda job: {"CLAUDE_CODE_EXECUTABLE": job.program[0]},
            # By default it would run commands from the repository's settings without asking.
            meta={"claudeCode": {"options": {"settingSources": ["user"], "strictMcpConfig": True}}},
            install="npm install -g @agentclientprotocol/claude-agent-acp",
        ),
        AcpAgent(
            type="codex",
            adapter="codex-acp",
            sandbox=True,  # it asks little
            modes={
                PermissionPolicy.ALLOW: "agent-full-access",
                PermissionPolicy.ALLOW_EDITS: "agent",
                PermissionPolicy.ASK: "read-only",
                PermissionPolicy.DENY: "read-only",
            },
            variables=_codex,
            install="npm install -g @agentclientprotocol/codex-acp",
        ),
        AcpAgent(type="command"),
    )
}


def find(type: str) -> AcpAgent:
    if type not in AGENTS:
        raise NotFound(
            f"engine {type!r} does not speak the Agent Client Protocol",
            f"transport acp is for {', '.join(AGENTS)}",
        )
    return AGENTS[type]


def prepare(
    type: str,
    job: EngineJob,
    recipe: Callable[[EngineJob], Prepared],
    *,
    room: str,
    policy: PermissionPolicy | None = None,
) -> tuple[AcpOrder, Prepared]:
    """Return the order for a job, and what must be prepared before it is carried out.

    The runner takes care of `argv`; `env`, `keys`, `files` and `folders` are handled as for any
    engine.
    """
    agent, mcp = find(type), job.mcp
    policy = policy or _POLICY[job.permission]
    # MCP servers go through the protocol; the recipe would configure them a second time.
    prepared = recipe(replace(job, mcp=None))
    argv = [*((agent.adapter,) if agent.adapter else job.program), *agent.args]
    argv += [agent.model_flag, job.model] if agent.model_flag and job.model else []
    order = AcpOrder(
        room=room,
        argv=(*argv, *job.args),
        resume=job.resume,
        mode=agent.modes.get(
            PermissionPolicy.ALLOW if agent.sandbox and job.confined else policy, ""
        ),
        model="" if agent.model_flag or job.base_url else job.model,
        policy=policy,
        allow=job.allow if job.permission is Permission.EDIT else (),
        mcp=(McpServer(mcp.name, mcp.url, mcp.headers("${NAME}")),) if mcp else (),
        meta=agent.meta,
        turn_s=max(job.idle_s * 2, 60),
    )
    keys = prepared.keys | job.keys()
    env = prepared.env | agent.variables(job)
    return order, replace(prepared, argv=list(order.argv), env=env, keys=keys)
