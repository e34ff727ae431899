"""The environment and the hidden folders of what Corral runs for the project, on this machine.

`core/environment` decides; this module knows the variables of this process, the folders of the
repository, and which virtual environments import the project from the user's checkout.
"""

import os
import re
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from glob import iglob
from os.path import dirname, exists, isfile, join, realpath

from msgspec import Struct
from msgspec.structs import replace

from corral.core import faults
from corral.core.config import EnvironmentSettings
from corral.core.environment import Environment, Removed, compose, inside
from corral.core.faults import FailedCommand, Fault
from corral.world import leads
from corral.world.git import worktrees
from corral.world.processes import landlock
from corral.world.repository import Repository


class Hiding(Struct, frozen=True):
    """The folders whose files cannot be read, and what is shown of them all the same."""

    hidden: tuple[str, ...]
    shown: tuple[str, ...]

    def surround(self, folder: str) -> bool:
        """Say whether a hidden folder is in this one, so that new files in it cannot be read."""
        return any(inside(path, [folder]) for path in self.hidden)


class ProjectEnvironment(Struct, frozen=True):
    repository: Repository
    settings: EnvironmentSettings
    place: str  # of all trees

    def of(self, tree: str, *, tools: bool = True) -> Environment:
        """Return the environment of a program that runs in a tree."""
        elsewhere = self._elsewhere()
        found = compose(
            os.environ,
            self.settings,
            tree=realpath(tree),
            elsewhere=elsewhere,
            tools=tools,
            resolve=realpath,
        )
        return without_linked(found, realpath(tree), elsewhere) if self.doubted() else found

    def doubted(self) -> tuple[str, ...]:
        """Return the folders that a check must not use and could, because they cannot be hidden."""
        allowed = "." in self.settings.read
        return self._elsewhere() if self.unproven() and not allowed else ()

    def hiding(self, tree: str, *more: str) -> Hiding | None:
        """Return what checks in a tree cannot read; None if this system or a setting forbids it."""
        if self.unproven():
            return None
        allowed = [realpath(join(self.repository.main_worktree, p)) for p in self.settings.read]
        shown = (self.repository.git_dir, tree, *more, *allowed)
        found = Hiding(self._elsewhere(), tuple(map(realpath, shown)))
        home = realpath(os.path.expanduser("~"))
        if found.surround(home):
            # Tools make it when it is missing, and could then not read what they keep there.
            with suppress(OSError):
                os.makedirs(join(home, ".cache"), mode=0o700, exist_ok=True)
        return found

    def unproven(self) -> str:
        """Say why a check may be able to read the user's checkout; empty if it cannot."""
        if "." in self.settings.read:
            return "environment.read allows it"
        if not landlock.can_hide():
            return "this system has no Landlock that can hide folders (Linux 5.19 or newer)"
        checkout = realpath(self.repository.main_worktree)
        if inside(realpath(os.path.expanduser("~")), [checkout]):
            return f"your home folder is in the checkout {checkout}"
        return ""

    def fault(self, tree: str, failed: FailedCommand, owned: Sequence[str] = ()) -> Fault | None:
        """Return the fault of the machine that a command shows which failed in a tree."""
        environment = self.of(tree)
        lines = [_denied(line) for line in failed.lines]
        return faults.find(
            replace(failed, lines=lines),
            unset=[name for name in os.environ if name not in environment.variables],
            checkouts=[folder for folder in self._elsewhere() if folder != self.place],
            offered=lambda name: next(
                (f"{one.value} from {one.name}" for one in environment.removed if has(one, name)),
                "",
            ),
            owned=owned,
        )

    def _elsewhere(self) -> tuple[str, ...]:
        """Return the folders of the user's working files, and the folder of all trees."""
        git_dir = realpath(self.repository.git_dir)
        trees = {realpath(self.repository.main_worktree), realpath(self.repository.worktree)}
        trees.update(realpath(path) for _, path, held in worktrees.listed(git_dir) if not held)
        home = realpath(os.path.expanduser("~"))
        outside = {tree for tree in trees if tree != git_dir and not inside(tree, [self.place])}
        return (*sorted(one for one in outside if not inside(home, [one])), self.place)

    def of_session(self, tree: str, *, tools: bool) -> dict[str, str]:
        """Return that with a `corral` that sessions find, even if it is one of the checkout."""
        found = self.of(tree, tools=tools).variables
        if shutil.which("corral", path=found["PATH"]):
            return found
        program = shutil.which("corral") or join(dirname(sys.executable), "corral")
        folder = join(self.repository.folder, "bin")
        link = join(folder, "corral")
        if isfile(program) and os.path.isdir(self.repository.folder):
            os.makedirs(folder, exist_ok=True)
            with suppress(FileExistsError):
                if os.path.islink(link) and os.readlink(link) != program:
                    os.unlink(link)
                os.symlink(program, link)
            found["PATH"] += f":{folder}"
        return found


def has(removed: Removed, name: str) -> bool:
    """Say whether a program or module by this name is in what was taken out of the environment."""
    value = removed.value
    packages = [
        path
        for folder in (value, dirname(value))
        for path in iglob(join(folder, "lib", "python*", "site-packages"))
    ]
    folders = [value, join(value, "bin"), *packages]
    for path in (path for folder in packages for path in iglob(join(folder, "*.pth"))):
        folders += leads.read(path).splitlines()
    if any(exists(join(folder, file)) for folder in folders for file in (name, f"{name}.py")):
        return True
    finders = (path for folder in packages for path in iglob(join(folder, "__editable__*.py")))
    return any(re.search(rf"['\"]{re.escape(name)}['\"]", leads.read(path)) for path in finders)


def without_linked(found: Environment, tree: str, elsewhere: Sequence[str]) -> Environment:
    """Take out what is known to import the project from elsewhere: nothing else would."""
    path, gone = leads.taken_out(tree, found.variables, elsewhere)
    removed = [Removed("PATH", entry) for entry in gone]
    variables = found.variables | {"PATH": path}
    if leads.user_packages(tree, variables, elsewhere):
        removed.append(Removed("HOME", join(variables.get("HOME", "~"), ".local")))
        variables["PYTHONNOUSERSITE"] = "1"
    return replace(found, variables=variables, removed=(*found.removed, *removed))


def _denied(line: str) -> str:
    """Return a line about a file that cannot be read with the place that its path leads to."""
    refused = "denied" in line or "EACCES" in line
    return re.sub(r"/[^'\":\s]+", lambda path: realpath(path[0]), line) if refused else line
