"""A repository with the refinery and branches made by git instead of agents."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.e2e.corral_command import CORRAL, Board, make_board
from tests.patience import PATIENCE_S, until
from tests.world.trees.tree_repo import everything, git

TRUNK = "convoy/project/trunk"
CHECK = "sh check.sh"


class RefineryRepo(Board):
    """A board whose tasks are handed in as commits."""

    def hand_in(
        self, files: Mapping[str, str], *words: str, title: str = "work", base: str = "main"
    ) -> str:
        """Make a branch with these files and hand it in; return the task."""
        task = self.add(title, *words)
        commit = self.branch(f"convoy/project/{task}", files, base)
        self.submit(task, commit)
        return task

    def hand_in_all(self, works: Sequence[Mapping[str, str]]) -> list[str]:
        """Do the same for many, with one git for all branches."""
        tasks = [self.add(f"work {number}") for number in range(len(works))]
        base = self.git("rev-parse", "main")
        lines = []
        for task, files in zip(tasks, works, strict=True):
            lines.append(f"commit refs/heads/convoy/project/{task}\n")
            lines.append("committer Ann <ann@example.org> 1700000000 +0000\n")
            lines.append(f"data 4\nwork\nfrom {base}\n")
            lines += [
                f"M 100644 inline {path}\ndata {len(content)}\n{content}\n"
                for path, content in files.items()
            ]
        self.plumb("fast-import", "--quiet", stdin="".join(lines))
        listed = self.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/convoy")
        commits = dict(line.rsplit(" ", 1) for line in listed.splitlines())
        for task in tasks:
            self.submit(task, commits[f"refs/heads/convoy/project/{task}"])
        return tasks

    def branch(self, name: str, files: Mapping[str, str], base: str = "main") -> str:
        """Make a commit with these files on a new branch, without any checkout."""
        index = self.path / ".git" / f"index-{time.monotonic_ns()}"
        env = {"GIT_INDEX_FILE": str(index)}
        self.plumb("read-tree", base, env=env)
        for path, content in files.items():
            blob = self.plumb("hash-object", "-w", "--stdin", stdin=content)
            self.plumb("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", env=env)
        tree = self.plumb("write-tree", env=env)
        index.unlink()
        commit = self.plumb("commit-tree", tree, "-p", base, "-m", f"work of {name}")
        self.plumb("update-ref", f"refs/heads/{name}", commit)
        return commit

    def plumb(self, *args: str, env: Mapping[str, str] | None = None, stdin: str = "") -> str:
        return subprocess.run(
            ["git", *args],
            cwd=self.path,
            env=self.env | dict(env or {}),
            input=stdin,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()

    def submit(self, task: str, commit: str) -> None:
        token = self.here("task", "claim", task, "--json", code=0).data["token"]
        self.here("task", "submit", task, "--token", token, "--commit", commit, code=0)

    def once(self, timeout_s: float = PATIENCE_S) -> None:
        """Run the refinery until nothing can land any more."""
        done = subprocess.run(
            [CORRAL, "refinery", "run", "--once"],
            cwd=self.path,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, ""), done

    def until(self, what: Callable[[], object]) -> None:
        """Wait for something to become true."""
        until(what, lambda: self.here("queue", "list").out)

    def queue(self) -> dict[str, Any]:
        found: dict[str, Any] = self.here("queue", "list", "--json", code=0).data
        return found

    def running(self) -> list[str]:
        return [check["run"] for check in self.queue()["checks"] if not check["result"]]

    def why(self, task: str) -> str:
        return str(self.here("why", task, "--json", code=0).data["summary"])

    def task(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.here("task", "show", name, "--json", code=0).data
        return found

    def states(self) -> dict[str, str]:
        return {t["id"]: t["state"] for t in self.here("task", "list", "--json", code=0).data}

    def events(self, kind: str = "") -> list[dict[str, Any]]:
        lines = self.here("log", "--json").out.splitlines()
        return [event for line in lines if (event := json.loads(line))["type"].startswith(kind)]

    def alerts(self) -> dict[str, str]:
        return {a["kind"]: a["text"] for a in self.here("alert", "list", "--json").data}

    def tips(self) -> list[str]:
        """Return every commit that the trunk has ever pointed to, by its landings."""
        return [e["data"]["new"] for e in self.events("landing.begun")]

    def first_parents(self) -> list[str]:
        return self.git("rev-list", "--first-parent", "--reverse", f"main..{TRUNK}").split()

    def is_green(self, commit: str, scratch: Path) -> bool:
        """Check a commit out into a folder of the test's own and run the checks there."""
        if not scratch.exists():
            git(self.path, "clone", "--quiet", "--shared", "--no-checkout", ".", str(scratch))
        git(scratch, "checkout", "--quiet", "--force", "--detach", commit)
        git(scratch, "clean", "-fdxq")
        return subprocess.run(["sh", "check.sh"], cwd=scratch, check=False).returncode == 0

    def checkout(self) -> dict[bytes, object]:
        """Return the user's checkout to the byte: files, modes, HEAD and index."""
        found = everything(self.path, leaving_out=(b".git",))
        for name in ("HEAD", "index"):
            found[name.encode()] = (self.path / ".git" / name).read_bytes()
        return found

    @contextmanager
    def refinery(self) -> Iterator["subprocess.Popen[bytes]"]:
        """Have a refinery run beside the test."""
        process = self.started("refinery", "run", stdout=subprocess.DEVNULL)
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait(PATIENCE_S)


def make_refinery_repo(path: Path, check: str, config: str = "") -> RefineryRepo:
    """Make a repository with a check script and one convoy."""
    make_board(path)
    project = RefineryRepo(path)
    (path / "check.sh").write_text(check)
    settings = f'[refinery]\nchecks = ["{CHECK}"]\n{config}'
    (path / ".corral" / "config.toml").write_text(settings)
    git(path, "add", "--all")
    git(path, "commit", "--quiet", "-m", "set up")
    project.here("convoy", "create", "Project", code=0)
    return project
