"""Codex, headless: one JSON object for each line of its output."""

from typing import Any

from corral.core.engine.facts import Answered, Began, Fact, Finished, Limited, Said, Spent, Used
from corral.world.engines.agents.output import JsonReader, bounded, failed, less
from corral.world.engines.recipe import (
    ENGINE_KEY,
    EngineJob,
    Permission,
    Prepared,
    Recipe,
    Stream,
    dumped,
    given_url,
    keys_for,
    private_home,
    versioned,
)
from corral.world.engines.troubles import retry_of, status_in, trouble_of

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
        # Its sandbox makes folders at the top of whatever may be written, and removes them again:
        # in /tmp, of all sessions at once, so that some failed to write their files.
        "sandbox_workspace_write.exclude_slash_tmp": "true",
    }
    if job.base_url:
        settings["model_provider"] = '"corral"'
        settings["model_providers.corral"] = _provider(job)
    if job.mcp:
        settings[f"mcp_servers.{job.mcp.name}"] = _server(job)
    for name, value in settings.items():
        argv += ["-c", f"{name}={value}"]
    argv += ["--model", job.model] if job.model else []
    argv += [*job.args, *(["resume", job.resume] if job.resume else []), "-"]
    env = {**private_home(job), "CODEX_HOME": f"{job.home}/.codex"}
    return Prepared(
        argv=argv,
        env=env,
        keys=keys_for(job, ENGINE_KEY if job.base_url else "CODEX_API_KEY"),
        folders=(f"{job.home}/.codex",),
        stdin=job.prompt_file,
    )


def _provider(job: EngineJob) -> str:
    return _table(
        name="corral",
        base_url=versioned(job.base_url),
        wire_api="responses",
        stream_idle_timeout_ms=job.idle_s * 1000,
        stream_max_retries=1,
        request_max_retries=1,
        **({"env_key": ENGINE_KEY} if job.key else {}),
    )


def _server(job: EngineJob) -> str:
    assert job.mcp is not None
    # Without "required" the first request leaves before the tools are known.
    given: dict[str, Any] = {"required": True, "default_tools_approval_mode": "approve"}
    if not job.mcp.url:
        return _table(command=job.mcp.command[0], args=list(job.mcp.command[1:]), **given)
    if job.mcp.token:
        given["bearer_token_env_var"] = job.mcp.token
    return _table(url=job.mcp.url, **given)


def _table(**values: Any) -> str:
    """Write an inline table of TOML; for these values its literals are those of JSON."""
    return "{" + ", ".join(f"{name}={dumped(value)}" for name, value in values.items()) + "}"


class CodexReader(JsonReader):
    def event(self, event: dict[str, Any], stream: Stream) -> list[Fact]:
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
                return [less(spent, self.job.before), Finished()]
            case "error":
                text = bounded(event.get("message"))
                if text.startswith("Reconnecting"):
                    return [
                        Limited(
                            trouble_of(status_in(text), text), retry_s=retry_of(text), text=text
                        )
                    ]
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
    upstream=given_url,
    native="@openai/codex-{system}-{cpu}/vendor/{machine}-unknown-linux-musl/bin/codex",
)
