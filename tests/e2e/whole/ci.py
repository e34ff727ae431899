"""A repository as a CI system has it: no terminal, a home that is empty, and one command."""

import json
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from tests.e2e.corral_command import CORRAL, Answer, Board, make_board
from tests.patience import PATIENCE_S, until

WORK = (
    "echo x >> {marks}/$CORRAL_TASK; echo $CORRAL_TASK > $CORRAL_TASK.txt;"
    " git add -A; git commit -qm work"
)
CONFIG = """\
[slots]
total = 6
reserve = 0
[watch]
grace_s = 1
attempts = 2
backoff_s = 0
"""


class Ci(Board):
    """Plans of shell scripts; each launch of a task leaves a mark outside of its tree."""

    @property
    def marks(self) -> Path:
        return self.path.parent / "marks"

    def work(self, before: str = "true") -> str:
        return f"{before}; {WORK.format(marks=shlex.quote(str(self.marks)))}"

    def plan(self, *tasks: dict[str, Any], name: str = "plan.toml", title: str = "Night") -> str:
        head = f'[convoy]\ntitle = "{title}"\nprefix = "{title[0]}"\nchecks = ["true"]\n'
        lines = [head]
        for task in tasks:
            given = {"title": task["key"], "accept": ["true"], **task}
            lines += ["[[task]]", *(f"{key} = {json.dumps(value)}" for key, value in given.items())]
        path = self.path.parent / name
        path.write_text("\n".join(lines) + "\n")
        return str(path)

    def script(self, key: str, text: str, *needs: str) -> dict[str, Any]:
        return {"key": key, "run": ["sh", "-c", text], "needs": list(needs)}

    def begun(self, plan: str, *words: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [CORRAL, "run", plan, "--headless", *words],
            cwd=self.path,
            env=self.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(self, plan: str, *words: str) -> Answer:
        return ended(self.begun(plan, *words))

    def summary(self, convoy: str = "night") -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.folder / "runs" / f"{convoy}.json").read_text())
        return found

    def suite(self, convoy: str = "night") -> ElementTree.Element:
        return ElementTree.parse(self.folder / "runs" / f"{convoy}.xml").getroot()

    def launches(self) -> dict[str, int]:
        """Return how often each task was begun."""
        return {mark.name: len(mark.read_text().split()) for mark in self.marks.iterdir()}

    def count(self, kind: str) -> int:
        return sum(event["type"] == kind for event in self.events())

    def until(self, condition: Callable[[], object]) -> None:
        until(condition, lambda: self.corral("status").out)


def ended(process: "subprocess.Popen[bytes]") -> Answer:
    out, err = process.communicate(timeout=PATIENCE_S)
    answer = Answer(process.returncode, out, err)
    assert "Traceback" not in answer.err, answer
    return answer


def make_ci(tmp_path: Path, config: str = CONFIG) -> Ci:
    ci = Ci(make_board(tmp_path / "project").path)
    (ci.path / ".corral" / "config.toml").write_text(config)
    ci.git("add", ".")
    ci.git("commit", "--quiet", "-m", "Set Corral up")
    ci.marks.mkdir()
    return ci
