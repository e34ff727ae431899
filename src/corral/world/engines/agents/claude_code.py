"""Claude Code, headless: one JSON object per line of output."""

from typing import Any

from corral.core.engine import facts as f
from corral.world.engines.agents.output import JsonReader, bounded, dumped, failed, used, what_of
from corral.world.engines.recipe import EngineJob, Mcp, Permission, Prepared, Recipe
from corral.world.engines.relay.usage import spent_of
from corral.world.engines.troubles import trouble_of

_LOOK = ("Read", "Grep", "Glob", "LS")
_WRITE = ("Write", "Edit", "MultiEdit", "NotebookEdit")


def prepare(job: EngineJob) -> Prepared:
    argv = [*job.program, "-p", "--output-format", "stream-json", "--verbose"]
    # The repository's settings could run its code without anybody being asked.
    argv += ["--setting-sources", "user", "--strict-mcp-config"]
    argv += [*_permission(job), *job.model_args, *job.conversation_args]
    if job.budget_usd is not None:
        argv += ["--max-budget-usd", f"{max(job.budget_usd, 0.0001):.4f}"]
    if job.mcp:
        argv += ["--mcp-config", dumped({"mcpServers": {job.mcp.name: _server(job.mcp)}})]
    env = {
        **job.env,
        "CLAUDE_CONFIG_DIR": f"{job.home}/.claude",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "ENABLE_TOOL_SEARCH": "false",  # else our tools are hidden behind a search
        "CLAUDE_CODE_MAX_RETRIES": "1",
        "API_TIMEOUT_MS": str(job.idle_s * 1000),
        "CLAUDE_ENABLE_BYTE_WATCHDOG": "1",
        "CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS": str(job.idle_s * 1000),
    }
    if job.base_url:
        env["ANTHROPIC_BASE_URL"] = job.base_url
    if job.permission is Permission.ALL and job.as_root:
        env["IS_SANDBOX"] = "1"
    return Prepared(
        argv=[*argv, *job.args], env=env, keys=job.keys("ANTHROPIC_API_KEY"), stdin=job.prompt_file
    )


def _permission(job: EngineJob) -> list[str]:
    own = [f"mcp__{job.mcp.name}"] if job.mcp else []
    match job.permission:
        case Permission.ALL:
            return ["--permission-mode", "bypassPermissions"]
        case Permission.EDIT:
            allowed = [*_LOOK, *(f"Bash({name} *)" for name in job.allow), *own]
            return ["--permission-mode", "acceptEdits", "--allowedTools", ",".join(allowed)]
        case Permission.READ:
            return ["--permission-mode", "dontAsk", "--allowedTools", ",".join([*_LOOK, *own])]


def _server(mcp: Mcp) -> dict[str, Any]:
    if not mcp.url:
        return mcp.program
    return {"type": "http", "url": mcp.url, "headers": mcp.headers("${NAME}")}


class ClaudeReader(JsonReader):
    _counted: str | None = None  # the last message whose tokens were counted

    def event(self, event: dict[str, Any]) -> list[f.Fact]:
        match event.get("type"), event.get("subtype"):
            case "system", "init":
                return [
                    f.Began(
                        session=event.get("session_id", ""),
                        model=event.get("model", ""),
                        version=event.get("claude_code_version", ""),
                    )
                ]
            case "system", "api_retry":
                status, text = event.get("error_status"), bounded(event.get("error"))
                wait = event.get("retry_delay_ms")
                # Without a status there was no response at all.
                trouble = trouble_of(status, text) if status else f.Trouble.NETWORK
                return [f.Limited(trouble, retry_s=wait and wait / 1000, text=text)]
            case "rate_limit_event", _:
                return _limit(event["rate_limit_info"])
            case "system", "compact_boundary":
                return [f.Compacted()]
            case "assistant", _:
                return self._said(event["message"])
            case "user", _:
                return [
                    f.Answered(
                        call=part.get("tool_use_id", ""),
                        ok=not part.get("is_error"),
                        text=bounded(part.get("content")),
                    )
                    for part in event["message"]["content"]
                    if isinstance(part, dict) and part.get("type") == "tool_result"
                ]
            case "result", _:
                return self._over(event)
        return []

    def _used(self, message: dict[str, Any]) -> list[f.Fact]:
        """Count a message's tokens during the run; the final event has the exact totals.

        A message arrives in several parts, each of which repeats the same usage.
        """
        model, name = message.get("model", ""), message.get("id")
        spent = spent_of(message.get("usage") or {}, model)
        if not spent or name == self._counted or model == "<synthetic>":
            return []
        self._counted = name
        return [spent]

    def _said(self, message: dict[str, Any]) -> list[f.Fact]:
        facts = self._used(message)
        for part in message.get("content", []):
            if part.get("type") == "text" and message.get("model") != "<synthetic>":
                facts.append(f.Said(bounded(part["text"], self.job.longest)))
            elif part.get("type") == "tool_use":
                tool, call = part["name"], part.get("id", "")
                facts.append(used(tool, part.get("input"), call, writes=tool in _WRITE))
        return facts

    def _over(self, event: dict[str, Any]) -> list[f.Fact]:
        facts: list[f.Fact] = [
            f.Denied(denial.get("tool_name", ""), what_of(denial.get("tool_input")))
            for denial in event.get("permission_denials") or ()
        ]
        models = event.get("modelUsage") or {}
        spent = f.Spent(
            fresh=sum(
                one.get("inputTokens", 0) + one.get("cacheCreationInputTokens", 0)
                for one in models.values()
            ),
            cached=sum(one.get("cacheReadInputTokens", 0) for one in models.values()),
            output=sum(one.get("outputTokens", 0) for one in models.values()),
            cost_usd=event.get("total_cost_usd"),
            model=next(iter(models), ""),
            total=True,
        )
        facts.append(self.own(spent))
        text = bounded(event.get("result") or event.get("errors"))
        reason = str(event.get("terminal_reason") or event.get("subtype") or "")
        if not event.get("is_error"):
            return [*facts, f.Finished(text=text)]
        return [*facts, failed(f"{reason}: {text}", event.get("api_error_status"))]


def _limit(info: dict[str, Any]) -> list[f.Fact]:
    """Read the account's rate limit event; these also come while the limit is not reached."""
    reset = info.get("resetsAt")
    if info.get("status") != "rejected" or not isinstance(reset, int | float):
        return []
    text = f"limit reached ({info.get('rateLimitType') or 'unknown'})"
    return [f.Limited(f.Trouble.QUOTA, reset_at=int(reset * 1000), text=text)]


CLAUDE_CODE = Recipe(
    type="claude-code",
    program="claude",
    prepare=prepare,
    reader=ClaudeReader,
    install="npm install -g @anthropic-ai/claude-code",
    key="ANTHROPIC_API_KEY",
    records=True,
    native="@anthropic-ai/claude-code-{system}-{cpu}/claude",
    cost=True,
)
