"""The commits of a check run: changes stacked on the trunk, in the object store alone.

What is remembered here only saves work: computed again, it would come out the same.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Any

from msgspec import Struct

from corral.core.config import RefinerySettings as Settings
from corral.core.ids import ConvoyId, TaskId
from corral.core.log.state import State
from corral.core.queue.fold import trunk_of
from corral.core.queue.state import Change, CheckRun
from corral.world.git.candidates import Candidate, Candidates, Member, Stamp, Strategy
from corral.world.git.candidates import CandidateChange as Work
from corral.world.git.candidates import Conflict as Clash
from corral.world.git.generated import GeneratedContents
from corral.world.git.invariants import assert_landing
from corral.world.git.merge import Merged, Merger, Sides
from corral.world.git.messages import Identity
from corral.world.git.radar import sweep
from corral.world.git.ranges import Branch
from corral.world.git.view import View

COMMITTER = Identity("Corral refinery", "refinery@corral.invalid")
_REMEMBERED = 20_000


class Stack(Struct, frozen=True):
    """Commits to check: one for each change, lowest first, and the tree of the last."""

    tip: str
    commits: tuple[str, ...]
    tree: str
    commit: str


class Misfit(Struct, frozen=True):
    """A change that conflicts with the stack below it, and the conflict."""

    change: Change
    tip: str
    below: tuple[TaskId, ...]
    merged: Merged

    @property
    def paths(self) -> tuple[str, ...]:
        return self.merged.named or ("?",)


class Stacks:
    def __init__(self, view: View, settings: Settings) -> None:
        self._settings = settings
        self._merger = Merger(view, union=settings.union)
        self.generated = GeneratedContents(self._merger)
        self._candidates = Candidates(self._merger, resolve=self.generated.apply)
        self.objects, self.close = self._merger.objects, self._merger.close
        self.with_files = self._merger.with_files
        self._fits: dict[tuple[str, str], Merged] = {}  # of a tip and a commit
        self._pairs: dict[frozenset[str], bool] = {}  # of two commits: do they clash?

    def strategy(self, state: State, convoy: ConvoyId) -> Strategy:
        return Strategy(state.convoys[convoy].strategy or self._settings.strategy)

    def stack(
        self, state: State, convoy: ConvoyId, changes: Sequence[Change], run: str
    ) -> Stack | Misfit:
        """Stack changes on the trunk, reusing a run that already has the lower ones."""
        tip = trunk_of(state, convoy).tip
        onto, below = _lower_part(state, convoy, tip, [change.task for change in changes])
        rest = changes[len(below) :]
        made = self._candidates.make(
            onto,
            [_work(state, change) for change in rest],
            self.strategy(state, convoy),
            # Not the time of day: making the same stack again gives the same commits.
            Stamp(run, COMMITTER, max((one.queued_at for one in changes), default=0) // 1000),
        )
        if isinstance(made, Clash):
            under = [change.task for change in changes if change.task in below]
            under += [TaskId(work.task) for work in made.below]
            change = next(one for one in changes if one.task == made.change.task)
            return Misfit(change, made.tip, tuple(under), made.merged)
        commits = (*below.values(), *(member.commit for member in made.members))
        return Stack(tip, commits, made.tree, made.commit)

    def wrong(self, state: State, check: CheckRun) -> list[str]:
        """Return the invariants that landing this run would break; an empty list if none."""
        changes = [state.changes[task] for task in check.members]
        members = tuple(
            Member(_work(state, change), commit, "", ())
            for change, commit in zip(changes, check.commits, strict=True)
        )
        strategy = self.strategy(state, check.convoy)
        candidate = Candidate(check.tip, strategy, check.commit, check.tree, members)
        entries = {str(change.task): change.commit for change in changes}
        return assert_landing(self._merger, check.tip, candidate, entries)

    def joined(self, state: State, convoy: ConvoyId, base: str, run: str) -> tuple[str, str] | None:
        """Merge a trunk into its base; return the commit and its tree, or None on a conflict."""
        tip = trunk_of(state, convoy).tip
        title = f"Merge convoy {convoy}: {state.convoys[convoy].title}"
        fork = self._merger.view.fork(base, tip) or base
        work = Work(task=convoy, commit=tip, fork=fork, title=title)
        stamp = Stamp(run, COMMITTER, state.convoys[convoy].created_at // 1000)
        made = self._candidates.make(base, [work], Strategy.MERGE, stamp)
        return (made.commit, made.tree) if isinstance(made, Candidate) else None

    def conflicts_with(self, state: State, tip: str, changes: Sequence[Change]) -> list[Misfit]:
        """Return the changes that conflict with the trunk, each tried on its own."""
        unknown = [change for change in changes if (tip, change.commit) not in self._fits]
        if unknown:
            for change, merged in zip(unknown, self._tried(state, tip, unknown), strict=True):
                self._fits[tip, change.commit] = merged
            _forget(self._fits)
        return [
            Misfit(change, tip, (), merged)
            for change in changes
            if not (merged := self._fits[tip, change.commit]).clean
        ]

    def forget(self, misfit: Misfit) -> None:
        """Try a change again whose conflict has been resolved."""
        self._fits.pop((misfit.tip, misfit.change.commit), None)

    def _tried(self, state: State, tip: str, changes: Sequence[Change]) -> list[Merged]:
        """Merge each change into the trunk on its own, without making commits where possible."""
        strategy = self.strategy(state, changes[0].convoy)
        if strategy is not Strategy.REBASE:
            sides = [Sides(tip, change.commit, (change.fork,)) for change in changes]
            tried = self._merger.join_many(sides)
            return [one if one.clean else self.generated.apply(one) for one in tried]
        works = [_work(state, change) for change in changes]
        made = self._candidates.make_each(tip, works, strategy, Stamp("", COMMITTER, 0))
        return [Merged(one.tree) if isinstance(one, Candidate) else one.merged for one in made]

    def clashes(self, changes: Sequence[Change]) -> frozenset[frozenset[str]]:
        """Return the pairs of changes that conflict with each other."""
        commits = {change.commit: change.task for change in changes}
        pairs = [frozenset((one, other)) for one in commits for other in commits if one < other]
        if any(pair not in self._pairs for pair in pairs):
            live = [Branch(change.commit, change.fork) for change in changes]
            met = sweep(self._merger, live)
            found = {frozenset((clash.one.commit, clash.other.commit)) for clash in met}
            self._pairs |= {pair: self._pairs.get(pair, False) or pair in found for pair in pairs}
            _forget(self._pairs)
        return frozenset(
            frozenset(commits[commit] for commit in pair) for pair in pairs if self._pairs.get(pair)
        )

    def remember_clash(self, misfit: Misfit, changes: Sequence[Change]) -> None:
        """Remember that a change conflicts with others: at least with the one below it."""
        by_task = {change.task: change.commit for change in changes}
        for task in misfit.below[-1:]:
            self._pairs[frozenset((by_task[task], misfit.change.commit))] = True


def _lower_part(
    state: State, convoy: ConvoyId, tip: str, members: Sequence[TaskId]
) -> tuple[str, dict[TaskId, str]]:
    """Return the commit and members of the longest known stack that begins these changes."""
    best: dict[TaskId, str] = {}
    for check in state.checks.values():
        count = len(check.members)
        usable = check.kind == "land" and (check.live or check.result == "green")
        fits = check.convoy == convoy and check.tip == tip and check.members == (*members[:count],)
        if usable and fits and len(best) < count < len(members):
            best = dict(zip(check.members, check.commits, strict=True))
    return (list(best.values())[-1] if best else tip), best


def _work(state: State, change: Change) -> Work:
    title = " ".join(state.tasks[change.task].title.split())
    return Work(task=change.task, commit=change.commit, fork=change.fork, title=title)


def _forget(known: dict[Any, Any]) -> None:
    for key in list(islice(known, max(0, len(known) - _REMEMBERED))):
        del known[key]
