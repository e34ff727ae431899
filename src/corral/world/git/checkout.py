"""Git in a user's checkout, and the remote that it pushes to.

Nothing here goes beyond the finish policy that the user chose: a clean checkout is fast-forwarded,
a branch is pushed, a pull request is opened. These take as long as disk and network do, so each is
an errand that the caller need not wait for.
"""

import os
import signal
import tempfile
import time
from collections.abc import Sequence
from os.path import join

from corral.core.redaction import redacted
from corral.world.git.command import (
    SAFE,
    GitFailed,
    beside,
    own_environment,
    start,
    users_environment,
)

_LIMIT_S = 120.0
_ERRAND_S = 900.0
_ASK_S = 20.0
# A passphrase or a host's key must not be asked for: nobody may be there.
_SILENT = {"SSH_ASKPASS": "false", "SSH_ASKPASS_REQUIRE": "force"}
_IN_THE_MIDDLE = ("rebase-merge", "rebase-apply", "MERGE_HEAD", "CHERRY_PICK_HEAD", "BISECT_LOG")


class Errand:
    """A command that may take minutes; it runs beside the caller, who asks for its end."""

    def __init__(self, argv: Sequence[str], place: str, limit_s: float | None = _ERRAND_S) -> None:
        self._limit_s = limit_s
        self._name = os.path.basename(argv[0])
        self._output = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the errand
        self._process = beside(argv, place, own_environment(), self._output)
        self._deadline = time.monotonic() + (limit_s or 0)

    def problem(self) -> str | None:
        """Return what went wrong, an empty string if nothing did, or None while it runs."""
        if self._process.poll() is None:
            if self._limit_s is None or time.monotonic() < self._deadline:
                return None
            self._end()
            return f"{self._name} took longer than {self._limit_s:g} s and was killed"
        if not self._process.returncode:
            return ""
        self._output.seek(0)
        said = redacted(" ".join(self._output.read().decode("utf-8", "replace").split()))[-300:]
        return said or f"exit code {self._process.returncode}"

    def close(self) -> None:
        """End it, or wait for it if it has no timeout."""
        if self._limit_s is not None and self._process.poll() is None:
            self._end()
        self._process.wait()
        self._output.close()

    def _end(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def is_clean(place: str) -> bool:
    """Say whether a checkout has no changes and no merge or similar operation in progress."""
    own = _output(place, "rev-parse", "--absolute-git-dir")
    if own is None or any(os.path.exists(join(own.strip(), name)) for name in _IN_THE_MIDDLE):
        return False
    return _output(place, "status", "--porcelain") == ""


def fast_forward(place: str, commit: str) -> Errand:
    """Fast-forward the checked-out branch, including its files, but none that git ignores.

    It has no timeout: git must not be killed while it writes the user's files.
    """
    merge = ("merge", "--ff-only", "--no-overwrite-ignore", "--quiet", commit)
    return Errand(["git", *SAFE, *merge], place, limit_s=None)


def push(git_dir: str, branch: str) -> Errand:
    command = ["git", f"--git-dir={git_dir}", *SAFE, "push", "--quiet", "origin", branch]
    return Errand(command, git_dir)


def open_pull_request(gh: str, git_dir: str, branch: str, base: str) -> Errand:
    return Errand([gh, "pr", "create", "--fill", "--head", branch, "--base", base], git_dir)


def has_identity(place: str) -> bool:
    """Say whether git would let the user commit."""
    return start(["git", "var", "GIT_COMMITTER_IDENT"], place, users_environment()).returncode == 0


def has_remote(git_dir: str, name: str) -> bool:
    command = ["git", f"--git-dir={git_dir}", "config", f"remote.{name}.url"]
    return start(command, git_dir, own_environment()).returncode == 0


def remote_problem(git_dir: str, name: str) -> str:
    """Return why a remote cannot be read."""
    command = ["git", f"--git-dir={git_dir}", *SAFE, "ls-remote", "--heads", name, "HEAD"]
    said = _problem(command, git_dir).removeprefix("fatal: ")
    return said.partition(" fatal: ")[0]  # git adds a general one


def gh_problem(gh: str, git_dir: str) -> str:
    """Return why `gh` cannot open pull requests."""
    return _problem([gh, "auth", "status"], git_dir)


def _problem(command: Sequence[str], place: str) -> str:
    try:
        done = start(command, place, own_environment() | _SILENT, limit_s=_ASK_S)
    except GitFailed as error:
        return error.message
    said = redacted(" ".join(done.stderr.decode("utf-8", "replace").split()))[-300:]
    return "" if done.returncode == 0 else said or f"exit code {done.returncode}"


def _output(place: str, *args: str) -> str | None:
    done = start(["git", *SAFE, *args], place, own_environment(), limit_s=_LIMIT_S)
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None
