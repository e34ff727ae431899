"""Which commits belong to a change: those neither in the target nor in what it was built on."""

from collections.abc import Sequence

from msgspec import Struct

from corral.world.git.objects import CommitObject, Objects
from corral.world.git.paths import changed_paths
from corral.world.git.reverts import reverted

_WALKED = 1000


class Range(Struct, frozen=True):
    """Commits in the order in which `git rebase` would replay them, and merges between them."""

    commits: tuple[CommitObject, ...] = ()
    merges: tuple[CommitObject, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.commits or self.merges)

    @property
    def rooted(self) -> bool:
        """Say whether a history begins here, possibly one unrelated to the target."""
        return any(not commit.parents for commit in (*self.commits, *self.merges))


class Branch(Struct, frozen=True):
    """The newest commit of a branch, or a snapshot of its work, and its fork point."""

    commit: str
    fork: str


def own_commits(
    objects: Objects, tip: str, branches: Sequence[Branch], *, stacked: bool
) -> list[Range]:
    """Return what each branch adds to a tip and, if stacked, to the branches before it.

    Nearly every branch is linear from its fork point. Linear branches are read by walking back, and
    one process then says for all of them whether the target contains a part; all others are
    queried one by one.
    """
    lines = [_line(objects, branch) for branch in branches]
    new = objects.view.new_commits(tip, [branch.commit for branch in branches])
    simple = not stacked or _apart(lines, branches, new)
    found = []
    for number, (branch, line) in enumerate(zip(branches, lines, strict=True)):
        if branch.commit not in new:
            found.append(Range())
        elif simple and line is not None and all(commit.oid in new for commit in line[:1]):
            found.append(Range(tuple(line)))
        else:
            below = [one.commit for one in branches[:number]] if stacked else []
            found.append(_listed(objects, branch.commit, [tip, branch.fork, *below]))
    return found


def unapplied(objects: Objects, own: Range, upstream: str, tip: str) -> Sequence[CommitObject]:
    """Return the commits that `git rebase` would replay: those whose change upstream lacks.

    Unlike git, a change that upstream applied and undid again is replayed, so that reverted work
    can land again.
    """
    if not own.commits:
        return ()
    view = objects.view
    asked = ("rev-list", "--right-only", "--cherry-pick", "--no-merges", f"{upstream}...{tip}")
    new = set(view.run(*asked).decode().split())
    applied = [one for one in own.commits if one.oid not in new and one.parents]
    if applied:
        bases = view.run("merge-base", "--all", upstream, tip, fine=(0, 1)).decode().split()
        if any(reverted(objects, base, upstream) for base in bases):
            return own.commits
        pairs = [(one.parents[0], one.oid) for one in applied]
        changed = changed_paths(view, [*((base, upstream) for base in bases), *pairs])
        there = frozenset[str]().union(*(one.all for one in changed[: len(bases)]))
        own_paths = zip(applied, changed[len(bases) :], strict=True)
        new |= {commit.oid for commit, one in own_paths if not one.all <= there}
    return [one for one in own.commits if one.oid in new]


def _line(objects: Objects, branch: Branch) -> list[CommitObject] | None:
    """Walk back to the fork point; None if there is a merge on the way, or no path."""
    line: list[CommitObject] = []
    oid = branch.commit
    while oid != branch.fork:
        commit = objects.commit(oid)
        if len(commit.parents) != 1 or len(line) >= _WALKED:
            return None
        line.append(commit)
        oid = commit.parents[0]
    return line[::-1]


def _apart(
    lines: Sequence[list[CommitObject] | None], branches: Sequence[Branch], new: set[str]
) -> bool:
    """Say whether no branch can contain a part of another one."""
    if len(lines) == 1:
        return True
    if any(branch.fork in new for branch in branches):
        return False
    oids = [commit.oid for line in lines for commit in line or ()]
    return None not in lines and len(set(oids)) == len(oids)


def _listed(objects: Objects, commit: str, without: Sequence[str]) -> Range:
    # The order in which git's sequencer lists them.
    said = objects.view.run(
        "rev-list", "--topo-order", "--reverse", commit, *(f"^{one}" for one in without)
    )
    commits = objects.commits(said.decode().split())
    return Range(
        tuple(one for one in commits if len(one.parents) <= 1),
        tuple(one for one in commits if len(one.parents) > 1),
    )
