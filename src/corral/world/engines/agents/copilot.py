"""GitHub Copilot CLI, headless: JSON lines, and a file with the usage."""

from typing import Any

from corral.core.engine import facts as f
from corral.world.engines.agents.output import JsonReader, bounded, dumped, failed, stored, used
from corral.world.engines.recipe import EngineJob, Mcp, Permission, Prepared, Recipe
from corral.world.engines.troubles import trouble_of

_MODEL = "gpt-4o"


def prepare(job: EngineJob) -> Prepared:
    argv = [*job.program, "--no-ask-user", "--no-auto-update", "--disable-builtin-mcps"]
    argv += ["--no-color", "--output-format", "json", "--usage-output-file", _usage_file(job)]
    argv += [*_permission(job), "--disallow-temp-dir"]
    argv += ["=".join(job.conversation_args)] if job.conversation_args else []
    env = {**job.env, "COPILOT_HOME": f"{job.home}/.copilot"}
    if job.unpacked:  # else it unpacks 235 MB into each home
        env["COPILOT_PKG_CACHE_HOME"] = job.unpacked
    if job.base_url:
        env |= {
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_BASE_URL": job.openai_url,
            "COPILOT_MODEL": job.model or _MODEL,
        }
    else:
        argv += job.model_args
    if job.mcp:
        server = dumped({"mcpServers": {job.mcp.name: _server(job.mcp)}})
        argv += ["--additional-mcp-config", server]
    keys = job.keys("COPILOT_PROVIDER_API_KEY" if job.base_url else "COPILOT_GITHUB_TOKEN")
    return Prepared(argv=[*argv, *job.args], env=env, keys=keys, stdin=job.prompt_file)


def _usage_file(job: EngineJob) -> str:
    return f"{job.home}/copilot-usage.json"


def _permission(job: EngineJob) -> list[str]:
    own = [f"--allow-tool={job.mcp.name}"] if job.mcp else []
    match job.permission:
        case Permission.ALL:
            return ["--allow-all"]
        case Permission.EDIT:
            commands = [f"--allow-tool=shell({name}:*)" for name in job.allow]
            return ["--allow-tool=write", *commands, *own]
        case Permission.READ:
            return ["--deny-tool=write", "--deny-tool=shell", *own]


def _server(mcp: Mcp) -> dict[str, Any]:
    if not mcp.url:
        return {"type": "local", **mcp.program, "tools": ["*"]}
    return {"type": "http", "url": mcp.url, "headers": mcp.headers("${NAME}"), "tools": ["*"]}


class CopilotReader(JsonReader):
    begun = False
    error: f.Finished | None = None

    def event(self, event: dict[str, Any]) -> list[f.Fact]:
        data = event.get("data") or {}
        match event.get("type"):
            case "user.message" if not self.begun:
                self.begun = True
                return [f.Began(session=self.job.resume or self.job.new_id, model=self.job.model)]
            case "assistant.message" if data.get("content"):
                return [f.Said(bounded(data["content"], self.job.longest))]
            case "tool.execution_start":
                tool, call = data.get("toolName", ""), data.get("toolCallId", "")
                return [used(tool, data.get("arguments"), call)]
            case "tool.execution_complete":
                return self._answered(data)
            case "model.call_failure":
                text = bounded(data.get("errorMessage"))
                return [f.Limited(trouble_of(data.get("statusCode"), text), text=text)]
            case "session.compaction_complete":
                return [f.Compacted()]
            case "session.error":
                self.error = failed(bounded(data.get("message")), data.get("statusCode"))
            case "result":
                good = event.get("exitCode") == 0 and self.error is None
                return [f.Finished() if good else self.error or failed("\n".join(self.loose))]
        return []

    def _answered(self, data: dict[str, Any]) -> list[f.Fact]:
        call, error = data.get("toolCallId", ""), data.get("error") or {}
        paths = tuple(edit.get("path", "") for edit in data.get("fileEdits") or ())
        facts: list[f.Fact] = [f.Used("write", " ".join(paths), paths, call)] if paths else []
        text = error.get("message") or (data.get("result") or {}).get("content")
        facts.append(f.Answered(call, bool(data.get("success")), bounded(text)))
        if error.get("code") == "denied":
            facts.append(f.Denied(data.get("toolName", ""), call))
        return facts

    def late(self) -> list[f.Fact]:
        models = stored(_usage_file(self.job)).get("modelMetrics") or {}
        all_used = [metrics.get("usage", {}) for metrics in models.values()]
        if not all_used:
            return []
        cached = sum(one.get("cacheReadTokens", 0) for one in all_used)
        spent = f.Spent(
            fresh=sum(one.get("inputTokens", 0) for one in all_used) - cached,
            cached=cached,
            output=sum(one.get("outputTokens", 0) for one in all_used),
            model=next(iter(models)),
            total=True,
        )
        return [self.own(spent)]


COPILOT = Recipe(
    type="copilot",
    program="copilot",
    prepare=prepare,
    reader=CopilotReader,
    install="npm install -g @github/copilot",
    key="COPILOT_GITHUB_TOKEN",
    native="@github/copilot-{system}-{cpu}/copilot",
)
