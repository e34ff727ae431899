"""Gemini CLI, headless: one JSON object for each line of its output."""

import re
from glob import escape
from typing import Any

from corral.core.engine.facts import (
    Answered,
    Began,
    Denied,
    Fact,
    Finished,
    Limited,
    Said,
    Spent,
    Used,
)
from corral.world.engines.agents.output import JsonReader, bounded, failed, paths_of, what_of
from corral.world.engines.recipe import (
    EngineJob,
    Permission,
    Prepared,
    Recipe,
    Stream,
    dumped,
    given_url,
    keys_for,
    private_home,
)
from corral.world.engines.troubles import retry_of, status_in, trouble_of

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
    argv += ["--output-format", "stream-json", *(["--model", job.model] if job.model else [])]
    policy = f"{job.home}/gemini-policy.toml"
    argv += ["--policy", policy] if job.permission is Permission.EDIT else []
    argv += ["--resume", job.resume] if job.resume else []
    argv += ["--session-id", job.new_id] if job.new_id and not job.resume else []
    env = {
        **private_home(job),
        "GEMINI_CLI_HOME": job.home,
        "GEMINI_CLI_NO_RELAUNCH": "true",  # else it starts itself again, and ignores signals
    }
    if job.base_url:
        env["GOOGLE_GEMINI_BASE_URL"] = job.base_url
    return Prepared(
        argv=[*argv, *job.args],
        env=env,
        keys=keys_for(job, "GEMINI_API_KEY"),
        files={
            f"{job.home}/.gemini/settings.json": dumped(_settings(job)),
            policy: "".join(_RULE.format(name=dumped(name)) for name in job.allow),
        },
        names=_record(job),
        stdin=job.prompt_file,
    )


def _record(job: EngineJob) -> dict[str, str]:
    """Give the record of a conversation to be resumed another name than a new one would have.

    That is made of the minute and the conversation. Over the Agent Client Protocol a conversation
    is begun anew before it is loaded: in the same minute, that would empty its record.
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
            # What it finds empty while it starts may be a conversation that is just beginning.
            "sessionRetention": {"enabled": False},
        },
    }
    if job.key:
        settings["security"] = {"auth": {"selectedType": "gemini-api-key"}}
    if job.mcp:
        settings["mcpServers"] = {job.mcp.name: _server(job)}
    return settings


def _server(job: EngineJob) -> dict[str, Any]:
    assert job.mcp is not None
    if not job.mcp.url:
        command = {"command": job.mcp.command[0], "args": list(job.mcp.command[1:])}
        return {**command, "trust": True}
    head = {"Authorization": f"Bearer ${job.mcp.token}"} if job.mcp.token else {}
    return {"httpUrl": job.mcp.url, "headers": head, "trust": True}


class GeminiReader(JsonReader):
    status: int | None = None
    kind = ""

    def event(self, event: dict[str, Any], stream: Stream) -> list[Fact]:
        match event.get("type"):
            case "init":
                return [Began(session=event.get("session_id", ""), model=event.get("model", ""))]
            case "message" if event.get("role") == "assistant":
                return [Said(bounded(event.get("content"), self.job.longest))]
            case "tool_use":
                tool, given = event.get("tool_name", ""), event.get("parameters")
                writes = paths_of(given) if tool in ("write_file", "replace") else ()
                return [Used(tool, what_of(given), writes, event.get("tool_id", ""))]
            case "tool_result":
                call, good = event.get("tool_id", ""), event.get("status") == "success"
                error = event.get("error") or {}
                text = bounded(event.get("output") or error.get("message"))
                denied = [Denied(call)] if error.get("type") == "policy_violation" else []
                return [Answered(call, good, text), *denied]
            case "result":
                return [*self._spent(event.get("stats", {})), self._end(event)]
        return []

    def _spent(self, stats: dict[str, Any]) -> list[Fact]:
        if not stats:
            return []
        return [
            Spent(
                fresh=stats.get("input_tokens", 0) - stats.get("cached", 0),
                cached=stats.get("cached", 0),
                output=stats.get("output_tokens", 0),
                model=next(iter(stats.get("models", {})), ""),
                total=True,
            )
        ]

    def _end(self, event: dict[str, Any]) -> Fact:
        if event.get("status") == "success":
            return Finished()
        said = bounded((event.get("error") or {}).get("message"))
        # The advice that follows speaks of a quota whatever was wrong.
        text = said.partition("\nPlease wait")[0] or "\n".join(self.loose)
        return failed(f"{self.kind} {text}".strip(), self.status or status_in(text))

    def words(self, text: str, stream: Stream) -> list[Fact]:
        """Take what goes to stderr: retries, and what the last error was before its trace."""
        if stream == "out" or text.startswith("at "):
            return []
        self.keep(text)
        if found := _STATUS.match(text):
            self.status = int(found.group(1))
        if "TerminalQuotaError" in text:
            self.kind = "quota:"
        if text.startswith("Attempt ") and "Retrying" in text:
            trouble = trouble_of(status_in(text), text)
            return [Limited(trouble, retry_s=retry_of(text), text=bounded(text))]
        return []


GEMINI = Recipe(
    type="gemini",
    program="gemini",
    prepare=prepare,
    reader=GeminiReader,
    install="npm install -g @google/gemini-cli",
    key="GEMINI_API_KEY",
    upstream=given_url,
)
