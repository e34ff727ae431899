"""Brings a check tree to exactly one commit, whatever the previous run did to it.

The warm way: repair the tree's git folder, write the files that differ, remove those that are not
in the commit, and verify the result. If any of it fails or something is left over, the cold way:
the folder is renamed away and created again. All git commands run through a view with our own index
(`world/git/view`), so nothing that a check wrote is trusted or run.
"""

import os
import secrets
import stat
from collections.abc import Sequence
from os.path import basename, dirname, isdir, islink, join, relpath

from corral.core.config import TreeSettings
from corral.core.errors import Failed, NotFound
from corral.world import setups
from corral.world.checks.model import SetUp
from corral.world.git import GitFailed, worktrees
from corral.world.git.tree import Tree, read_plain
from corral.world.git.view import Desk, View, put
from corral.world.git.worktrees import locked, remove
from corral.world.trees import files, seeds, trash
from corral.world.trees.door import SETUPS
from corral.world.trees.seeds import setup_key

LOCK, LAST_RUN = "lock", "run"
_OWN, _CHANGED = "own", "C"
_GITLINK = "160000"


class CheckTree:
    """A check tree that we hold: nothing else uses it, and nothing runs in it."""

    def __init__(self, view: View, path: str, desk: str, keep: Sequence[str], lock: int) -> None:
        self.path = path
        self.temporary = f"{path}-tmp"
        self._view = view
        self._desk = Desk(view, desk, path, held=(lock,))
        self._keep = tuple(name.strip("/") for name in keep)

    def check_out(self, commit: str) -> str:
        """Bring the tree to exactly one commit and empty its TMPDIR; return the full commit id."""
        found = None if "\n" in commit else self._view.commit(commit)
        if found is None:
            raise NotFound(f"there is no commit {commit!r} to check")
        self.empty_temporary()
        try:
            clean = self._warm(found)
        except (GitFailed, OSError):
            clean = False  # whatever is wrong, a new folder does not have it
        if not clean:
            self._cold(found)
        return found

    def prepare(self, settings: TreeSettings, checkout: str) -> None:
        """Copy files that git does not track from the user's checkout."""
        tree = self._known()
        if tree is not None:
            seeds.plant(checkout, tree.path, settings.seed)
            seeds.copy(self._view, checkout, tree, settings.copy)

    def set_up(self, commit: str, settings: TreeSettings) -> SetUp:
        """Return the set-up of the tree, for the runner."""
        store = join(dirname(self.path), SETUPS, basename(self.path))
        limit_s, key = settings.setup_s, setup_key(self._view, commit, settings)
        return SetUp(settings.setup, limit_s, store, key, setups.__file__)

    def left(self, commit: str, settings: TreeSettings) -> tuple[list[str], list[str]]:
        """Return what the last set-up left that git does not ignore, and what it changed."""
        setup = self.set_up(commit, settings)
        made = setups.listing(join(setup.store, setup.key))
        options = (("-o", "--directory", "--exclude-standard"), ("-m",))
        new, changed = (
            [
                path
                for path in os.fsdecode(self._desk.run("ls-files", "-z", *words)).split("\0")
                if path in made or (path[-1:] == "/" and any(one.startswith(path) for one in made))
            ]
            for words in options
        )
        return new, changed

    def let_go(self) -> None:
        """Undo what a run may have left in shared lists of git.

        A branch that it checked out counts as in use, and `git gc` must be able to read its index.
        """
        self.empty_temporary()
        tree = self._known()
        if tree is not None:
            worktrees.repair(tree.git_dir, tree.path, tree.base)
            files.hand_over(tree, self._desk)

    def remove(self) -> None:
        self._vanish()
        trash.remove(self.temporary)
        remove(self._desk.folder)

    def empty_temporary(self) -> None:
        trash.remove(self.temporary)
        os.mkdir(self.temporary, mode=0o700)

    def _warm(self, commit: str) -> bool:
        tree = self._known()
        if tree is None:
            return False
        self._open_up()
        remove(self._in_desk("index.lock"))  # left by a killed git; we hold the tree
        # First, so that the commit cannot be garbage-collected in the meantime.
        worktrees.repair(tree.git_dir, tree.path, commit)
        put(self._in_desk("HEAD"), f"{commit}\n")
        files.check_out(tree, self._desk, commit)
        files.clean(tree, self._desk, self._keep)
        if self._differences():
            return False
        files.hand_over(tree, self._desk)
        return True

    def _cold(self, commit: str) -> None:
        self._vanish()
        with locked(self._view.git_dir):
            own = worktrees.add(self._view.git_dir, self.path, commit)
            put(self._in_desk(_OWN), own)
        for name in ("index", "index.lock"):
            remove(self._in_desk(name))
        put(self._in_desk("HEAD"), f"{commit}\n")
        tree = self._tree(own, commit)
        files.check_out(tree, self._desk, commit)
        # If line endings contradict the attributes, git calls files changed that it just wrote.
        strange = [path for tag, path in self._differences() if tag != _CHANGED]
        if strange:
            raise Failed(f"{self.path!r} differs from {commit} even when made anew: {strange[0]!r}")
        files.hand_over(tree, self._desk)

    def _known(self) -> Tree | None:
        """Return the tree as it was created; None if something else is there."""
        own = os.fsdecode(read_plain(self._in_desk(_OWN)) or b"")
        head = os.fsdecode(read_plain(self._in_desk("HEAD")) or b"").strip()
        tree = self._tree(own, head)
        # In a copy of the repository, it would belong to the original.
        ours = dirname(own) == join(self._view.git_dir, "worktrees")
        whole = ours and head and isdir(own) and not islink(own) and tree.exists
        return tree if whole else None

    def _tree(self, own: str, commit: str) -> Tree:
        return Tree(self.path, basename(self.path), "worktree", "", commit, own)

    def _in_desk(self, name: str) -> str:
        return join(self._desk.folder, name)

    def _open_up(self) -> None:
        """Restore access to folders that a check closed, except kept ones."""
        os.chmod(self.path, os.lstat(self.path).st_mode & 0o7777 | stat.S_IRWXU)
        for inside, folders, _ in os.walk(self.path):
            here = relpath(inside, self.path)
            folders[:] = [n for n in folders if join(here, n).removeprefix("./") not in self._keep]
            for name in folders:
                path = join(inside, name)
                mode = os.lstat(path).st_mode
                if stat.S_ISDIR(mode) and mode & stat.S_IRWXU != stat.S_IRWXU:
                    os.chmod(path, stat.S_IMODE(mode) | stat.S_IRWXU)

    def _differences(self) -> list[tuple[str, str]]:
        """Return what differs from the commit; submodules are emptied, as git leaves them."""
        kept = [word for path in self._keep for word in ("-x", f"/{path}")]
        listed = self._desk.run("ls-files", "-z", "-t", "-s", "-o", "-m", "-d", *kept)
        found = []
        for line in filter(None, os.fsdecode(listed).split("\0")):
            tag, rest = line.split(" ", 1)
            if tag != "H":
                found.append((tag, rest))
            elif rest.startswith(_GITLINK):
                self._empty(rest.partition("\t")[2])
        return found

    def _empty(self, path: str) -> None:
        folder = join(self.path, path)
        if os.listdir(folder):
            trash.delete(folder)
            os.mkdir(folder)

    def _vanish(self) -> None:
        """Move the folder and its git folder away, each atomically, and delete them.

        Not in the background, because it may be what fills the disk.
        """
        with locked(self._view.git_dir):
            folder = trash.take_away(self.path)
            gone = [folder] if folder else []
            for own in self._entries():
                away = self._in_desk(f"gone-{secrets.token_hex(8)}")
                os.rename(own, away)
                gone.append(away)
            remove(self._in_desk(_OWN))
        for path in gone:
            trash.delete(path)

    def _entries(self) -> set[str]:
        """Return our git folders: the known one, or one whose creator was killed too early."""
        listed = join(self._view.git_dir, "worktrees")
        names = os.listdir(listed) if isdir(listed) else []
        link = os.fsencode(join(self.path, ".git"))
        known = os.fsdecode(read_plain(self._in_desk(_OWN)) or b"")
        return {
            own
            for own in (join(listed, name) for name in names)
            if own == known or (read_plain(join(own, "gitdir")) or b"").strip() == link
        }
