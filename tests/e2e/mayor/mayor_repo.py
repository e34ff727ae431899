"""A repository whose mayor is a script: each run takes the next answer from a folder."""

import json
import subprocess
from pathlib import Path
from typing import Any

from tests.e2e.corral_command import Answer, make_board
from tests.e2e.witness.witness_repo import WitnessRepo
from tests.patience import PATIENCE_S

GOAL = "Make the project good"
# Counts its runs, keeps what it was told, and does what the file of that number says.
SCRIPT = """\
n=$(cat "{project}/count" 2>/dev/null || echo 0); n=$((n+1)); echo $n > "{project}/count"
cat > "{project}/prompt-$n"; echo "$CORRAL_RESUME" > "{project}/resume-$n"
. "{project}/answer-$n"
"""
QUIET = """\
[slots]
total = 8
reserve = 0
[watch]
beat_s = 60
grace_s = 1
attempts = 1
backoff_s = 0
"""
PLANNER = """\
[engine.planner]
type = "command"
command = ["sh", "{script}"]
good_for = "plans"
{more}
[mayor]
engine = "planner"
"""


def plan(*tasks: dict[str, Any], title: str = "Good", **more: Any) -> str:
    return json.dumps({"convoy": {"title": title}, "task": list(tasks), **more})


def task(key: str, **more: Any) -> dict[str, Any]:
    given = {"title": f"Do {key}", "brief": f"Do {key}.", "paths": [f"{key}.txt"]}
    return {"key": key, "engine": "planner", "accept": ["true"], **given, **more}


class MayorRepo(WitnessRepo):
    """A repository and its mayor: what the mayor says, and what was asked of it."""

    @property
    def place(self) -> Path:
        return self.path.parent / "answers"

    def script(self, *answers: str) -> None:  # type: ignore[override]
        """Let the next runs of the engine be these shell scripts."""
        made = len(list(self.place.glob("answer-*")))
        for number, text in enumerate(answers, made + 1):
            (self.place / f"answer-{number}").write_text(text)

    def answers(self, *texts: str) -> None:
        """Let the next runs of the engine say this."""
        for text in texts:
            file = self.place / f"text-{len(list(self.place.glob('text-*')))}"
            file.write_text(text)
            self.script(f'cat "{file}"; echo')

    def told(self, text: str) -> str:
        """Return a script of an engine that tells facts: it says this, and ends well."""
        file = self.place / f"fact-{len(list(self.place.glob('fact-*')))}"
        facts = [{"fact": "said", "text": text}, {"fact": "finished"}]
        file.write_text("".join(f"{json.dumps(fact)}\n" for fact in facts))
        return f'cat "{file}"'

    def asked(self, number: int) -> str:
        return (self.place / f"prompt-{number}").read_text()

    @property
    def runs(self) -> int:
        file = self.place / "count"
        return int(file.read_text()) if file.exists() else 0

    def start(self, *words: str, code: int | None = 0) -> Answer:
        return self.corral("mayor", "start", "--task", GOAL, *words, code=code)

    def mayor(self) -> dict[str, Any]:
        found: dict[str, Any] = self.here("mayor", "status", "--json", code=0).data
        return found

    def titles(self) -> dict[str, str]:
        """Return the state of each task by its title."""
        found = self.here("task", "list", "--json", code=0).data
        return {one["title"]: one["state"] for one in found}

    def nothing_left(self) -> None:
        """Fail if a tree, a branch or a process of the mayor's is still there."""
        assert self.trees().list() == []
        assert self.git("for-each-ref", "refs/heads/corral") == ""
        self.until(lambda: not self.leftovers())


def make_mayor_repo(path: Path, more: str = "", config: str = "") -> MayorRepo:
    make_board(path)
    project = MayorRepo(path)
    project.place.mkdir()
    script = project.place / "engine.sh"
    script.write_text(SCRIPT.format(project=project.place))
    project.configure(QUIET + PLANNER.format(script=script, more=more) + config)
    return project


def killed(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait(PATIENCE_S)
