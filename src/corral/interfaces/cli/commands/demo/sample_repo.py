"""The demo's repository: the sample project, its configuration and the plan for its bugs."""

import io
import json
import os
import shlex
import sys
from contextlib import redirect_stdout
from pathlib import Path

from corral.core.errors import Failed
from corral.interfaces.cli.commands.demo.bugs import BUGS, LIMIT, Bug
from corral.interfaces.cli.commands.demo.project import FILES
from corral.world.engines.registry import ENGINES
from corral.world.git import version
from corral.world.git.command import own_environment, run

SCRIPTED = "scripted"
BRANCH = "main"
_OTHER = "other-account"


def make(folder: str, engine: str) -> str:
    """Make the repository of the sample project, set up for an engine; return its path."""
    version()  # fails with a clear message if git is missing
    repo = os.path.join(folder, "shop")
    os.mkdir(repo)
    git("init", "--quiet", f"--initial-branch={BRANCH}", cwd=repo)
    for path, content in FILES.items():
        _write(repo, path, content)
    _corral("init", repo=repo)
    _write(repo, ".corral/config.toml", _config(engine))
    git("add", ".", cwd=repo)
    git("commit", "--quiet", "--message=Begin", cwd=repo)
    _write(folder, "plan.toml", plan(engine))
    return repo


def git(*words: str, cwd: str) -> None:
    """Run git without the user's own settings."""
    settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    run(["git", *words], cwd, own_environment() | settings)


def _corral(*words: str, repo: str) -> None:
    from corral.interfaces.cli import main

    with redirect_stdout(io.TextIOWrapper(io.BytesIO(), "utf-8")):
        code = main.run([*words, "--repo", repo])
    if code:
        raise Failed(f"corral {' '.join(words)} ended with exit code {code}")


def command(*more: str, strict: bool = False) -> str:
    """Return the command that runs the project's tests."""
    words = [sys.executable, "-B", "-m", "unittest", "-q", *more]
    return ("STRICT=1 " if strict else "") + shlex.join(words)


def plan(engine: str) -> str:
    """Return the plan, a task for each bug. All start at once, even where their paths overlap."""
    head = f"""\
[convoy]
title = "Fix the shop"
base = {_text(BRANCH)}
checks = [{_text(command())}]

[policy]
overlap = "allow"
tests = "apart"
"""
    return head + "".join(_task(bug, engine) for bug in BUGS)


def _task(bug: Bug, engine: str) -> str:
    other = engine == SCRIPTED and bug.fault == LIMIT
    return f"""
[[task]]
key = {_text(bug.key)}
title = {_text(bug.title)}
engine = {_text(_OTHER if other else "default")}
paths = [{", ".join(map(_text, bug.paths))}]
accept = [{_text(command(f"tests.{bug.test}", strict=True))}]
brief = {_text(bug.brief)}
"""


_SCRIPTED = """\
# Short times, so that everything happens within a minute.
[watch]
beat_s = 20
backoff_s = 2
wall_s = 120
grace_s = 2

[slots]
total = {agents}
reserve = 0

[refinery]
slots = 2
finish = "fast-forward"

[engine.default]
type = "command"
output = "facts"
command = [{command}]
account = "first"
turn_s = 12

# A rate limit concerns one account; agents on other accounts keep working.
[engine.other-account]
type = "command"
output = "facts"
command = [{command}]
account = "second"
turn_s = 12
"""

_REAL = """\
[slots]
total = {agents}
reserve = 0

[refinery]
finish = "fast-forward"

[engine.default]
type = {engine}
env = [{key}]
"""


def _config(engine: str) -> str:
    if engine != SCRIPTED:
        key = ENGINES[engine].key
        return _REAL.format(agents=len(BUGS), engine=_text(engine), key=_text(key) if key else "")
    # -P: a session's own files must not be importable.
    words = (sys.executable, "-P", "-m", "corral.interfaces.cli.commands.demo.agent")
    return _SCRIPTED.format(agents=len(BUGS), command=", ".join(map(_text, words)))


def _text(value: str) -> str:
    """Write a string as TOML does."""
    return json.dumps(value, ensure_ascii=False)


def _write(folder: str, path: str, content: str) -> None:
    file = Path(folder, path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content, "utf-8")
