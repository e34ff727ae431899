"""What is found about this machine: free space, the environment of checks, the git identity."""

import os
import shutil
from collections.abc import Iterator
from os.path import join

from corral.core.config import TreeSettings
from corral.roles.preflight.finding import BAD, NOTE, OK, Finding, setting
from corral.world.environment import ProjectEnvironment
from corral.world.git import checkout
from corral.world.repository import Repository

_MB, _GB = 1_000_000, 1_000_000_000
MAKE_ROOM = "make room, or put the trees on another disk with trees.folder"


def disk(place: str, settings: TreeSettings) -> Iterator[Finding]:
    """Look for space where the trees are."""
    folder, free = room(place)
    least = settings.free_mb * _MB
    if free < least:
        said = f"{size(free)} are free in {folder}, less than the {size(least)} of trees.free_mb"
        yield Finding("disk", BAD, said, MAKE_ROOM)
    else:
        yield Finding("disk", OK, f"{size(free)} are free in {folder}")


def room(place: str) -> tuple[str, int]:
    """Return the folder in which trees are made, and the bytes that are free there."""
    folder = os.path.dirname(place)
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    return folder, shutil.disk_usage(folder).free


def size(count: int) -> str:
    return f"{count / 1e9:,.1f} GB" if count >= _GB else f"{count / _MB:,.1f} MB"


def environment(project: ProjectEnvironment) -> Iterator[Finding]:
    """Name what checks do not get, and say whether they can read the user's checkout."""
    found = project.of(join(project.place, "tree"))
    for one in found.removed:
        said = f"{one.value} is not passed on in {one.name}: it points into your checkout"
        yield Finding("environment", NOTE, said, "give each tree its own tools with trees.setup")
    for name in found.withheld:
        said = f"{name} is withheld, because it looks like a secret"
        yield Finding("environment", NOTE, said, setting("environment", f'pass = ["{name}"]'))
    why = project.unproven()
    said = "checks cannot read your checkout, so a check that passes has not used it"
    if why:
        said = f"a check can read your checkout, and may pass because of it: {why}"
    yield Finding("proof", NOTE if why else OK, said)


def identity(repository: Repository) -> Iterator[Finding]:
    """Say if git does not know the user; Corral's own commits have names of their own."""
    if not checkout.has_identity(repository.worktree):
        said = "git does not know your name and address, which merging a convoy by hand needs"
        mend = 'git config --global user.name "…" && git config --global user.email …'
        yield Finding("identity", NOTE, said, mend)
