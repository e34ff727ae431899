"""Everything that Corral has left in a repository and beside it: find it, and remove it.

Nothing here needs the log, which may be damaged or gone. Work is kept before anything is removed:
the content of trees under refs, refs in a bundle, the log and the configuration as files. Every
step may be repeated, so a removal that was killed is finished by the next one.
"""

import os
import shutil
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from os.path import basename, dirname, isdir, join, realpath

from msgspec import Struct

from corral.core.errors import Refused
from corral.core.refs import branch_of, branch_ref, is_ours
from corral.roles.locks import only_one, taken
from corral.world import processes
from corral.world.checks import Pool
from corral.world.git import Git, worktrees
from corral.world.git.tree import Tree, read_head
from corral.world.repository import Repository
from corral.world.trees import Trees, clones, trash
from corral.world.trees.door import SETUPS, place_of
from corral.world.trees.slots import TreeSlots

ROLES = ("supervisor", "server", "witness", "refinery", "deacon", "mayor")
_LOG = ("log.db", "log.db-wal")


class Traces(Struct, frozen=True):
    refs: dict[str, str]  # those that Corral made, with their commits
    alone: Sequence[str]  # those of them with commits that no other ref has
    others: Sequence[str]  # the commits of all refs that stay
    trees: Sequence[str]
    folders: Sequence[str]
    settings: Sequence[str]  # the folders `.corral` that are not committed
    stay: dict[str, str]  # what is not removed, and why


class Ground:
    """A repository, and the place beside it in which its working trees are."""

    def __init__(self, repository: Repository, configured: str) -> None:
        self._repository = repository
        self._git_dir = realpath(repository.git_dir)
        self._git = Git(repository.git_dir, repository.worktree)
        self._configured = configured or None
        self.place = place_of(repository, self._configured)

    def look(self, *, branches: bool = True) -> Traces:
        """Find everything; change nothing."""
        repository, linked = self._repository, list(worktrees.listed(self._git_dir))
        heads = [self._git_dir, *(own for own, _, ours in linked if not ours)]
        used = {branch_ref(read_head(folder).branch) for folder in heads}
        every = self._git.refs()
        ours = {ref: commit for ref, commit in every.items() if is_ours(ref)}
        stay = dict.fromkeys(ours.keys() & used, "it is checked out")
        if not branches:
            stay |= {ref: "branches are kept" for ref in ours if branch_of(ref)}
        refs = {ref: commit for ref, commit in ours.items() if ref not in stay}
        others = sorted({commit for ref, commit in every.items() if ref not in refs})
        only = self._git.missing_from(refs.values(), others) if refs else set()
        slots = TreeSlots(self._git_dir, self.place).all()
        trees = {path for _, path, held in linked if held} | {slot.tree.path for slot in slots}
        trees |= {tree.path for tree in clones.found(self._git_dir, self.place)}
        settings = []
        checkouts = [repository.main_worktree, *(path for _, path, held in linked if not held)]
        for folder in (join(path, ".corral") for path in checkouts):
            if isdir(folder) and Git(repository.git_dir, dirname(folder)).is_tracked(".corral"):
                stay[folder] = "it is committed: git rm -r .corral"
            elif isdir(folder):
                settings.append(folder)
        return Traces(
            refs=refs,
            alone=sorted(ref for ref, commit in refs.items() if commit in only),
            others=others,
            trees=sorted(trees),
            folders=[folder for folder in (repository.folder, self.place) if isdir(folder)],
            settings=settings,
            stay=stay,
        )

    def running(self) -> list[str]:
        """Return the roles that run, and the sessions that have processes."""
        roles = [role for role in ROLES if taken(self._repository.folder, role)]
        return roles + sorted({stray.session for stray in self._strays()})

    def remains(self) -> dict[str, list[str]]:
        """Return the names, by kind, of what processes that were killed may have left over."""
        folder, slots = self._repository.folder, TreeSlots(self._git_dir, self.place)
        known = {slot.tree.git_dir for slot in slots.all()}
        checks = _names(join(folder, "check-trees"))
        sockets = [] if taken(folder, "server") else ["server.sock"]
        return {
            "refs": list(filter(is_ours, self._git.refs())),
            "worktrees": [
                path
                for own, path, held in worktrees.listed(self._git_dir)
                if held and own not in known and basename(path) not in checks
            ]
            + [
                tree.path
                for tree in clones.found(self._git_dir, self.place)
                if tree.git_dir not in known
            ],
            "unfinished": [slot.tree.path for slot in slots.abandoned()]
            + trash.waiting(self.place),
            "rooms": _names(join(folder, "sessions")),
            "processes": [stray.session for stray in self._strays()],
            "sockets": [name for name in _names(join(folder, "run")) if name in sockets],
        }

    def remove(self, into: str, *, branches: bool, stop: bool) -> Traces:
        """Remove everything; keep work, log and settings in a new folder, if there are any."""
        folder, running = self._repository.folder, self.running()
        if stop and not set(running) & set(ROLES):
            processes.end(self._strays())
            running = self.running()
        _refuse(running)
        with ExitStack() as locks:
            for role in ROLES:
                locks.enter_context(only_one(folder, role))
            os.mkdir(into)
            self._remove_trees()
            found = self.look(branches=branches)  # trees have left kept work
            if found.alone:
                self._git.bundle(join(into, "work.bundle"), found.alone, found.others)
            self._git.delete_all(found.refs)
            for number, settings in enumerate(found.settings, 1):
                shutil.move(settings, join(into, f"settings-{number}"))
            for name in set(_LOG) & set(_names(folder)):
                shutil.move(join(folder, name), join(into, name))
            trash.erase(folder)
        empty = [join(self._git_dir, name) for name in ("worktrees", "refs/corral")]
        for path in (self.place, into, *empty):
            with suppress(OSError):
                os.rmdir(path)  # unless there is something in it
        return found

    def _remove_trees(self) -> None:
        door = Trees(self._repository, place=self._configured)
        for tree in door.list():
            door.remove(tree, "uninstalled")
        door.drain()
        pool = Pool(self._repository, place=self._configured)
        for slot in pool.slots():
            pool.remove(slot)
        for own, path, held in list(worktrees.listed(self._git_dir)):
            if held:
                commit = read_head(own).commit
                tree = Tree(path, basename(path), "worktree", "", commit, own)
                door.keep.pin(tree, "uninstalled")
                trash.remove(path)
                worktrees.forget(own)
        for tree in clones.found(self._git_dir, self.place):
            door.keep.pin(tree, "uninstalled")
            trash.remove(tree.path)
            clones.forget(tree.git_dir)
        door.sweep()
        trash.remove(join(self.place, SETUPS))

    def _strays(self) -> list[processes.Stray]:
        return processes.strays(self._repository.git_dir, live=())


def _refuse(running: Sequence[str]) -> None:
    if not running:
        return
    hint = "corral uninstall --stop ends sessions and keeps their work"
    if set(running) & set(ROLES):
        hint = "corral down" if "supervisor" in running else "stop them where they were started"
    said = f"still running: {', '.join(running)}; nothing was removed"
    raise Refused(said, hint, code="still_running")


def _names(folder: str) -> list[str]:
    return sorted(os.listdir(folder)) if isdir(folder) else []
