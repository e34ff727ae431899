"""Aider: plain text on stdout, its own commits, and an exit code that means nothing."""

import re

from corral.core.engine.facts import Began, Fact, Finished, Limited, Spent, Trouble, Used
from corral.world.engines.agents.output import bounded, failed
from corral.world.engines.recipe import EngineJob, Permission, Prepared, Recipe, Stream

_MODEL = "openai/gpt-4o"
_SWITCHES = (
    "--yes-always",
    "--no-check-update",
    "--analytics-disable",
    "--no-show-release-notes",
    "--no-show-model-warnings",
    "--no-pretty",
    "--no-stream",
    "--no-fancy-input",
    "--no-gitignore",
    "--no-suggest-shell-commands",
    "--no-detect-urls",
    "--map-tokens=0",  # its map would be stored in the tree
    "--no-attribute-author",
    "--no-attribute-committer",
)


def prepare(job: EngineJob) -> Prepared:
    model = job.model or _MODEL
    if job.base_url and "/" not in model:
        model = f"openai/{model}"
    argv = [*job.program, "--model", model, *_SWITCHES, "--timeout", str(job.idle_s)]
    # By default its files would be in the tree.
    argv += ["--input-history-file", f"{job.home}/aider.input"]
    argv += ["--chat-history-file", f"{job.home}/aider.chat.md"]
    argv += ["--restore-chat-history"] if job.resume else []
    argv += ["--chat-mode", "ask"] if job.permission is Permission.READ else []
    argv += [*job.args, "--message-file", job.prompt_file, *job.files]
    env = {
        **job.env,
        "AIDER_ANALYTICS": "false",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "PYTHONUNBUFFERED": "1",
    }
    keys = {}
    if job.base_url:
        env["OPENAI_API_BASE"] = job.openai_url
        keys = {"OPENAI_API_KEY": job.key} if job.key else {}
    elif job.key:
        keys = {job.key: job.key}
    # With a price list in its cache it does not download one; it uses the one it ships with.
    prices = f"{job.home}/.aider/caches/model_prices_and_context_window.json"
    # Without a configured name it would write one to the repository's own configuration.
    name = "[user]\n\tname = corral\n\temail = corral@corral.invalid\n"
    files = {prices: '{"sample_spec": {}}', f"{job.home}/.gitconfig": name}
    return Prepared(argv=argv, env=env, keys=keys, files=files)


_TOKENS = re.compile(
    r"Tokens: ([\d.,]+)(k|M)? sent,(?: ([\d.,]+)(k|M)? cache hit,)?.*? ([\d.,]+)(k|M)? received\."
    r"(?: Cost: \$([\d.]+) message)?"
)
_SCALE = {"k": 1_000, "M": 1_000_000}


class AiderReader:
    """Recognizes lines by their beginnings; aider rounds token counts above a thousand."""

    def __init__(self, job: EngineJob) -> None:
        self.job = job
        self.error: list[str] = []
        self.advised = False
        self.answered = False

    def feed(self, line: bytes, stream: Stream) -> list[Fact]:
        text = line.decode(errors="replace").rstrip()
        if text.startswith("Aider v"):
            version = text.removeprefix("Aider v")
            return [Began(self.job.resume or self.job.new_id, self.job.model or _MODEL, version)]
        if found := _TOKENS.match(text):
            self.error, self.answered = [], True
            return [self._spent(found)]
        if text.startswith("Applied edit to "):
            path = text.removeprefix("Applied edit to ")
            return [Used("edit", path, (path,))]
        if text.startswith("litellm.") or "has hit a token limit" in text:
            self.error, self.advised = [text], False
        elif text.startswith("Retrying in ") and self.error:
            ended = failed("\n".join([*self.error, text]))
            return [Limited(ended.trouble or Trouble.OTHER, ended.retry_s, text=ended.text)]
        elif self.error and text and not self.advised:
            # A long message continues on the next line; aider's own advice names every cause.
            self.advised = text.startswith("The API provider")
            self.error += [] if self.advised else [text]
        return []

    def _spent(self, found: re.Match[str]) -> Spent:
        sent, cached, received = (
            round(
                float((found.group(n) or "0").replace(",", "")) * _SCALE.get(found.group(n + 1), 1)
            )
            for n in (1, 3, 5)
        )
        cost = float(found.group(7)) if found.group(7) else None
        return Spent(sent - cached, cached, received, cost, self.job.model or _MODEL)

    def finish(self) -> list[Fact]:
        if self.error:
            return [failed(bounded("\n".join(self.error)))]
        return [Finished()] if self.answered else []


AIDER = Recipe(
    type="aider",
    program="aider",
    prepare=prepare,
    reader=AiderReader,
    install="python3 -m pip install aider-chat, in an environment of its own",
    key="OPENAI_API_KEY",
    commits=True,
    mcp=False,
    cost=True,
    counts=True,
)
