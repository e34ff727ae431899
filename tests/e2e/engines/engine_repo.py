"""A project whose agents are engines: small programs that print facts, as a runner does."""

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.e2e.corral_command import CORRAL, Answer
from tests.e2e.witness.witness_repo import QUIET, WORK, WitnessRepo, make_witness_repo

ENGINE = """\
[engine.default]
type = "command"
output = "facts"
"""
CONFIG = QUIET + ENGINE
DONE = """echo '{"fact":"finished"}'"""


def fact(name: str, **fields: Any) -> str:
    """Return a command of a shell script that tells a fact."""
    said = json.dumps({"fact": name, **fields}).replace("'", "'\\''")
    return f"echo '{said}'"


def began(**fields: Any) -> str:
    return fact("began", **{"session": "th-1", "model": "m-1", **fields})


def script(*commands: str) -> str:
    return "\n".join(commands)


def first(*commands: str) -> str:
    """Do this in the first launch of the first session only, and end there."""
    inside = "\n".join(commands)
    return f'if [ ! -e "$HOME/again" ]; then touch "$HOME/again"\n{inside}\nfi'


class EngineRepo(WitnessRepo):
    def patient(self, seconds: float, *words: str) -> Answer:
        """Run a command that may take a while."""
        done = subprocess.run(
            [CORRAL, *words],
            cwd=self.path,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    def most_at_once(self) -> int:
        """Return how many sessions ran at the same time, at most."""
        lines = self.here("log", "--json").out.splitlines()
        running = most = 0
        for kind in (json.loads(line)["type"] for line in lines):
            running += (kind == "session.started") - (kind == "session.ended")
            most = max(most, running)
        return most

    def reactions(self) -> list[tuple[str, str]]:
        return [(e["data"]["cause"], e["data"]["action"]) for e in self.of_type("session.reacted")]

    def verdicts(self) -> list[str]:
        return [e["data"]["verdict"] for e in self.of_type("session.ended")]

    def spent(self) -> dict[str, Any]:
        """Return what was spent in all, as `corral cost` says."""
        found: dict[str, Any] = self.here("cost", "--json", code=0).data["total"]
        return found


def make_engine_repo(path: Path, config: str = CONFIG) -> EngineRepo:
    return EngineRepo(make_witness_repo(path, config).path)


__all__ = [
    "CONFIG",
    "DONE",
    "ENGINE",
    "QUIET",
    "WORK",
    "EngineRepo",
    "began",
    "fact",
    "first",
    "script",
]
