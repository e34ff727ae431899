"""The only place that starts git: its environment, its timeout and its error messages.

A repository can name programs for git to run. `SAFE` turns off those that merely reading refs would
start; `view` explains how files that a session wrote are read.
"""

import os
import re
import subprocess
from collections.abc import Sequence
from os.path import isdir, realpath
from shlex import quote
from typing import IO

from corral.core.errors import Failed

SAFE = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0")
_LIMIT_S = 900.0  # a tree may contain a pipe where git expects a file
_LOCKED = re.compile(r"Unable to create '(.+)\.lock': File exists")
_HINT = "install git 2.38 or newer"
_CONFIGURATION = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
# A hook's environment would direct our commands to another repository, index or object store.
_REDIRECTING = frozenset(
    {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR"}
)


class GitFailed(Failed, code="git_failed"):
    """Git failed; its error is quoted."""


def run(
    command: Sequence[str],
    cwd: str,
    environment: dict[str, str],
    *,
    stdin: bytes | IO[bytes] = b"",
    held: Sequence[int] = (),
    fine: Sequence[int] = (0,),
    limit_s: float | None = _LIMIT_S,
) -> bytes:
    """Run git and return its output; an unexpected exit code is an error."""
    done = start(command, cwd, environment, stdin=stdin, held=held, limit_s=limit_s)
    if done.returncode not in fine:
        raise failure(done)
    return done.stdout


def start(
    command: Sequence[str],
    cwd: str,
    environment: dict[str, str],
    *,
    stdin: bytes | IO[bytes] = b"",
    held: Sequence[int] = (),
    limit_s: float | None = _LIMIT_S,
) -> subprocess.CompletedProcess[bytes]:
    """Run git to its end. The files in `held` stay open in it."""
    given: dict[str, bytes | IO[bytes] | int]
    given = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin}
    if stdin == b"":
        given = {"stdin": subprocess.DEVNULL}
    try:
        return subprocess.run(  # type: ignore[call-overload, no-any-return]  # one of two keywords
            command,
            capture_output=True,
            cwd=cwd,
            env=environment,
            timeout=limit_s,
            pass_fds=held,
            check=False,
            **given,
        )
    except FileNotFoundError as error:
        raise _not_started(command[0], cwd) from error
    except subprocess.TimeoutExpired as error:
        raise GitFailed(f"{command[0]} took longer than {limit_s:g} s and was killed") from error


def talk(command: Sequence[str], cwd: str, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start git as a process that answers many queries; the caller ends it."""
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=cwd,
            env=environment,
        )
    except FileNotFoundError as error:
        raise _not_started(command[0], cwd) from error


def beside(
    command: Sequence[str], cwd: str, environment: dict[str, str], output: IO[bytes]
) -> subprocess.Popen[bytes]:
    """Start a program with a process group of its own; the caller waits for it or ends it."""
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=cwd,
            env=environment,
            start_new_session=True,
        )
    except FileNotFoundError as error:
        raise _not_started(command[0], cwd) from error


def failure(done: subprocess.CompletedProcess[bytes]) -> GitFailed:
    """Return the error for a failed git command, with the line of its output that says why."""
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    said = next((line for line in lines if line.startswith(("fatal:", "error:"))), None)
    reason = said or (lines[-1] if lines else "no reason given")
    if locked := _LOCKED.search(reason):
        lock = f"{realpath(locked[1])}.lock"  # ours may be a link to what git locks
        reason = f"{lock} exists. If no git command is running, one was killed: rm {quote(lock)}"
    return GitFailed(f"git {_subcommand(done.args)} failed: {reason}")


def users_environment() -> dict[str, str]:
    """Return the user's environment, without variables that direct git to another repository."""
    kept = {k: v for k, v in os.environ.items() if k not in _REDIRECTING}
    return kept | {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}


def own_environment() -> dict[str, str]:
    """Return the environment for Corral's own commands: of git's variables, only configuration."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") or name in _CONFIGURATION
    }
    person = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "Corral"), ("EMAIL", "corral@localhost"))
    }
    fixed = {"GIT_TERMINAL_PROMPT": "0", "GIT_DEFAULT_REF_FORMAT": "files", "LC_ALL": "C"}
    return kept | person | fixed


def version() -> str:
    """Return git's version, like 2.39.5."""
    return run(["git", "--version"], os.curdir, own_environment()).decode().split()[2]


def _not_started(program: str, cwd: str) -> GitFailed:
    if not isdir(cwd):
        return GitFailed(f"{program} cannot be started in {cwd!r}: there is no such folder")
    return GitFailed(f"the program {program} is not installed", _HINT)


def _subcommand(command: Sequence[str]) -> str:
    """Return the subcommand of a git command line."""
    words = iter(command[1:])
    for word in words:
        if word == "-c":
            next(words, None)
        elif not word.startswith("-"):
            return word
    return "itself"
