"""Git in a user's checkout, and the remote that it pushes to.

Nothing here goes beyond the finish policy that the user chose: a clean checkout is fast-forwarded,
a branch is pushed, a pull request is opened. Each function that changes something returns what went
wrong, or an empty string.
"""

import os
from collections.abc import Sequence
from os.path import join

from corral.core.redaction import redacted
from corral.world.git.command import SAFE, own_environment, start

_LIMIT_S = 120.0
_IN_THE_MIDDLE = ("rebase-merge", "rebase-apply", "MERGE_HEAD", "CHERRY_PICK_HEAD", "BISECT_LOG")


def is_clean(place: str) -> bool:
    """Say whether a checkout has no changes and no merge or similar operation in progress."""
    own = _output(place, "rev-parse", "--absolute-git-dir")
    if own is None or any(os.path.exists(join(own.strip(), name)) for name in _IN_THE_MIDDLE):
        return False
    return _output(place, "status", "--porcelain") == ""


def fast_forward(place: str, commit: str) -> str:
    """Fast-forward the checked-out branch, including its files."""
    return _problem(["git", *SAFE, "merge", "--ff-only", "--quiet", commit], place)


def push(git_dir: str, branch: str) -> str:
    return _problem(["git", f"--git-dir={git_dir}", *SAFE, "push", "origin", branch], git_dir)


def open_pull_request(gh: str, git_dir: str, branch: str, base: str) -> str:
    command = [gh, "pr", "create", "--fill", "--head", branch, "--base", base]
    return _problem(command, git_dir)


def _output(place: str, *args: str) -> str | None:
    done = start(["git", *SAFE, *args], place, own_environment(), limit_s=_LIMIT_S)
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None


def _problem(command: Sequence[str], place: str) -> str:
    done = start(command, place, own_environment(), limit_s=_LIMIT_S)
    said = redacted(" ".join(done.stderr.decode("utf-8", "replace").split()))[-300:]
    return "" if done.returncode == 0 else said or f"exit code {done.returncode}"
