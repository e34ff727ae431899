"""The paths that a confined session can write to: its tree, its room and its branch.

A clone has an object store of its own. With `trees.kind = "worktree"`, a session must be able to
write to the repository's, and so could damage it.
"""

import os
from os.path import dirname, expanduser, join, realpath
from tempfile import gettempdir

from msgspec import Struct

from corral.core.config import ConfineSettings
from corral.core.errors import Failed
from corral.core.refs import branch_ref
from corral.core.session.verdict import REPORTS
from corral.roles.records.rooms import Room
from corral.world.environment import Hiding
from corral.world.processes import landlock
from corral.world.repository import Repository
from corral.world.trees import Tree

_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm")


class Confinement(Struct, frozen=True):
    """Lists the writable paths, or None if sessions are not confined."""

    config: ConfineSettings
    repository: Repository

    def check(self) -> None:
        """Refuse to start a session on a system that cannot confine it."""
        if self.config.enabled and not landlock.version():
            hint = "use Linux 5.13 or newer, or set confine.enabled to false"
            raise Failed("this system cannot confine sessions: it has no Landlock", hint)

    def variables(self, room: Room, hiding: Hiding | None = None) -> dict[str, str]:
        """Point temporary files to the room, if the shared folder cannot be written or read."""
        shared = realpath(gettempdir())
        if not self.config.enabled and not (hiding and hiding.surround(shared)):
            return {}
        folder = join(room.path, "tmp")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        return {"TMPDIR": folder}

    def of_session(self, tree: Tree, room: Room, *more: str, read_only: bool) -> list[str] | None:
        """Return what a session can write to; a read-only session can write only its reports."""
        if not self.config.enabled or not read_only:
            return self.of_checks(tree, room, *more)
        names = [join(tree.path, name) for name in sorted(REPORTS)]
        for path in names:
            flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            os.close(os.open(path, flags, 0o644))
        return [*self._always(room), *names, *more]

    def of_checks(self, tree: Tree, room: Room, *more: str) -> list[str] | None:
        """Return what commands that run in a session's tree can write to."""
        if not self.config.enabled:
            return None
        return [*self._always(room), tree.path, tree.git_dir, *self._shared(tree), *more]

    def _always(self, room: Room) -> list[str]:
        return [room.path, *_DEVICES, *map(expanduser, self.config.also)]

    def _shared(self, tree: Tree) -> list[str]:
        """Return the folders of the repository where a worktree's commits and branch are stored."""
        if tree.kind == "clone":
            return []
        branches = dirname(branch_ref(tree.branch))
        names = ("objects", branches, join("logs", branches))
        folders = [join(self.repository.git_dir, name) for name in names]
        for folder in folders:
            os.makedirs(folder, exist_ok=True)
        return folders
