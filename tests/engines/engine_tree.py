"""Runs a real engine on a brief, in a tree of its own, against the stand-in.

The simplest runner that can work: a process group, two pipes, a limit. The witness has another
one; what is tested here is the engine table.
"""

import json
import os
import shutil
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct

from corral.core.engine.facts import Began, Fact, Finished, Limited, Spent, Trouble
from corral.world.engines.files import lay
from corral.world.engines.recipe import EngineJob, Mcp, Recipe, Stream, environment
from corral.world.engines.registry import find
from corral.world.engines.relay import reader

KEY = "sk-corral-not-a-real-key-0123456789"
TOKEN = "corral-not-a-real-token"
MODELS = {
    "claude-code": "claude-sonnet-4-5",
    "codex": "gpt-5.5",
    "opencode": "gpt-4o",
    "gemini": "gemini-2.5-pro",
    "copilot": "gpt-4o",
    "continue": "gpt-4o",
    "aider": "openai/gpt-4o",
}
ENGINES = tuple(MODELS)
_F = TypeVar("_F", bound=Fact)


class Outcome(Struct):
    code: int | None  # None: it was still running at its limit
    facts: list[Fact]
    took_s: float

    def all(self, kind: type[_F]) -> list[_F]:
        return [fact for fact in self.facts if isinstance(fact, kind)]

    @property
    def session(self) -> str:
        return next((fact.session for fact in self.all(Began)), "")

    @property
    def finished(self) -> Finished | None:
        return next(iter(self.all(Finished)), None)

    @property
    def troubles(self) -> set[Trouble]:
        """What went wrong, as far as the engine said."""
        said = [fact.trouble for fact in self.all(Limited)]
        ends = [fact.trouble for fact in self.all(Finished) if fact.trouble]
        return {*said, *ends}

    def spent(self) -> Spent:
        """Add up what was used; figures of the whole run take the place of all before them."""
        fresh = cached = output = 0
        cost: float | None = None
        for fact in self.all(Spent):
            if fact.total:
                fresh = cached = output = 0
                cost = None
            fresh, cached, output = fresh + fact.fresh, cached + fact.cached, output + fact.output
            cost = cost if fact.cost_usd is None else (cost or 0.0) + fact.cost_usd
        return Spent(fresh, cached, output, cost)


class EngineTree:
    """A repository, a private home and a brief for one engine."""

    def __init__(self, place: Path, engine: str, base_url: str, programs: Path) -> None:
        self.recipe: Recipe = find(engine)
        self.place = place
        self.tree = place / "tree"
        self.home = place / "home"
        self.tree.mkdir(parents=True)
        self._base_url = base_url
        self._path = f"{programs}:{os.environ['PATH']}"
        (self.tree / "b.py").write_text("x = 1\n")
        self.git("init", "-q", "-b", "main")
        self.git("add", ".")
        self.git("commit", "-qm", "The beginning")

    def git(self, *words: str) -> str:
        return subprocess.run(
            ["git", *words],
            cwd=self.tree,
            env=self._env(),
            check=True,
            capture_output=True,
            text=True,
        ).stdout

    def job(self, brief: str, **changes: Any) -> EngineJob:
        prompt = self.place / "brief.md"
        prompt.write_text(brief)
        found = shutil.which(self.recipe.program, path=self._path)
        assert found is not None
        return EngineJob(
            **{
                "session": "AF-1.1",
                "program": (found,),
                "tree": str(self.tree),
                "home": str(self.home),
                "prompt_file": str(prompt),
                "model": MODELS[self.recipe.type],
                "new_id": str(uuid.uuid4()),
                "base_url": self._base_url,
                "key": "CORRAL_TEST_KEY",
                "as_root": os.getuid() == 0,
                "files": ("b.py",),
                "unpacked": str(self.place.parent / "unpacked"),
                **changes,
            }
        )

    def run(
        self,
        job: EngineJob,
        *,
        limit_s: float = 120,
        enough: Callable[[Fact], bool] = lambda _: False,
        until: Callable[[], bool] = lambda: False,
    ) -> Outcome:
        """Run to the end or to a limit: of time, of what it said, or of what was seen."""
        prepared = reader.prepared(self.recipe, job)
        lay(prepared, job.home)
        secrets = {"CORRAL_TEST_KEY": KEY, "CORRAL_TEST_TOKEN": TOKEN}
        start = time.monotonic()
        with open(prepared.stdin or os.devnull, "rb") as stdin:
            process = subprocess.Popen(
                prepared.argv,
                cwd=self.tree,
                env={**self._env(), **environment(prepared, secrets)},
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        reading = _Reading(self.recipe, job, enough)
        threads = [
            threading.Thread(target=reading.pump, args=(process.stdout, "out")),
            threading.Thread(target=reading.pump, args=(process.stderr, "err")),
        ]
        for thread in threads:
            thread.start()
        code: int | None = None
        end = start + limit_s
        while time.monotonic() < end and not reading.stop.is_set() and not until():
            try:
                code = process.wait(0.1)
                break
            except subprocess.TimeoutExpired:
                continue
        # Whatever is left of it must not outlive the test; an empty group is no error.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for thread in threads:
            thread.join()
        reading.facts += reading.reader.finish()
        return Outcome(code, reading.facts, time.monotonic() - start)

    def _env(self) -> dict[str, str]:
        who = {"NAME": "A Tester", "EMAIL": "tester@corral.invalid"}
        roles = ("AUTHOR", "COMMITTER")
        return {
            "PATH": self._path,
            "LANG": "C.UTF-8",
            "HOME": str(self.home),
            "GIT_CONFIG_NOSYSTEM": "1",
            **{f"GIT_{role}_{key}": value for role in roles for key, value in who.items()},
        }


class _Reading:
    def __init__(self, recipe: Recipe, job: EngineJob, enough: Callable[[Fact], bool]) -> None:
        self.reader = reader.reader(recipe, job)
        self.facts: list[Fact] = []
        self.stop = threading.Event()
        self._enough = enough
        self._lock = threading.Lock()

    def pump(self, pipe: Any, stream: Stream) -> None:
        with pipe:
            for line in pipe:
                with self._lock:
                    facts = self.reader.feed(line, stream)
                    self.facts += facts
                if any(self._enough(fact) for fact in facts):
                    self.stop.set()


def plan(*steps: dict[str, Any]) -> str:
    return f"Please do this.\n\nPLAN {json.dumps(steps)}\n"


def http_tools(url: str) -> Mcp:
    return Mcp(url=url, token="CORRAL_TEST_TOKEN")
