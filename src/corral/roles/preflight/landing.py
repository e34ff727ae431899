"""What is found about the way that finished work takes: to the base branch, or to a remote."""

import shutil
from collections.abc import Iterator

from corral.core.config import Config
from corral.roles.preflight.finding import BAD, NOTE, OK, Finding
from corral.world.git import checkout
from corral.world.repository import Repository

_REMOTE = "origin"


def landing(repository: Repository, config: Config) -> Iterator[Finding]:
    """Look at what `refinery.finish` needs."""
    finish = config.refinery.finish
    if finish == "pull-request":
        yield from _pull_request(repository)
    elif finish != "leave" and not checkout.is_clean(repository.main_worktree):
        said = f"refinery.finish is {finish}, but your checkout has uncommitted changes"
        yield Finding("checkout", NOTE, said, "commit or stash them before the work has landed")


def _pull_request(repository: Repository) -> Iterator[Finding]:
    gh = shutil.which("gh")
    if gh is None:
        said = "refinery.finish is pull-request, but gh is not installed"
        yield Finding("remote", BAD, said, "install gh, or choose another refinery.finish")
    elif problem := checkout.gh_problem(gh, repository.git_dir):
        yield Finding("remote", BAD, f"gh is not logged in: {problem}", "gh auth login")
    if not checkout.has_remote(repository.git_dir, _REMOTE):
        said = f"refinery.finish is pull-request, but there is no remote {_REMOTE!r} to push to"
        yield Finding("remote", BAD, said, f"git remote add {_REMOTE} URL")
    elif problem := checkout.remote_problem(repository.git_dir, _REMOTE):
        said = f"the remote {_REMOTE!r} cannot be reached: {problem}"
        yield Finding("remote", BAD, said, f"git ls-remote {_REMOTE} shows the same")
    elif gh is not None:
        yield Finding("remote", OK, f"the remote {_REMOTE!r} answers")
