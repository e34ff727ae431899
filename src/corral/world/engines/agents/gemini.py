"""Gemini CLI, headless: one JSON object per line of output."""

import re
from glob import escape
from typing import Any

from corral.core.engine import facts as f
from corral.world.engines.agents.output import JsonReader, bounded, dumped, failed, retried, used
from corral.world.engines.recipe import EngineJob, Mcp, Permission, Prepared, Recipe
from corral.world.engines.troubles import status_in

_MODE = {Permission.READ: "plan", Permission.EDIT: "auto_edit", Permission.ALL: "yolo"}

_STATUS = re.compile(r"status: (\d{3})\b")
_RULE = """\
[[rule]]
toolName = "run_shell_command"
commandPrefix = {name}
decision = "allow"
priority = 200
"""


def prepare(job: EngineJob) -> Prepared:
    argv = [*job.program, "--skip-trust", "--approval-mode", _MODE[job.permission]]
    argv += ["--output-format", "stream-json", *job.model_args]
    policy = f"{job.home}/gemini-policy.toml"
    argv += ["--policy", policy] if job.permission is Permission.EDIT else []
    argv += job.conversation_args
    env = {
        **job.env,
        "GEMINI_CLI_HOME": job.home,
        "GEMINI_CLI_NO_RELAUNCH": "true",  # else it restarts itself and ignores signals
    }
    if job.base_url:
        env["GOOGLE_GEMINI_BASE_URL"] = job.base_url
    return Prepared(
        argv=[*argv, *job.args],
        env=env,
        keys=job.keys("GEMINI_API_KEY"),
        files={
            f"{job.home}/.gemini/settings.json": dumped(_settings(job)),
            policy: "".join(_RULE.format(name=dumped(name)) for name in job.allow),
        },
        names=_record(job),
        stdin=job.prompt_file,
    )


def _record(job: EngineJob) -> dict[str, str]:
    """Rename the record of a conversation to be resumed, so that a new one cannot overwrite it.

    A record is named after the minute and the conversation. Over the Agent Client Protocol a
    conversation is created before it is loaded: within the same minute, that would empty it.
    """
    start = job.resume[:8]
    if not start.isalnum():
        return {}
    records = f"{escape(job.home)}/.gemini/tmp/*/chats"
    return {f"{records}/session-*-{start}.jsonl": f"session-0-{start}.jsonl"}


def _settings(job: EngineJob) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "general": {
            "enableAutoUpdate": False,
            "enableAutoUpdateNotification": False,
            "maxAttempts": 2,
            # It would delete empty records at start-up, which may belong to a new conversation.
            "sessionRetention": {"enabled": False},
        },
    }
    if job.key:
        settings["security"] = {"auth": {"selectedType": "gemini-api-key"}}
    if job.mcp:
        settings["mcpServers"] = {job.mcp.name: _server(job.mcp)}
    return settings


def _server(mcp: Mcp) -> dict[str, Any]:
    if not mcp.url:
        return {**mcp.program, "trust": True}
    return {"httpUrl": mcp.url, "headers": mcp.headers("$NAME"), "trust": True}


class GeminiReader(JsonReader):
    status: int | None = None
    kind = ""

    def event(self, event: dict[str, Any]) -> list[f.Fact]:
        match event.get("type"):
            case "init":
                return [f.Began(session=event.get("session_id", ""), model=event.get("model", ""))]
            case "message" if event.get("role") == "assistant":
                return [f.Said(bounded(event.get("content"), self.job.longest))]
            case "tool_use":
                tool, call = event.get("tool_name", ""), event.get("tool_id", "")
                writes = tool in ("write_file", "replace")
                return [used(tool, event.get("parameters"), call, writes=writes)]
            case "tool_result":
                call, good = event.get("tool_id", ""), event.get("status") == "success"
                error = event.get("error") or {}
                text = bounded(event.get("output") or error.get("message"))
                denied = [f.Denied(call)] if error.get("type") == "policy_violation" else []
                return [f.Answered(call, good, text), *denied]
            case "result":
                return [*self._spent(event.get("stats", {})), self._end(event)]
        return []

    def _spent(self, stats: dict[str, Any]) -> list[f.Fact]:
        if not stats:
            return []
        return [
            f.Spent(
                fresh=stats.get("input_tokens", 0) - stats.get("cached", 0),
                cached=stats.get("cached", 0),
                output=stats.get("output_tokens", 0),
                model=next(iter(stats.get("models", {})), ""),
                total=True,
            )
        ]

    def _end(self, event: dict[str, Any]) -> f.Fact:
        if event.get("status") == "success":
            return f.Finished()
        said = bounded((event.get("error") or {}).get("message"))
        # The advice after it mentions a quota, whatever the error was.
        text = said.partition("\nPlease wait")[0] or "\n".join(self.loose)
        return failed(f"{self.kind} {text}".strip(), self.status or status_in(text))

    def words(self, text: str) -> list[f.Fact]:
        """Read stderr: retries, and the last error before its stack trace."""
        if self.stream == "out" or text.startswith("at "):
            return []
        self.keep(text)
        if found := _STATUS.match(text):
            self.status = int(found.group(1))
        if "TerminalQuotaError" in text:
            self.kind = "quota:"
        return [retried(text)] if text.startswith("Attempt ") and "Retrying" in text else []


GEMINI = Recipe(
    type="gemini",
    program="gemini",
    prepare=prepare,
    reader=GeminiReader,
    install="npm install -g @google/gemini-cli",
    key="GEMINI_API_KEY",
)
