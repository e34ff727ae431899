"""What `corral init` can say at once: faults that show without running or writing anything."""

import os
import re
from contextlib import suppress
from os.path import join

from corral.core.config import Config
from corral.roles.preflight import machine
from corral.roles.preflight.content import Content
from corral.roles.preflight.finding import BAD, Finding
from corral.world.git.tree import read_branch
from corral.world.repository import Repository
from corral.world.trees.door import place_of

NO_COMMITS = Finding(
    "branch",
    BAD,
    "the repository has no commits to start from",
    'git add . && git commit -m "Begin"',
)


def first_look(repository: Repository, config: Config) -> list[Finding]:
    place = place_of(repository, config.trees.folder or None)
    found = [one for one in machine.disk(place, config.trees) if one.state == BAD]
    branch = repository.branch()
    if branch and read_branch(repository.git_dir, branch) is None:
        found.append(NO_COMMITS)
    tree = repository.worktree
    submodules = re.findall(r"(?m)^\s*path\s*=\s*(.+?)\s*$", _text(join(tree, ".gitmodules")))
    lfs = "filter=lfs" in _text(join(tree, ".gitattributes"))
    lacking = Content(tuple(submodules), lfs=lfs).lacking(branch, os.devnull, config.trees.setup)
    return [*found, *(Finding(one.name, BAD, one.said, one.remedy) for one in lacking)]


def _text(path: str) -> str:
    with suppress(OSError), open(path, encoding="utf-8", errors="replace") as file:
        return file.read()
    return ""
