"""Codex, headless: one JSON object per line of output."""

from typing import Any

from corral.core.engine.facts import Answered, Began, Fact, Finished, Said, Spent, Used
from corral.world.engines.agents.output import JsonReader, bounded, dumped, failed, retried
from corral.world.engines.recipe import ENGINE_KEY, EngineJob, Mcp, Permission, Prepared, Recipe

_SANDBOX = {
    Permission.READ: ["--sandbox", "read-only"],
    Permission.EDIT: ["--sandbox", "workspace-write"],
    Permission.ALL: ["--dangerously-bypass-approvals-and-sandbox"],
}


def prepare(job: EngineJob) -> Prepared:
    permission = Permission.ALL if job.confined else job.permission
    argv = [*job.program, "exec", "--json", "--skip-git-repo-check", *_SANDBOX[permission]]
    argv += ["--disable", "plugins", "--disable", "apps"]
    settings = {
        "check_for_update_on_startup": "false",
        "analytics.enabled": "false",
        "feedback.enabled": "false",
        # Its sandbox creates and removes folders at the top of every writable path. In /tmp, the
        # sandboxes of concurrent sessions removed each other's, and some could not write files.
        "sandbox_workspace_write.exclude_slash_tmp": "true",
    }
    if job.base_url:
        settings["model_provider"] = '"corral"'
        settings["model_providers.corral"] = _table(provider(job))
    if job.mcp:
        settings[f"mcp_servers.{job.mcp.name}"] = _server(job.mcp)
    for name, value in settings.items():
        argv += ["-c", f"{name}={value}"]
    argv += [*job.model_args, *job.args, *(["resume", job.resume] if job.resume else []), "-"]
    return Prepared(
        argv=argv,
        env={**job.env, "CODEX_HOME": f"{job.home}/.codex"},
        keys=job.keys(ENGINE_KEY if job.base_url else "CODEX_API_KEY"),
        folders=(f"{job.home}/.codex",),
        stdin=job.prompt_file,
    )


def provider(job: EngineJob) -> dict[str, Any]:
    return {
        "name": "corral",
        "base_url": job.openai_url,
        "wire_api": "responses",
        "stream_idle_timeout_ms": job.idle_s * 1000,
        "stream_max_retries": 1,
        "request_max_retries": 1,
        **({"env_key": ENGINE_KEY} if job.key else {}),
    }


def _server(mcp: Mcp) -> str:
    # Without "required" the first request is sent before the tools are known.
    given = {"required": True, "default_tools_approval_mode": "approve"}
    token = {"bearer_token_env_var": mcp.token} if mcp.token else {}
    return _table({"url": mcp.url, **given, **token} if mcp.url else {**mcp.program, **given})


def _table(values: dict[str, Any]) -> str:
    """Write an inline TOML table; for these values TOML's literals are those of JSON."""
    return "{" + ", ".join(f"{name}={dumped(value)}" for name, value in values.items()) + "}"


class CodexReader(JsonReader):
    def event(self, event: dict[str, Any]) -> list[Fact]:
        match event.get("type"):
            case "thread.started":
                return [Began(session=event.get("thread_id", ""), model=self.job.model)]
            case "item.started" | "item.completed":
                return self._item(event["item"], done=event["type"] == "item.completed")
            case "turn.completed":
                used = event.get("usage", {})
                cached = used.get("cached_input_tokens", 0)
                spent = Spent(
                    fresh=used.get("input_tokens", 0) - cached,
                    cached=cached,
                    output=used.get("output_tokens", 0),
                    model=self.job.model,
                    total=True,
                )
                return [self.own(spent), Finished()]
            case "error":
                text = bounded(event.get("message"))
                if text.startswith("Reconnecting"):
                    return [retried(text)]
                self.keep(text)
            case "turn.failed":
                return [failed(bounded(event.get("error", {}).get("message")))]
        return []

    def _item(self, item: dict[str, Any], done: bool) -> list[Fact]:
        call = item.get("id", "")
        match item.get("type"):
            case "agent_message" if done:
                return [Said(bounded(item.get("text"), self.job.longest))]
            case "command_execution" if not done:
                return [Used("shell", bounded(item.get("command"), 400), call=call)]
            case "command_execution":
                good = item.get("exit_code") == 0
                return [Answered(call, good, bounded(item.get("aggregated_output")))]
            case "file_change" if done:
                paths = tuple(change.get("path", "") for change in item.get("changes", []))
                good = item.get("status") == "completed"
                return [Used("patch", " ".join(paths), paths, call), Answered(call, good)]
            case "mcp_tool_call" if not done:
                given = bounded(item.get("arguments"), 400)
                return [Used(f"{item.get('server')}.{item.get('tool')}", given, call=call)]
            case "mcp_tool_call":
                result = item.get("result") or item.get("error")
                return [Answered(call, item.get("status") == "completed", bounded(result))]
        return []


CODEX = Recipe(
    type="codex",
    program="codex",
    prepare=prepare,
    reader=CodexReader,
    install="npm install -g @openai/codex",
    key="OPENAI_API_KEY",
    records=True,
    native="@openai/codex-{system}-{cpu}/vendor/{machine}-unknown-linux-musl/bin/codex",
)
