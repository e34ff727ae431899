"""Creates, reuses, adopts, lists and removes the session trees of one repository.

Trees live beside the user's checkout: inside it, searches would find every file once more per
session, and below `.git` some test runners ignore all paths. The checkout is read (files to copy)
and never written. Only the list of trees is changed under the repository's lock; files are written
without it. A tree is removed, parked or given to another session only after its content was kept.
"""

import os
from collections.abc import Callable, Collection, Sequence
from os.path import abspath, basename, commonpath, dirname, exists, isdir, join, realpath

from msgspec.structs import replace

from corral.core.config import TreeSettings
from corral.core.errors import BadInput, NotFound, Refused
from corral.core.refs import branch_ref
from corral.world import clock
from corral.world.git import large_files, worktrees
from corral.world.git.command import GitFailed
from corral.world.git.conflicts import ConflictState, enter
from corral.world.git.tree import Kind, Tree, read_branch, read_head
from corral.world.git.view import Desk, View
from corral.world.git.worktrees import locked
from corral.world.keep import Keep, Kept
from corral.world.repository import Repository
from corral.world.trees import clones, files, seeds, trash
from corral.world.trees.facts import TreeFacts, facts, untracked
from corral.world.trees.slots import Slot, TreeSlots, is_safe

SETUPS = "setups"  # the folder beside the trees with what their set-up has made


class Trees:
    def __init__(
        self,
        repository: Repository,
        *,
        place: str | None = None,
        pool: int = 4,
        keep_ignored: Sequence[str] = (),
        now: clock.Clock = clock.now,
    ) -> None:
        """Up to `pool` trees are kept for reuse; the paths in `keep_ignored` survive in them."""
        self._git_dir = realpath(repository.git_dir)
        self._checkout = repository.main_worktree
        self.place = place_of(repository, place)
        self._pool = pool
        self._keep_ignored = tuple(keep_ignored)
        self._plain = View(self._git_dir)
        self._raw = View(self._git_dir, raw=True)
        self.keep = Keep(self._git_dir, plain=self._plain, raw=self._raw, now=now)
        self._slots = TreeSlots(self._git_dir, self.place)
        self._copied: tuple[tuple[int, int, int], str] | None = None

    def make(
        self,
        name: str,
        branch: str,
        start: str,
        *,
        kind: Kind = "clone",
        fresh: bool = False,
        at: str = "",
        leave: Callable[[], Collection[str]] = tuple,
    ) -> Tree:
        """Give a session a tree on its branch, a parked one if there is one.

        A new branch begins at `start`. An existing one continues where it is; with `fresh` it is
        kept and then reset to `start`. The tree is created `at` that path if it is free, and never
        at a path that `leave` returns; it is called last, when none can be released any more.
        """
        if not is_safe(name):
            raise BadInput(f"{name!r} is not a valid session name: use letters, digits, - and _")
        if not all(map(is_safe, branch.split("/"))):
            raise BadInput(f"{branch!r} is not a valid name for a session's branch")
        base = self._commit(start)
        os.makedirs(self.place, exist_ok=True)
        with locked(self._git_dir):
            self._reap()
            self._refuse_taken(name, branch)
            commit = self._branch(name, branch, base, fresh=fresh)
            place = self._choose(at, leave())
            slot = self._occupy(name, branch, base, kind, place)
            held = self._slots.hold(slot)
            if kind == "clone":
                clones.hold_base(self._git_dir, slot.tree)
        try:
            self._fill(slot, commit)
            self._slots.save(replace(slot, state="live"))
        except BaseException:
            self._discard(slot)  # no session has worked in it
            raise
        finally:
            os.close(held)
        return slot.tree

    def adopt(self, name: str) -> Tree:
        """Find the tree of a current or past session, and repair the links that git needs."""
        with locked(self._git_dir):
            tree = self.find(name)
            if tree is None:
                raise NotFound(f"there is no worktree of {name!r}", "corral session list")
            if tree.kind == "clone":
                clones.reconnect(self._git_dir, tree)
            elif tree.exists:
                worktrees.reconnect(tree.git_dir, tree.path, f"ref: {branch_ref(tree.branch)}")
        return tree

    def find(self, name: str) -> Tree | None:
        """Return the tree of a session, unchanged."""
        return next((tree for tree in self.list() if tree.name == name), None)

    def list(self) -> list[Tree]:
        """Return the trees of sessions, without parked ones."""
        return [slot.tree for slot in self._slots.live()]

    def prepare(
        self, tree: Tree, copies: Sequence[str], folders: Sequence[str] = ()
    ) -> tuple[str, ...]:
        """Copy files from the user's checkout; return those that git does not ignore."""
        seeds.plant(self._checkout, tree.path, folders)
        return seeds.copy(self._plain, self._checkout, tree, copies)

    def clean(self, tree: Tree) -> None:
        """Remove what is not of git from the tree of a session that has not begun."""
        files.clean(tree, self._desk(tree), self._keep_ignored)

    def clean_again(self, tree: Tree, keep: Sequence[str]) -> None:
        """Remove what is not of git from the tree of a session that has committed its work."""
        self._kept(tree, "it is set up again")
        with self._plain.desk(self.tip(tree), tree) as desk:
            files.clean(tree, desk, (*self._keep_ignored, *keep))

    def pass_over(self, tree: Tree) -> tuple[str, ...]:
        """Make git ignore what is untracked in a tree before its session begins; return that."""
        found = untracked(self._plain, tree)
        if tree.kind == "clone" and found:
            clones.exclude(tree.git_dir, found)
        return found

    def setup_store(self, tree: Tree, settings: TreeSettings) -> tuple[str, str]:
        """Return where results of the set-up are kept for a tree, and the key of this one."""
        key = seeds.setup_key(self._plain, self.collect(tree), settings)
        return join(self.place, SETUPS, basename(tree.path)), key

    def facts(self, tree: Tree) -> TreeFacts:
        """Say what a session has done."""
        return facts(self._plain, tree)

    def tip(self, tree: Tree) -> str | None:
        """Return the commit of a session's branch, which the repository may not have yet."""
        found = read_branch(tree.with_refs(self._git_dir), tree.branch)
        return self._plain.commit(found or "-", tree.borrowed)

    def fetch(self, tree: Tree, commit: str) -> None:
        """Copy a commit of a session into the repository, unless it is there; no ref is moved."""
        if tree.borrowed:
            with self._raw.desk(tree=tree) as desk:
                self.keep.bring(commit, tree.base, desk)

    def collect(self, tree: Tree) -> str:
        """Return the commit of a session's branch; the repository's branch follows it."""
        commit = self.tip(tree)
        if commit is None:
            raise NotFound(f"the branch {tree.branch!r} of {tree.name!r} has no commit")
        if tree.kind == "clone":
            self.fetch(tree, commit)
            self._follow(tree, commit, "its session left it")
        large_files.bring(tree.git_dir, self._git_dir)
        return commit

    def without(self, tree: Tree, names: Collection[str], message: str) -> None:
        """Take files off a session's branch that its base does not have, with one commit."""
        tip = self.tip(tree)
        if tip is None or read_head(tree.git_dir).branch != tree.branch:
            return
        listed, before = (
            self._plain.run("ls-tree", "-z", "--name-only", commit, *names, borrow=tree.borrowed)
            for commit in (tip, tree.base)
        )
        added = set(listed.split(b"\0")) - set(before.split(b"\0"))
        if not added:
            return
        self.fetch(tree, tip)
        with self._plain.desk() as desk:
            desk.run("read-tree", tip)
            desk.run("update-index", "--force-remove", "-z", "--stdin", stdin=b"\0".join(added))
            files_left = desk.run("write-tree").decode().strip()
            said = desk.run("commit-tree", files_left, "-p", tip, "-m", message)
        commit = said.decode().strip()
        if tree.kind == "clone":
            clones.put_branch(tree.git_dir, tree.branch, commit)
        else:
            self._plain.move(branch_ref(tree.branch), commit, tip)

    def _follow(self, tree: Tree, commit: str, reason: str) -> None:
        """Point the repository's branch of a tree at a commit; the one that it leaves is kept."""
        ref = branch_ref(tree.branch)
        old = self._plain.commit(ref)
        if old == commit:
            return
        if old is not None and not self._plain.contains(commit, old):
            self.keep.hold(tree.name, tree.branch, old, reason)
        self._raw.move(ref, commit, old)

    def put_back(self, tree: Tree, reason: str) -> None:
        """Reset a session's branch to its base; the commit that it leaves is kept."""
        old = self.tip(tree)
        if old is None or old == tree.base:
            return
        self.fetch(tree, old)
        self.keep.hold(tree.name, tree.branch, old, reason)
        if tree.kind == "clone":
            clones.put_branch(tree.git_dir, tree.branch, tree.base)
        self._follow(tree, tree.base, reason)

    def show_conflict(self, tree: Tree, state: ConflictState) -> Kept | None:
        """Keep the content of a tree, then show its session a conflict in it.

        Its branch is at the tip, its files have conflict markers, its index has the stages. Nothing
        may run in it. The commit that the branch leaves is kept unless another ref reaches it.
        """
        files.refuse_link(tree)
        kept = self.keep.pin(tree, "a conflict is shown")
        ref = branch_ref(tree.branch)
        old = self._plain.commit(ref)
        if old:
            self.keep.hold(tree.name, tree.branch, old, "a conflict is shown")
        self._connect(tree, state.tip)
        desk = self._desk(tree)
        enter(desk, state)
        self._plain.move(ref, state.tip, old)
        files.hand_over(tree, desk)
        return kept

    def release(self, tree: Tree, reason: str = "released") -> Kept | None:
        """Keep the content of a tree, then clean it and park it for another session.

        Nothing may run in it any more. Trees beyond the size of the pool are removed.
        """
        if not tree.exists:
            return self.remove(tree, reason)
        slot = self._slot(tree)
        kept = self._kept(tree, reason)
        desk = self._desk(tree)
        try:
            files.clean(tree, desk, self._keep_ignored)
            files.empty_nested(tree, desk, self._keep_ignored)
            files.check_out(tree, desk, tree.base)
        except GitFailed:
            self._discard(slot)
            return kept
        with locked(self._git_dir):
            room = len(self._slots.parked()) < self._pool
            if room:
                if tree.kind == "worktree":
                    worktrees.repair(tree.git_dir, tree.path, tree.base)
                empty = replace(tree, name="", branch="")
                self._slots.save(replace(slot, state="parked", tree=empty))
                if tree.kind == "clone":
                    self._drop_clone(tree)
        if not room:
            self._discard(slot)
        return kept

    def remove(self, tree: Tree, reason: str = "removed") -> Kept | None:
        """Keep the content of a tree, then remove it; after an error nothing has changed."""
        slot = self._slot(tree)
        kept = self._kept(tree, reason)
        self._discard(slot)
        return kept

    def _kept(self, tree: Tree, reason: str) -> Kept | None:
        """Keep the content of a tree; its commits also on the repository's branch."""
        if tree.kind == "clone" and self.tip(tree):
            self.collect(tree)
        large_files.bring(tree.git_dir, self._git_dir)
        return self.keep.pin(tree, reason)

    def sweep(self) -> int:
        """Delete what earlier removals and killed creators left; return how many folders remain."""
        with locked(self._git_dir):
            self._reap()
        return trash.sweep(self.place)

    def drain(self) -> int:
        """Remove the parked trees; return how many there were."""
        with locked(self._git_dir):
            parked = self._slots.parked()
            gone = [self._forget(slot) for slot in parked]
        for folder in gone:
            if folder:
                trash.delete_soon(folder)
        return len(parked)

    def _commit(self, start: str) -> str:
        commit = None if "\n" in start else self._plain.commit(start)
        if commit is None:
            raise NotFound(f"there is no commit {start!r} to start from", "git log")
        return commit

    def _desk(self, tree: Tree) -> Desk:
        return Desk(self._plain, self._slots.desk(tree), tree.path)

    def _reap(self) -> None:
        for slot in self._slots.abandoned():
            self._forget(slot)
        for path in self._slots.empty_folders():
            worktrees.forget(join(self._git_dir, "worktrees", basename(path)))
            trash.take_away(path)

    def _slot(self, tree: Tree) -> Slot:
        slot = next((one for one in self._slots.live() if one.tree == tree), None)
        if slot is None:
            raise NotFound(f"{tree.path!r} is not, or is no longer, the worktree of {tree.name!r}")
        return slot

    def _refuse_taken(self, name: str, branch: str) -> None:
        for slot in self._slots.all():
            if name == slot.tree.name:
                raise Refused(f"{name!r} already has a worktree: {slot.tree.path!r}")
            if branch == slot.tree.branch:
                raise Refused(f"the branch {branch!r} is in use by {slot.tree.name!r}")
        for user in worktrees.users_of(self._git_dir, branch):
            said = f"the branch {branch!r} is checked out elsewhere ({user!r}) and was left alone"
            raise Refused(said)

    def _branch(self, name: str, branch: str, base: str, *, fresh: bool) -> str:
        """Create or reset the branch; return the commit to check out."""
        ref = branch_ref(branch)
        tip = self._plain.commit(ref)
        if tip and (not fresh or tip == base):
            return tip
        if tip:
            self.keep.hold(name, branch, tip, "started afresh")
        self._plain.move(ref, base, tip)
        return base

    def _choose(self, at: str, leave: Collection[str]) -> Slot | int:
        """Return the parked tree to take, or the number of a new one."""
        number = self._slots.free_number(at, leave)
        if self._slots.path(number) == at:
            return number
        parked = self._slots.parked()
        same = (slot for slot in parked if slot.tree.path == at)
        others = (slot for slot in parked if slot.tree.path not in leave)
        return next(same, None) or next(others, None) or number

    def _occupy(self, name: str, branch: str, base: str, kind: Kind, place: Slot | int) -> Slot:
        number, parked = (place.number, place.tree) if isinstance(place, Slot) else (place, None)
        path = parked.path if parked else self._slots.path(number)
        tree = Tree(path, name, kind, branch, base, "")
        if kind == "clone":
            if parked and parked.kind == "worktree":
                worktrees.forget(parked.git_dir)
            own = clones.place_of(tree.path)
        elif parked and parked.kind == "worktree":
            own = parked.git_dir
        else:
            own = worktrees.add(self._git_dir, tree.path, base)
        slot = Slot(number, "making", replace(tree, git_dir=own))
        self._slots.save(slot)
        if kind == "clone":
            os.makedirs(tree.path, exist_ok=True)
            os.makedirs(own, exist_ok=True)
        return slot

    def _fill(self, slot: Slot, commit: str) -> None:
        tree, desk = slot.tree, self._desk(slot.tree)
        files.refuse_link(tree)
        self._connect(tree, commit)
        reused = exists(join(desk.folder, "index"))
        files.check_out(tree, desk, commit)
        if reused:
            files.clean(tree, desk, self._keep_ignored)
        files.hand_over(tree, desk)

    def _connect(self, tree: Tree, commit: str) -> None:
        """Give a tree a git folder in which no session has worked."""
        if tree.kind == "clone":
            clones.lay_out(self._git_dir, tree, commit, self._settings())
            return
        with locked(self._git_dir):
            worktrees.repair(tree.git_dir, tree.path, f"ref: {branch_ref(tree.branch)}")

    def _settings(self) -> str:
        """Return the configuration of a clone, which changes only with the user's."""
        found = os.stat(join(self._git_dir, "config"))
        seen = (found.st_mtime_ns, found.st_size, found.st_ino)
        if self._copied is None or self._copied[0] != seen:
            self._copied = seen, clones.settings(self._git_dir)
        return self._copied[1]

    def _drop_clone(self, tree: Tree) -> None:
        worktrees.remove(join(tree.path, ".git"))
        clones.forget(tree.git_dir)
        clones.let_go_of_base(self._git_dir, tree)

    def _discard(self, slot: Slot) -> None:
        with locked(self._git_dir):
            gone = self._forget(slot)
        if gone:
            trash.delete_soon(gone)

    def _forget(self, slot: Slot) -> str | None:
        """Take a tree off all lists; its folder is only renamed."""
        gone = trash.take_away(slot.tree.path)
        if slot.tree.kind == "clone":
            clones.forget(slot.tree.git_dir)
            clones.let_go_of_base(self._git_dir, slot.tree)
        else:
            worktrees.forget(slot.tree.git_dir)
        self._slots.drop(slot)
        return gone


def place_of(repository: Repository, configured: str | None) -> str:
    """Return the folder in which the working trees live; by default beside the repository."""
    checkout = realpath(repository.main_worktree)
    beside = join(dirname(checkout), f".{basename(checkout)}-corral")
    place = realpath(abspath(configured or beside))
    inside = commonpath([place, checkout]) == checkout
    if inside or (isdir(place) and commonpath([place, realpath(repository.git_dir)]) == place):
        raise BadInput(
            f"working trees cannot live in {place!r}, inside the repository or around it",
            f"use a separate folder, such as {beside!r}",
        )
    return place
