"""What would land: a stack of changes on a tip, as commits that no branch points to yet.

They are created in the object store alone and deterministically: a restart creates the same commits
again. A change is merged by the histories of both sides, as `git merge` does, and the stack is
assumed to contain the change's fork point and all changes below, in whatever form they landed: a
task that was built on another one, which was then squashed, adds only its own work.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum

from msgspec import Struct

from corral.core.errors import Refused
from corral.world.git import messages
from corral.world.git.merge import Merged, Merger, Sides
from corral.world.git.messages import Identity, Text, Trailer
from corral.world.git.objects import CommitObject, commit_id
from corral.world.git.ranges import Branch, Range, own_commits, unapplied

_REMEMBERED = 4096

Resolve = Callable[[Merged], Merged]


class Strategy(StrEnum):
    MERGE = "merge"
    SQUASH = "squash"
    REBASE = "rebase"


class CandidateChange(Struct, frozen=True):
    """What one task wants to land: the commit of its branch and its fork point."""

    task: str
    commit: str
    fork: str
    title: str = ""


class Stamp(Struct, frozen=True):
    """The run that commits are made for, their committer, and their time."""

    run: str
    committer: Identity
    at_s: int


class Member(Struct, frozen=True):
    """A change in a stack: the stack's commit and tree including it, and its own commits.

    It has no commits if the stack already contained everything.
    """

    change: CandidateChange
    commit: str
    tree: str
    made: tuple[str, ...]


class Candidate(Struct, frozen=True):
    tip: str
    strategy: Strategy
    commit: str
    tree: str
    members: tuple[Member, ...]


class Conflict(Struct, frozen=True):
    """A change that conflicts with the tip or the changes below."""

    change: CandidateChange
    tip: str
    below: tuple[CandidateChange, ...]
    merged: Merged


class CandidateStep(Struct, frozen=True):
    """A commit to be created: the original commit of the branch, and the new tree."""

    source: str
    tree: str


class Piece(Struct, frozen=True):
    """A change with its own commits."""

    change: CandidateChange
    own: Range


Plan = tuple[CandidateStep, ...] | Merged  # a merge only if it conflicts


class Candidates:
    """Creates candidates with a merger; caches the trees of its stacks."""

    def __init__(self, merger: Merger, *, resolve: Resolve = lambda merged: merged) -> None:
        """`resolve` may resolve conflicts of a merge: see `generated`."""
        self._merger = merger
        self._resolve = resolve
        self._plans: dict[tuple[object, ...], Plan] = {}

    def make(
        self, tip: str, changes: Sequence[CandidateChange], strategy: Strategy, stamp: Stamp
    ) -> Candidate | Conflict:
        """Stack changes on a tip, the first one lowest; the last commit says that it was tested."""
        pieces = self._pieces(tip, changes, stacked=True)
        made, commits = self._make(tip, pieces, strategy, stamp)
        self._merger.objects.write_commits(commits)
        return made

    def make_each(
        self, tip: str, changes: Sequence[CandidateChange], strategy: Strategy, stamp: Stamp
    ) -> list[Candidate | Conflict]:
        """Put each change on the tip separately, with one process for all merges."""
        pieces = self._pieces(tip, changes, stacked=False)
        if strategy is not Strategy.REBASE:
            self._foresee(tip, pieces)
        made = [self._make(tip, [piece], strategy, stamp) for piece in pieces]
        self._merger.objects.write_commits([one for _, commits in made for one in commits])
        return [candidate for candidate, _ in made]

    def _pieces(
        self, tip: str, changes: Sequence[CandidateChange], *, stacked: bool
    ) -> list[Piece]:
        branches = [_branch(change) for change in changes]
        own = own_commits(self._merger.objects, tip, branches, stacked=stacked)
        return [Piece(change, range_) for change, range_ in zip(changes, own, strict=True)]

    def _make(
        self, tip: str, pieces: Sequence[Piece], strategy: Strategy, stamp: Stamp
    ) -> tuple[Candidate | Conflict, list[bytes]]:
        """Return the result, and the commits that are still to be written."""
        tree = self._merger.objects.commit(tip).tree
        plans: list[tuple[CandidateStep, ...]] = []
        for number, piece in enumerate(pieces):
            plan = self._plan(tip, tree, pieces[: number + 1], strategy)
            if isinstance(plan, Merged):
                below = tuple(one.change for one in pieces[:number])
                return Conflict(piece.change, tip, below, plan), []
            plans.append(plan)
            tree = plan[-1].tree if plan else tree
        return self._compose(tip, list(zip(pieces, plans, strict=True)), strategy, stamp)

    def _plan(self, tip: str, tree: str, stack: Sequence[Piece], strategy: Strategy) -> Plan:
        """Return the trees of the last change's commits; `tree` is that of the stack below it."""
        key = _key(tip, stack, strategy)
        plan = self._remembered(key)
        if plan is None:
            piece = stack[-1]
            if piece.own.rooted and self._merger.view.fork(piece.change.commit, tip) is None:
                raise Refused(
                    f"{piece.change.task} has no commit in common with the target",
                    "recreate its changes on a branch that starts at the target",
                )
            if strategy is Strategy.REBASE:
                upstream = self._merger.ours(_sides(tip, tree, stack))
                own = unapplied(self._merger.objects, piece.own, upstream, piece.change.commit)
                plan = self._replay(tree, own)
            elif piece.own:
                plan = self._joined(piece.change, self._merger.join(_sides(tip, tree, stack)))
            else:
                plan = ()
            if not isinstance(plan, Merged):
                self._remember(key, plan)
        if strategy is Strategy.SQUASH and isinstance(plan, tuple) and plan:
            return plan if plan[-1].tree != tree else ()
        return plan

    def _foresee(self, tip: str, pieces: Sequence[Piece]) -> None:
        tree = self._merger.objects.commit(tip).tree
        keyed = {
            _key(tip, [piece], Strategy.MERGE): piece
            for piece in pieces
            if piece.own and not piece.own.rooted
        }
        asked = {key: piece for key, piece in keyed.items() if key not in self._plans}
        found = self._merger.join_many([_sides(tip, tree, [one]) for one in asked.values()])
        for (key, piece), merged in zip(asked.items(), found, strict=True):
            self._remember(key, self._joined(piece.change, merged))

    def _joined(self, change: CandidateChange, merged: Merged) -> Plan:
        merged = merged if merged.clean else self._resolve(merged)
        return (CandidateStep(change.commit, merged.tree),) if merged.clean else merged

    def _replay(self, tree: str, own: Sequence[CommitObject]) -> Plan:
        """Replay commits as `git rebase` does: commits that become empty are dropped."""
        steps: list[CandidateStep] = []
        for commit in own:
            base = commit.parents[0] if commit.parents else None
            before = self._merger.objects.commit(base).tree if base else None
            if before == tree:
                after = commit.tree
            else:
                merged = self._merger.merge_tree(tree, commit.oid, base)
                merged = merged if merged.clean else self._resolve(merged)
                if not merged.clean:
                    return merged
                after = merged.tree
            if after != tree or commit.tree == before:
                steps.append(CandidateStep(commit.oid, after))
            tree = after
        return tuple(steps)

    def _compose(
        self,
        tip: str,
        planned: Sequence[tuple[Piece, tuple[CandidateStep, ...]]],
        strategy: Strategy,
        stamp: Stamp,
    ) -> tuple[Candidate, list[bytes]]:
        left = sum(len(steps) for _, steps in planned)
        commit, tree = tip, self._merger.objects.commit(tip).tree
        committer = stamp.committer.line(stamp.at_s)
        members = []
        commits = []
        for piece, steps in planned:
            made = []
            for step in steps:
                left -= 1
                trailers = [("Task", piece.change.task), ("Refinery-Run", stamp.run)]
                trailers.append(("Refinery-Tested", "batch" if left else "tip"))
                text = self._text(piece, step, strategy, trailers, committer)
                second = [piece.change.commit] if strategy is Strategy.MERGE else []
                content = messages.commit_object(step.tree, [commit, *second], text, committer)
                commit, tree = commit_id(content), step.tree
                commits.append(content)
                made.append(commit)
            members.append(Member(piece.change, commit, tree, tuple(made)))
        return Candidate(tip, strategy, commit, tree, tuple(members)), commits

    def _text(
        self,
        piece: Piece,
        step: CandidateStep,
        strategy: Strategy,
        trailers: Sequence[Trailer],
        committer: bytes,
    ) -> Text:
        change, own = piece.change, piece.own
        match strategy:
            case Strategy.REBASE:
                return messages.replayed(self._merger.objects.commit(step.source), trailers)
            case Strategy.SQUASH:
                commits = own.commits or own.merges
                return messages.squashed(change.title, commits, trailers)
            case Strategy.MERGE:
                said = f"{change.title or f'Merge {change.task}'}\n".encode()
                return Text(committer, messages.with_trailers(said, trailers))

    def _remembered(self, key: tuple[object, ...]) -> Plan | None:
        plan = self._plans.get(key)
        if isinstance(plan, Merged):
            del self._plans[key]  # it may be resolved before the next attempt
        elif plan and None in self._merger.objects.kinds([step.tree for step in plan]):
            return None  # no ref holds the trees, so git may have deleted them
        return plan

    def _remember(self, key: tuple[object, ...], plan: Plan) -> None:
        if len(self._plans) >= _REMEMBERED:
            self._plans.pop(next(iter(self._plans)))
        self._plans[key] = plan


def _branch(change: CandidateChange) -> Branch:
    return Branch(change.commit, change.fork)


def _key(tip: str, stack: Sequence[Piece], strategy: Strategy) -> tuple[object, ...]:
    # A merge and a squash have the same tree.
    return (tip, strategy is Strategy.REBASE, *(_branch(piece.change) for piece in stack))


def _sides(tip: str, tree: str, stack: Sequence[Piece]) -> Sides:
    *below, last = (piece.change for piece in stack)
    return Sides(tip, last.commit, (last.fork, *(change.commit for change in below)), tree)
