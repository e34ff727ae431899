"""OpenCode, headless: one JSON object for each line of its output."""

import re
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
    Trouble,
    Used,
)
from corral.world.engines.agents.output import JsonReader, bounded, failed, paths_of, what_of
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
from corral.world.engines.troubles import trouble_of

_LOGGED = re.compile(r'error\.error="(.*)"')
_MODEL = "gpt-4o"


def prepare(job: EngineJob) -> Prepared:
    argv = [
        *job.program,
        "run",
        "--format",
        "json",
        "--title",
        job.session,
        "--print-logs",
        "--log-level",
        "WARN",
    ]
    argv += ["--auto"] if job.permission is Permission.ALL else []
    argv += ["--session", job.resume] if job.resume else []
    model = f"corral/{job.model or _MODEL}" if job.base_url else job.model
    argv += [*(["--model", model] if model else []), *job.args]
    env = {
        **private_home(job),
        "OPENCODE_CONFIG_CONTENT": dumped(_config(job, model)),
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        "OPENCODE_DISABLE_PROJECT_CONFIG": "1",  # it could name plugins, which are code
        "OPENCODE_DISABLE_CLAUDE_CODE": "1",
        "OPENCODE_PURE": "1",
        "npm_config_registry": "http://127.0.0.1:9/",  # nothing there: it looks for plugins
    }
    keys = keys_for(job, ENGINE_KEY if job.base_url else job.key)
    return Prepared(argv=argv, env=env, keys=keys, stdin=job.prompt_file)


def _config(job: EngineJob, model: str) -> dict[str, Any]:
    config: dict[str, Any] = {
        "autoupdate": False,
        "share": "disabled",
        "permission": _permission(job),
    }
    if model:
        config |= {"model": model, "small_model": model}
    if job.base_url:
        options: dict[str, Any] = {
            "baseURL": versioned(job.base_url),
            "timeout": job.idle_s * 1000,
        }
        if job.key:
            options["apiKey"] = f"{{env:{ENGINE_KEY}}}"
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "options": options,
            "models": {job.model or _MODEL: {"limit": {"context": 200_000, "output": 16_000}}},
        }
        config |= {"provider": {"corral": provider}, "enabled_providers": ["corral"]}
    if job.mcp:
        config["mcp"] = {job.mcp.name: _server(job)}
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


def _server(job: EngineJob) -> dict[str, Any]:
    assert job.mcp is not None
    if not job.mcp.url:
        return {"type": "local", "command": list(job.mcp.command)}
    head = {"Authorization": f"Bearer {{env:{job.mcp.token}}}"} if job.mcp.token else {}
    return {"type": "remote", "url": job.mcp.url, "headers": head, "oauth": False}


class OpencodeReader(JsonReader):
    begun = False
    overflowed = False  # and nothing was done since
    stopped = False  # a step said so, after which it may still go on

    def event(self, event: dict[str, Any], stream: Stream) -> list[Fact]:
        facts: list[Fact] = []
        if not self.begun and event.get("sessionID"):
            self.begun = True
            facts.append(Began(session=event["sessionID"], model=self.job.model))
        part = event.get("part", {})
        match event.get("type"):
            case "text":
                facts.append(Said(bounded(part.get("text"), self.job.longest)))
            case "tool_use":
                self.overflowed = self.stopped = False
                facts += self._tool(part)
            case "step_finish":
                facts += self._step(part)
            case "error":
                facts.append(self._error(event.get("error", {})))
        return facts

    def _tool(self, part: dict[str, Any]) -> list[Fact]:
        tool, call, state = part.get("tool", ""), part.get("callID", ""), part.get("state", {})
        given = state.get("input")
        writes = paths_of(given) if tool in ("write", "edit", "patch") else ()
        good = state.get("status") == "completed"
        text = bounded(state.get("output") if good else state.get("error"))
        facts: list[Fact] = [Used(tool, what_of(given), writes, call), Answered(call, good, text)]
        if not good and "rule which prevents" in text:
            facts.append(Denied(tool, what_of(given)))
        return facts

    def _step(self, part: dict[str, Any]) -> list[Fact]:
        tokens = part.get("tokens", {})
        cache = tokens.get("cache", {})
        spent = Spent(
            fresh=tokens.get("input", 0) + cache.get("write", 0),
            cached=cache.get("read", 0),
            output=tokens.get("output", 0) + tokens.get("reasoning", 0),
            cost_usd=part.get("cost") or None,
            model=self.job.model,
        )
        over = part.get("reason") not in ("tool-calls", "tool_calls")
        if over and self.overflowed:  # perhaps it has only shortened the conversation
            self.stopped = True
            return [spent]
        return [spent, Finished()] if over else [spent]

    def _error(self, error: dict[str, Any]) -> Fact:
        data = error.get("data", {})
        name = error.get("name", "")
        ended = failed(f"{name}: {data.get('message', '')}", data.get("statusCode"))
        if name == "ContextOverflowError" and not self.overflowed:
            # Not its end: it shortens the conversation and tries again. It would do that for ever,
            # though: if it could do nothing since the last time, it is over.
            self.overflowed, self.stopped = True, False
            return Limited(Trouble.OVERFLOW, text=ended.text)
        return ended

    def unended(self) -> list[Fact]:
        return [Finished()] if self.stopped else super().unended()

    def words(self, text: str, stream: Stream) -> list[Fact]:
        """While it tries again, it says so only in its log."""
        found = _LOGGED.search(text)
        if found and 'message="stream error"' in text:
            trouble = trouble_of(None, found.group(1))
            # It has words only; what it knows to be final does not come this way.
            passing = Trouble.NETWORK if trouble is Trouble.OTHER else trouble
            return [Limited(passing, text=bounded(found.group(1)))]
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
    upstream=given_url,
)
