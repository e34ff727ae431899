"""OpenCode, headless: one JSON object per line of output."""

import re
from typing import Any

from corral.core.engine import facts as f
from corral.world.engines.agents.output import JsonReader, bounded, dumped, failed, used, what_of
from corral.world.engines.recipe import ENGINE_KEY, EngineJob, Mcp, Permission, Prepared, Recipe
from corral.world.engines.troubles import trouble_of

_LOGGED = re.compile(r'error\.error="(.*)"')
_MODEL = "gpt-4o"


def prepare(job: EngineJob) -> Prepared:
    argv = [*job.program, "run", "--format", "json", "--title", job.session]
    argv += ["--print-logs", "--log-level", "WARN"]
    argv += ["--auto"] if job.permission is Permission.ALL else []
    argv += ["--session", job.resume] if job.resume else []
    model = f"corral/{job.model or _MODEL}" if job.base_url else job.model
    argv += [*(["--model", model] if model else []), *job.args]
    env = {
        **job.env,
        "OPENCODE_CONFIG_CONTENT": dumped(_config(job, model)),
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_DISABLE_PROJECT_CONFIG": "1",  # it could load plugins, which are code
        "OPENCODE_DISABLE_CLAUDE_CODE": "1",
        "OPENCODE_PURE": "1",
        "npm_config_registry": "http://127.0.0.1:9/",  # unused port: else it looks for plugins
    }
    keys = job.keys(ENGINE_KEY if job.base_url else job.key)
    return Prepared(argv=argv, env=env, keys=keys, stdin=job.prompt_file)


def _config(job: EngineJob, model: str) -> dict[str, Any]:
    config = {"autoupdate": False, "share": "disabled", "permission": _permission(job)}
    if model:
        config |= {"model": model, "small_model": model}
    if job.base_url:
        options: dict[str, Any] = {"baseURL": job.openai_url, "timeout": job.idle_s * 1000}
        if job.key:
            options["apiKey"] = f"{{env:{ENGINE_KEY}}}"
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "options": options,
            "models": {job.model or _MODEL: {"limit": {"context": 200_000, "output": 16_000}}},
        }
        config |= {"provider": {"corral": provider}, "enabled_providers": ["corral"]}
    if job.mcp:
        config["mcp"] = {job.mcp.name: _server(job.mcp)}
    return config


def _permission(job: EngineJob) -> dict[str, Any]:
    match job.permission:
        case Permission.ALL:
            return {"*": "allow"}
        case Permission.EDIT:
            shell = {"*": "deny", **{f"{name} *": "allow" for name in job.allow}}
            return {"edit": "allow", "bash": shell, "external_directory": "deny"}
        case Permission.READ:
            return {"edit": "deny", "bash": "deny", "external_directory": "deny"}


def _server(mcp: Mcp) -> dict[str, Any]:
    if not mcp.url:
        return {"type": "local", "command": list(mcp.command)}
    return {"type": "remote", "url": mcp.url, "headers": mcp.headers("{env:NAME}"), "oauth": False}


class OpencodeReader(JsonReader):
    begun = False
    overflowed = False  # and no tool was used since
    stopped = False  # a step said so, but it may still go on

    def event(self, event: dict[str, Any]) -> list[f.Fact]:
        facts: list[f.Fact] = []
        if not self.begun and event.get("sessionID"):
            self.begun = True
            facts.append(f.Began(session=event["sessionID"], model=self.job.model))
        part = event.get("part", {})
        match event.get("type"):
            case "text":
                facts.append(f.Said(bounded(part.get("text"), self.job.longest)))
            case "tool_use":
                self.overflowed = self.stopped = False
                facts += self._tool(part)
            case "step_finish":
                facts += self._step(part)
            case "error":
                facts.append(self._error(event.get("error", {})))
        return facts

    def _tool(self, part: dict[str, Any]) -> list[f.Fact]:
        tool, call, state = part.get("tool", ""), part.get("callID", ""), part.get("state", {})
        given = state.get("input")
        good = state.get("status") == "completed"
        text = bounded(state.get("output") if good else state.get("error"))
        refused = not good and "rule which prevents" in text
        return [
            used(tool, given, call, writes=tool in ("write", "edit", "patch")),
            f.Answered(call, good, text),
            *([f.Denied(tool, what_of(given))] if refused else ()),
        ]

    def _step(self, part: dict[str, Any]) -> list[f.Fact]:
        tokens = part.get("tokens", {})
        cache = tokens.get("cache", {})
        spent = f.Spent(
            fresh=tokens.get("input", 0) + cache.get("write", 0),
            cached=cache.get("read", 0),
            output=tokens.get("output", 0) + tokens.get("reasoning", 0),
            cost_usd=part.get("cost") or None,
            model=self.job.model,
        )
        over = part.get("reason") not in ("tool-calls", "tool_calls")
        if over and self.overflowed:  # perhaps it only compacted the conversation
            self.stopped = True
            return [spent]
        return [spent, f.Finished()] if over else [spent]

    def _error(self, error: dict[str, Any]) -> f.Fact:
        data = error.get("data", {})
        name = error.get("name", "")
        ended = failed(f"{name}: {data.get('message', '')}", data.get("statusCode"))
        if name == "ContextOverflowError" and not self.overflowed:
            # Not the end: it compacts the conversation and retries. It would do so forever, so a
            # second overflow without any work in between is the end.
            self.overflowed, self.stopped = True, False
            return f.Limited(f.Trouble.OVERFLOW, text=ended.text)
        return ended

    def unended(self) -> list[f.Fact]:
        return [f.Finished()] if self.stopped else super().unended()

    def words(self, text: str) -> list[f.Fact]:
        """Read its log, the only place where it reports retries."""
        found = _LOGGED.search(text)
        if found and 'message="stream error"' in text:
            trouble = trouble_of(None, found.group(1))
            # There is no status here; an error that is final does not come this way.
            passing = f.Trouble.NETWORK if trouble is f.Trouble.OTHER else trouble
            return [f.Limited(passing, text=bounded(found.group(1)))]
        if not text.startswith("timestamp="):
            self.keep(text)
        return []


OPENCODE = Recipe(
    type="opencode",
    program="opencode",
    prepare=prepare,
    reader=OpencodeReader,
    install="npm install -g opencode-ai",
    native="opencode-{system}-{cpu}/bin/opencode",
    first_output_s=240,
    counts=True,
)
