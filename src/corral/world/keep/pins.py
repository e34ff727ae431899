"""The interface to kept work: pin, list, show, restore."""

from collections.abc import Callable
from contextlib import nullcontext
from os.path import dirname, join

from msgspec.structs import replace

from corral.core.errors import BadInput, Failed, Refused
from corral.core.refs import KEEP_REFS, branch_ref
from corral.world import clock
from corral.world.git import garbage
from corral.world.git.command import GitFailed
from corral.world.git.tree import (
    Tree,
    mentioned,
    read_branch,
    read_head,
    read_plain,
    read_refs,
)
from corral.world.git.view import Desk, View
from corral.world.keep import entries, snapshot
from corral.world.keep import restore as restoring
from corral.world.keep.kept import Kept, KeptRecord, Shown, read_record
from corral.world.keep.snapshot import Snapshot
from corral.world.keep.verify import verify

_ATTEMPTS = 20
_QUIET_ATTEMPTS = 2  # while no garbage collection runs
_UNPACKED = 100  # objects: fewer are copied as loose ones


class Keep:
    def __init__(
        self,
        git_dir: str,
        *,
        plain: View | None = None,
        raw: View | None = None,
        now: clock.Clock = clock.now,
    ) -> None:
        self._git_dir = git_dir
        self._plain = plain or View(git_dir)
        self._raw = raw or View(git_dir, raw=True)
        self._now = now

    def pin(self, tree: Tree, reason: str, *, task: str = "") -> Kept | None:
        """Keep everything that would be lost with a tree; None if there is nothing.

        When this returns, it is on disk and was read back. An error means that something could not
        be kept, so the tree must stay. A tree that something still writes to is refused.
        """
        return self._for_good(lambda: self._pin(tree, reason, task))

    def _pin(self, tree: Tree, reason: str, task: str) -> Kept | None:
        at = read_head(tree.git_dir)
        source = tree.with_refs(self._git_dir)
        named = read_branch(source, at.branch) if at.branch else at.commit
        head = self._raw.commit(named or "-", tree.borrowed)
        with self._raw.desk(head, tree) as desk:
            try:
                taken = snapshot.take(tree, desk, self._plain, head)
            except OSError as error:
                raise Refused(
                    f"{tree.path!r} cannot be read, so nothing was touched: {error}"
                ) from error
            others = self._unreachable(tree, desk, head)
            if taken is None and not others:
                return None
            record = KeptRecord(
                session=tree.name,
                task=task or tree.branch.rpartition("/")[2],
                branch=tree.branch,
                base=tree.base,
                reason=reason,
                at=self._now(),
                head=head or "",
                on=at.branch,
                others=tuple(commit for commit in others if commit != head),
            )
            return self._store(tree, record, taken, desk)

    def hold(self, session: str, branch: str, commit: str, reason: str) -> Kept | None:
        """Keep a commit that its branch is about to leave, unless a ref surely reaches it.

        What counts is in `_lasting`: looking at the refs of all tasks takes longer the more there
        were, and a commit that one of those reaches is only kept twice.
        """
        return self._for_good(lambda: self._hold(session, branch, commit, reason))

    def _for_good(self, keep: Callable[[], Kept | None]) -> Kept | None:
        """Keep something even if a garbage collection may be running.

        What was written is checked when no collection runs, and written again if it is gone.
        """
        undisturbed = 0
        for attempt in range(1, _ATTEMPTS + 1):
            # Most of the time no collection runs, so none needs to be locked out.
            hold = garbage.held_off(self._git_dir) if attempt > 1 else nullcontext(False)
            with hold as held:
                try:
                    kept = keep()
                except (GitFailed, Refused):
                    # A collection, perhaps over by now, may have deleted objects that git needed.
                    undisturbed += held
                    if attempt == _ATTEMPTS or undisturbed == _QUIET_ATTEMPTS:
                        raise
                    continue
            if kept is None:
                return None
            garbage.wait_until_over(self._git_dir)
            if self._has_all(kept.commit, kept.record.head):
                return kept
            self._raw.drop(kept.ref)
        raise Failed("garbage collection keeps deleting the work to be kept; nothing was touched")

    def _hold(self, session: str, branch: str, commit: str, reason: str) -> Kept | None:
        lasting = self._lasting(branch, session)
        if not self._raw.run("rev-list", "--ignore-missing", "-n1", commit, *lasting).strip():
            return None
        record = KeptRecord(
            session=session,
            task=branch.rpartition("/")[2],
            branch=branch,
            reason=reason,
            at=self._now(),
            head=commit,
            on=branch,
        )
        with self._raw.desk() as desk:
            kept = _commit(desk, f"{commit}^{{tree}}", record, record.parents)
        return self._name(record, kept)

    def list_kept(self, session: str = "") -> list[Kept]:
        """Return all kept work, of one session or of all, oldest first."""
        said = self._raw.run(
            "for-each-ref", "--format=%(refname)%00%(objectname)%00%(contents)%00%00", KEEP_REFS
        )
        found = []
        for part in said.split(b"\0\0"):
            fields = part.lstrip(b"\n").split(b"\0")
            record = read_record(fields[2]) if len(fields) == 3 else None
            if record and session in ("", record.session):
                found.append(Kept(fields[0].decode(), fields[1].decode(), record))
        return sorted(found, key=lambda kept: (kept.at, kept.ref))

    def show(self, kept: Kept) -> Shown:
        """List the content of kept work by path."""
        record = kept.record
        index = record.index or record.head
        start = record.head or self._raw.empty_tree()
        tips = [tip for tip in (record.head, *record.others) if tip]
        without = ("--not", record.base) if record.base else ()
        new = self._raw.run("rev-list", "--ignore-missing", *tips, *without)
        return Shown(
            kept,
            commits=tuple(new.decode().split()) if tips else (),
            staged=self._differing(start, index) if record.index else (),
            unstaged=self._differing(index, kept.commit, "--diff-filter=a") if index else (),
            untracked=self._differing(index, kept.commit, "--diff-filter=A") if index else (),
            unmerged=self._unmerged(record),
        )

    def restore(self, kept: Kept, to: str, *, branch: str = "") -> str:
        """Restore kept work as a new working tree in a folder that does not exist yet.

        HEAD is detached, or on a new branch if one is named. Returns the folder.
        """
        return restoring.restore(self._plain, self._raw, kept, to, branch)

    def _unreachable(self, tree: Tree, desk: Desk, head: str | None) -> list[str]:
        """Return the newest commits of a tree that no ref of the repository reaches."""
        named = mentioned(tree.git_dir) | ({head} if head else set())
        for objects in desk.borrow:
            named |= mentioned(dirname(objects))
        for branch in {tree.branch, read_head(tree.git_dir).branch} - {""}:
            history = read_plain(join(self._git_dir, "logs", branch_ref(branch))) or b""
            named |= {word.decode() for line in history.splitlines() for word in line.split()[:2]}
        tips = set(read_refs(self._git_dir).values())
        there = self._raw.commits(*sorted(named - tips), borrow=desk.borrow)
        known = self._raw.commits(tree.base or "-", branch_ref(tree.branch))
        commits = {c for c in there if c}
        # Usually this is all; the time to look at every ref grows with what was kept before.
        found = self._beyond(commits, [f"^{c}" for c in known if c], desk)
        if found:
            found = self._beyond(commits, self._lasting(tree.branch, tree.name), desk)
        inner = {parent for _, *parents in found for parent in parents}
        return [commit for commit, *_ in found if commit not in inner]

    def _lasting(self, branch: str, session: str) -> list[str]:
        """Return, for `rev-list`, what need not be kept: the user's refs, the trunk of the branch,
        and what was kept of this session's task. The time does not grow with the tasks."""
        trunk = f"{dirname(branch)}/trunk"
        tip = self._raw.tip(trunk) if trunk != branch else None
        kept = f"--glob={KEEP_REFS}{session.rpartition('.')[0] or session}.*"
        ours = "--exclude=convoy/*"
        return ["--not", ours, "--branches", "--tags", "--remotes", kept, *([tip] if tip else [])]

    def _beyond(self, commits: set[str], known: list[str], desk: Desk) -> list[list[str]]:
        """Return the commits that known ones do not reach, each with its parents."""
        # Not on the desk, because its HEAD would count as a ref. A ref that is broken reaches none.
        said = self._raw.run(
            *("rev-list", "--ignore-missing", "--parents", "--stdin", *known),
            stdin="".join(f"{commit}\n" for commit in sorted(commits)).encode(),
            borrow=desk.borrow,
        )
        return [line.split() for line in said.decode().splitlines()]

    def _store(self, tree: Tree, record: KeptRecord, taken: Snapshot | None, desk: Desk) -> Kept:
        files = f"{record.head}^{{tree}}" if record.head else self._raw.empty_tree()
        if taken is not None:
            files = taken.files
            parents = [record.head] if record.head else []
            record = replace(record, index=_commit(desk, taken.index, record, parents))
            if taken.unmerged:
                record = replace(record, unmerged=_commit(desk, taken.unmerged, record, []))
        commit = _commit(desk, files, record, record.parents)
        if desk.borrow:
            self.bring(commit, tree.base, desk)
        # Is it complete without the objects of the tree, which is about to be removed?
        if not self._has_all(commit, tree.base):
            raise GitFailed(f"not everything of {tree.name} could be copied", "git fsck")
        if taken is not None and tree.exists:
            verify(tree, self._raw, commit, taken)
        return self._name(record, commit)

    def bring(self, commit: str, base: str, desk: Desk) -> None:
        """Copy a commit and its history from a tree's own objects into the repository.

        Not a fetch, which would start a program in the session's repository with its configuration.
        """
        if self._has_all(commit, base):
            return
        pack = join(desk.folder, "brought")
        asked = f"{commit}\n{f'^{base}' if base else ''}\n".encode()
        name = desk.run("pack-objects", "--revs", "--quiet", pack, stdin=asked).decode().strip()
        with open(f"{pack}-{name}.pack", "rb", buffering=0) as file:
            # As git does when it fetches: many packs make it slow, and so do many loose objects.
            few = int.from_bytes(file.read(12)[8:]) < _UNPACKED
            file.seek(0)
            command = ("unpack-objects", "-q") if few else ("index-pack", "--stdin")
            self._raw.run(*command, "--strict", stdin=file)

    def _has_all(self, commit: str, *known: str) -> bool:
        """Say whether the repository has a commit and everything that is not in known ones."""
        without = [f"^{one}" for one in known if one]
        try:
            self._raw.run("rev-list", "--objects", "--quiet", commit, *without)
        except GitFailed:
            return False
        return True

    def _name(self, record: KeptRecord, commit: str) -> Kept:
        """Give a commit the next free ref of its session, and read it back."""
        if not record.session or "/" in record.session:
            raise BadInput(f"{record.session!r} is not a valid session name")
        for _ in range(_ATTEMPTS):
            place = f"{KEEP_REFS}{record.session}/"
            said = self._raw.run("for-each-ref", "--format=%(refname)", place)
            used = [int(name.rpartition(b"/")[2]) for name in said.split()]
            ref = f"{place}{max(used, default=0) + 1}"
            try:
                self._raw.move(ref, commit, None)
            except GitFailed:
                if self._raw.commit(ref) is None:
                    raise
                continue  # another process took that number
            if self._raw.commit(ref) != commit:
                self._raw.drop(ref)  # garbage-collected; a dangling ref would break all of git
                raise GitFailed(f"{commit} is gone again", "git fsck")
            return Kept(ref, commit, record)
        raise Failed(
            f"no free name was found for the work of {record.session}; nothing was touched"
        )

    def _differing(self, old: str, new: str, *options: str) -> tuple[str, ...]:
        wanted = ("-r", "-z", "--name-only", "--no-renames", *options)
        return entries.names(self._raw.run("diff-tree", *wanted, old, new))

    def _unmerged(self, record: KeptRecord) -> tuple[str, ...]:
        if not record.unmerged:
            return ()
        listed = entries.of_tree(self._raw, record.unmerged)
        return entries.names(b"\0".join(sorted({entry.path[2:] for entry in listed})))


def _commit(desk: Desk, tree: str, record: KeptRecord, parents: list[str]) -> str:
    options = [word for parent in parents for word in ("-p", parent)]
    said = desk.run("commit-tree", tree, *options, "-F", "-", stdin=record.message())
    return said.decode().strip()
