"""A repository with shell agents: small programs that do well, do badly, or lie."""

import json
import os
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from corral.world.repository import find
from corral.world.trees import Trees
from tests.e2e.corral_command import Board, make_board
from tests.patience import PATIENCE_S, until
from tests.world.trees.tree_repo import everything

T = TypeVar("T")

WORK = 'echo "$CORRAL_SESSION" >> work-$CORRAL_TASK.txt && git add -A && git commit -qm work'
QUIET = """\
[slots]
total = 50
reserve = 0
[watch]
beat_s = 60
grace_s = 1
attempts = 1
backoff_s = 0
"""


class WitnessRepo(Board):
    """A board whose tasks are shell scripts, and the witness that runs them."""

    def script(self, text: str, *words: str, title: str = "work") -> str:
        """Add a task that is this shell script; return its id."""
        return self.add(title, "--run", f"sh -c {shlex.quote(text)}", *words)

    def configure(self, text: str) -> None:
        (self.path / ".corral" / "config.toml").write_text(text)

    def once(self) -> None:
        """Run the witness until nothing runs and nothing can start."""
        self.corral("witness", "run", "--once")

    def session(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.here("session", "show", name, "--json", code=0).data
        return found

    def sessions(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.here("session", "list", "--json", code=0).data
        return found

    def task(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.here("task", "show", name, "--json", code=0).data
        return found

    def verdict(self, task: str) -> str:
        """Return the verdict of a task's last session."""
        return str(next(s for s in self.sessions() if s["task"] == task)["verdict"])

    def detail(self, task: str) -> str:
        return str(next(s for s in self.sessions() if s["task"] == task)["detail"])

    def alerts(self) -> dict[str, str]:
        """Return the open alerts: what each is about, by kind."""
        return {a["kind"]: a["subject"] for a in self.here("alert", "list", "--json").data}

    def of_type(self, kind: str) -> list[dict[str, Any]]:
        lines = self.here("log", "--json").out.splitlines()
        return [event for line in lines if (event := json.loads(line))["type"] == kind]

    def checkout(self) -> dict[bytes, object]:
        """Return the user's checkout to the byte: files, modes, HEAD, index and branch."""
        found = everything(self.path, leaving_out=(b".git",))
        found[b"main"] = self.git("rev-parse", "main")
        for name in ("HEAD", "index"):
            found[name.encode()] = (self.path / ".git" / name).read_bytes()
        return found

    def room(self, session: str) -> Path:
        return self.folder / "sessions" / session

    def trees(self) -> Trees:
        return Trees(find(str(self.path)))

    def kept(self, session: str = "") -> list[str]:
        said = self.git("for-each-ref", "--format=%(refname)", f"refs/corral/keep/{session}")
        return said.split()

    def has_file_kept(self, session: str, path: str, content: str) -> bool:
        """Say whether a file of a session is in what was kept of it."""
        return any(
            self.git("show", f"{ref}:{path}") == content
            for ref in self.kept(session)
            if path in self.git("ls-tree", "-r", "--name-only", ref).split("\n")
        )

    def run_of(self, session: str) -> Path:
        return self.room(session) / "run-1"

    def program_pid(self, session: str) -> int:
        return int(json.loads((self.run_of(session) / "process.json").read_text())["program_pid"])

    @contextmanager
    def witness(self) -> Iterator["subprocess.Popen[bytes]"]:
        """Have a witness run beside the test."""
        errors = self.path.parent / f"witness-{time.monotonic_ns()}.err"
        with open(errors, "wb") as file:
            process = self.started("witness", "run", stdout=subprocess.DEVNULL, stderr=file)
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE_S)
        assert "Traceback" not in errors.read_text(), errors.read_text()

    def until(self, what: Callable[[], T | None]) -> T:
        """Wait for something that the log or the disk will show."""
        return until(what, lambda: self.here("status").out + self.here("log").out)

    def until_ended(self, task: str) -> str:
        def verdict() -> str:
            return next((str(s["verdict"]) for s in self.sessions() if s["task"] == task), "")

        return self.until(verdict)

    def until_running(self, session: str) -> int:
        return self.until(lambda: alive_pid(self.run_of(session)))

    def leftovers(self) -> list[int]:
        """Return the processes that carry this repository's mark."""
        mark = f"CORRAL_RUN={self.path / '.git'}".encode()
        found = []
        for entry in os.listdir("/proc"):
            if entry.isdigit():
                try:
                    environment = Path(f"/proc/{entry}/environ").read_bytes().split(b"\0")
                    state = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[0]
                except OSError:
                    continue
                if mark in environment and state not in "ZX":
                    found.append(int(entry))
        return found


def alive_pid(folder: Path) -> int:
    """Return the pid of the program that runs in a folder; 0 if none does."""
    if (folder / "exit.json").exists() or not (folder / "process.json").exists():
        return 0
    return int(json.loads((folder / "process.json").read_text())["program_pid"])


def make_witness_repo(path: Path, config: str = QUIET) -> WitnessRepo:
    make_board(path, "Project")
    project = WitnessRepo(path)
    project.configure(config)
    return project
