"""Which commits belong to a change: those neither in the target nor in what it was built on."""

from collections.abc import Sequence

from msgspec import Struct

from corral.world.git.objects import CommitObject, Objects

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
