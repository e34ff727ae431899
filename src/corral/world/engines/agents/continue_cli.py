"""Continue's `cn`, headless: the final answer on stdout, errors on stderr, the rest in a file.

It has no mode that allows only some commands: without `--auto` it withholds the tool that writes
files, but still runs every command. It prints nothing during a run, not even about refusals (its
log does, but also contains the key): until the end, everything that is known comes from the relay.
"""

import os
from typing import Any

from corral.core.engine.facts import Began, Fact, Finished, Said, Spent, Used
from corral.world.engines.agents.output import JsonReader, bounded, dumped, failed, stored
from corral.world.engines.recipe import ENGINE_KEY, EngineJob, Mcp, Permission, Prepared, Recipe

_MODEL = "gpt-4o"
_OPENAI = "https://api.openai.com/v1"
_ADDRESS = "CORRAL_MODEL_URL"
_CHANGING = ("Bash", "Write", "Edit", "MultiEdit")


def prepare(job: EngineJob) -> Prepared:
    config = f"{job.home}/continue.yaml"
    argv = [*job.program, "--format", "json", "--config", config]
    if job.permission is Permission.READ:
        # Not "--readonly": that keeps the shell, even if it is excluded.
        argv += [*(word for tool in _CHANGING for word in ("--exclude", tool))]
    else:
        argv += ["--auto"]
    argv += ["--resume"] if job.resume else []
    env = {
        **job.env,
        "CONTINUE_GLOBAL_DIR": _folder(job),
        "CONTINUE_METRICS_ENABLED": "0",
        "CONTINUE_CLI_ENABLE_TELEMETRY": "0",
        "CONTINUE_API_BASE": "http://127.0.0.1:9/",  # unused port: else it phones home
    }
    if job.base_url:
        env[_ADDRESS] = job.openai_url
    return Prepared(
        # An unknown word after "-p" would be taken as the prompt, and stdin would not be read.
        argv=[*argv, *job.args, "-p"],
        env=env,
        keys=job.keys(ENGINE_KEY),
        files={config: dumped(_config(job))},  # JSON is valid YAML
        folders=(_folder(job),),
        stdin=job.prompt_file,
    )


def _upstream(job: EngineJob) -> str:
    """Return the address of its model, or nothing if only the engine knows it."""
    if job.base_url:
        return job.base_url
    provider = (job.model or _MODEL).rpartition("/")[0]
    return _OPENAI if provider in ("", "openai") else ""


def _folder(job: EngineJob) -> str:
    return f"{job.home}/.continue"


def _config(job: EngineJob) -> dict[str, Any]:
    provider, _, name = (job.model or _MODEL).rpartition("/")
    model: dict[str, Any] = {
        "name": name,
        "provider": provider or "openai",
        "model": name,
        "roles": ["chat", "edit", "apply"],
        "capabilities": ["tool_use"],
    }
    if job.base_url:
        model["apiBase"] = f"${{{{ secrets.{_ADDRESS} }}}}"
    if job.key:
        model["apiKey"] = f"${{{{ secrets.{ENGINE_KEY} }}}}"
    servers = {"mcpServers": [_server(job.mcp)]} if job.mcp else {}
    return {"name": "corral", "version": "1.0.0", "schema": "v1", "models": [model], **servers}


def _server(mcp: Mcp) -> dict[str, Any]:
    if not mcp.url:
        return {"name": mcp.name, **mcp.program}
    headers = mcp.headers("${{ secrets.NAME }}")
    options = {"requestOptions": {"headers": headers}} if headers else {}
    return {"name": mcp.name, "type": "streamable-http", "url": mcp.url, **options}


class ContinueReader(JsonReader):
    """Reads how the run ended; the work and the usage are in a file by then."""

    def event(self, event: dict[str, Any]) -> list[Fact]:
        if event.get("status") == "error":
            return [failed(bounded(event.get("message")))]
        if "response" in event:
            return [Said(bounded(event["response"], self.job.longest)), Finished()]
        return []

    def late(self) -> list[Fact]:
        name, record = _newest(self.job)
        if not name:
            return []
        messages = [item.get("message", {}) for item in record.get("history", [])]
        used = [message["usage"] for message in messages if message.get("usage")]
        cached = sum(
            (one.get("prompt_tokens_details") or {}).get("cached_tokens", 0) for one in used
        )
        spent = Spent(
            fresh=sum(one.get("prompt_tokens", 0) for one in used) - cached,
            cached=cached,
            output=sum(one.get("completion_tokens", 0) for one in used),
            model=self.job.model or _MODEL,
            total=True,
        )
        asked = max((n for n, one in enumerate(messages) if one.get("role") == "user"), default=0)
        calls = [call for one in messages[asked:] for call in one.get("toolCalls") or ()]
        return [
            Began(session=name, model=self.job.model or _MODEL),
            *(_used(call) for call in calls),
            self.own(spent),
        ]


def _used(call: dict[str, Any]) -> Used:
    function = call.get("function", {})
    given = bounded(function.get("arguments"), 400)
    return Used(function.get("name", ""), given, (), call.get("id", ""))


def _newest(job: EngineJob) -> tuple[str, dict[str, Any]]:
    """Return the id and the record of the last conversation."""
    folder = f"{_folder(job)}/sessions"
    try:
        found = [entry for entry in os.scandir(folder) if entry.name != "sessions.json"]
    except FileNotFoundError:
        return "", {}
    if not found:
        return "", {}
    newest = max(found, key=lambda entry: entry.stat().st_mtime_ns)
    return newest.name.removesuffix(".json"), stored(newest.path)


CONTINUE = Recipe(
    type="continue",
    program="cn",
    prepare=prepare,
    reader=ContinueReader,
    install="npm install -g @continuedev/cli",
    key="OPENAI_API_KEY",
    resumes_killed=False,
    upstream=_upstream,
)
