"""What a session can write to, where sessions are confined: its tree, its room, its branch.

A tree that shares the repository's objects has to add to them, and so could harm them; with
`trees.kind = "clone"` it has objects of its own, too.
"""

import os
from os.path import dirname, expanduser, join

from corral.core.config import ConfineSettings
from corral.core.errors import Failed
from corral.core.ids import branch_ref
from corral.roles.records.rooms import Room
from corral.roles.witness import reports
from corral.world.processes import landlock
from corral.world.repository import Repository
from corral.world.trees import Tree

_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm")


class Confinement:
    """Says what can be written to; None where nothing is confined."""

    def __init__(self, config: ConfineSettings, repository: Repository) -> None:
        self._config = config
        self._repository = repository

    def check(self) -> None:
        """Refuse to start what could not be confined."""
        if self._config.enabled and not landlock.version():
            raise Failed(
                "this system cannot confine sessions: it has no Landlock",
                "use Linux 5.13 or newer, or set confine.enabled to false",
            )

    def variables(self, room: Room) -> dict[str, str]:
        """Return where temporary files go, as those of all cannot be written to."""
        if not self._config.enabled:
            return {}
        folder = join(room.path, "tmp")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        return {"TMPDIR": folder}

    def of_session(self, tree: Tree, room: Room, *more: str, read_only: bool) -> list[str] | None:
        """Return what a session can write to: only its reports, if it is to change nothing."""
        if not self._config.enabled or not read_only:
            return self.of_checks(tree, room, *more)
        names = [join(tree.path, name) for name in sorted(reports.NAMES)]
        for path in names:
            flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            os.close(os.open(path, flags, 0o644))
        return [*self._always(room), *names, *more]

    def of_checks(self, tree: Tree, room: Room, *more: str) -> list[str] | None:
        """Return what commands can write to that run in a session's tree."""
        if not self._config.enabled:
            return None
        return [*self._always(room), tree.path, tree.git_dir, *self._shared(tree), *more]

    def _always(self, room: Room) -> list[str]:
        return [room.path, *_DEVICES, *map(expanduser, self._config.also)]

    def _shared(self, tree: Tree) -> list[str]:
        """Return where git, in a tree that shares the repository, puts commits and the branch."""
        if tree.kind == "clone":
            return []
        branches = dirname(branch_ref(tree.branch))
        names = ("objects", branches, join("logs", branches))
        folders = [join(self._repository.git_dir, name) for name in names]
        for folder in folders:
            os.makedirs(folder, exist_ok=True)
        return folders
