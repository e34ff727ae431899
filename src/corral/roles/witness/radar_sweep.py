"""One sweep of the radar: which tasks' work conflicts with which, as it is now.

Only work that comes near other work is merged, and the same two commits only once. Git is asked for
uncommitted files where something was heard, and in quiet trees less and less often.
"""

from collections.abc import Sequence

from msgspec import Struct

from corral.core.ids import ConvoyId, SessionId, TaskId
from corral.core.log.state import State
from corral.core.queue.fold import trunk_of
from corral.core.queue.overlaps import FoundOverlap
from corral.core.session.verdict import REPORTS
from corral.world.git.command import GitFailed
from corral.world.git.merge import Merger, Sides
from corral.world.git.paths import Changed, changed_paths
from corral.world.git.radar import near
from corral.world.git.ranges import Branch
from corral.world.trees import Tree
from corral.world.trees.unsaved import Unsaved, snapshot, unsaved

_QUIET_S = 60  # a quiet tree is looked at at least this often
_REMEMBERED = 20_000


class TaskWork(Struct, frozen=True):
    """A task's work so far: on its branch, and in the tree of its running session."""

    task: TaskId
    convoy: ConvoyId
    commit: str
    fork: str
    at_work: bool  # somebody works on it, or it waits to land
    session: SessionId = SessionId("")
    tree: Tree | None = None


class Look(Struct):
    """When the files of a tree were looked at, and which were uncommitted."""

    commit: str
    files: Unsaved
    at: int
    pause_s: float


class Sweeper:
    """Finds conflicts; not thread-safe. Its memory only saves work."""

    def __init__(self, merger: Merger, every_s: int) -> None:
        self.merger = merger
        self._every_s = every_s
        self._looks: dict[SessionId, Look] = {}
        self._changes: dict[tuple[str, str], Changed | None] = {}
        self._snapshots: dict[tuple[SessionId, str, tuple[object, ...]], str] = {}
        self._merges: dict[Sides, tuple[str, ...]] = {}

    def next_at(self) -> int | None:
        """Return when the files of a tree are to be looked at again."""
        times = [look.at + int(look.pause_s * 1000) for look in self._looks.values()]
        return min(times, default=None)

    def sweep(
        self, works: Sequence[TaskWork], state: State, heard: set[str], now: int
    ) -> list[FoundOverlap]:
        """Return all conflicts: of work with its trunk, and of two tasks of the same convoy."""
        self.forget(_REMEMBERED)
        self._look(works, heard, now)
        self._compare([(work.fork, work.commit) for work in works])
        known = [work for work in works if self._changes[work.fork, work.commit] is not None]
        tips = {work.convoy: trunk_of(state, work.convoy).tip for work in known}
        with_trunk = self._with_trunks(known, tips)
        with_others = {
            pair: Sides(self._commit(pair[0]), self._commit(pair[1]))
            for convoy in tips
            for pair in self._near([work for work in known if work.convoy == convoy])
        }
        self._merge([*with_trunk.values(), *with_others.values()])
        landed = {work.task: self._merges[sides] for work, sides in with_trunk.items()}
        found = [FoundOverlap(task, TaskId(""), paths) for task, paths in landed.items() if paths]
        for (one, other), sides in with_others.items():
            # A conflict of one of them with the trunk also shows in the other if that is newer.
            told = {*landed.get(one.task, ()), *landed.get(other.task, ())}
            paths = tuple(path for path in self._merges[sides] if path not in told)
            found += [FoundOverlap(one.task, other.task, paths)] if paths else []
        return found

    def forget(self, most: int = 0) -> None:
        """Drop remembered results beyond a limit."""
        for known in (self._changes, self._snapshots, self._merges):
            if len(known) > most:
                known.clear()

    def _look(self, works: Sequence[TaskWork], heard: set[str], now: int) -> None:
        """Ask git for uncommitted files in the trees whose turn it is."""
        live = {work.session for work in works if work.tree is not None}
        for session in [session for session in self._looks if session not in live]:
            del self._looks[session]
        for work in works:
            if work.tree is None:
                continue
            last = self._looks.get(work.session)
            stirred = last is not None and (last.commit != work.commit or _of(work, heard))
            pause_s = self._every_s if last is None or stirred else last.pause_s
            if last is not None and now < last.at + int(pause_s * 1000):
                last.pause_s = pause_s
                continue
            files = unsaved(self.merger.view, work.tree, work.commit, REPORTS)
            same = last is not None and (last.commit, last.files) == (work.commit, files)
            longer = min(_QUIET_S, max(2 * pause_s, self._every_s))
            pause_s = longer if same else self._every_s
            self._looks[work.session] = Look(work.commit, files, now, pause_s)

    def _compare(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Find out what changed between commits; missing commits are left out."""
        unknown = [pair for pair in dict.fromkeys(pairs) if pair not in self._changes]
        if not unknown:
            return
        names = [name for pair in unknown for name in pair]
        there = dict(zip(names, self.merger.objects.kinds(names), strict=True))
        good = [pair for pair in unknown if {there[pair[0]], there[pair[1]]} == {"commit"}]
        self._changes |= dict.fromkeys(unknown)
        if good:
            self._changes |= zip(good, changed_paths(self.merger.view, good), strict=True)

    def _near(self, works: Sequence[TaskWork]) -> list[tuple[TaskWork, TaskWork]]:
        lives = [Branch(work.commit, work.fork) for work in works]
        pairs = near(self.merger, lives, [self._changed(work) for work in works])
        return [(works[a], works[b]) for a, b in pairs if works[a].at_work or works[b].at_work]

    def _with_trunks(
        self, works: Sequence[TaskWork], tips: dict[ConvoyId, str]
    ) -> dict[TaskWork, Sides]:
        """Return the merges of work with its trunk, where the two come near each other.

        Work that waits to land is left to the refinery, which returns conflicts at once.
        """
        live = [work for work in works if work.tree is not None and tips[work.convoy]]
        live = [work for work in live if tips[work.convoy] not in (work.fork, work.commit)]
        self._compare([(work.fork, tips[work.convoy]) for work in live])
        found = {}
        for work in live:
            tip = tips[work.convoy]
            landed = self._changes[work.fork, tip]
            both = [Branch(work.commit, work.fork), Branch(tip, work.fork)]
            if landed and near(self.merger, both, [self._changed(work), landed]):
                found[work] = Sides(tip, self._commit(work), (work.fork,))
        return found

    def _changed(self, work: TaskWork) -> Changed:
        committed = self._changes[work.fork, work.commit] or Changed({})
        look = self._looks.get(work.session) if work.tree else None
        return look.files.on_top_of(committed) if look and look.files.paths else committed

    def _commit(self, work: TaskWork) -> str:
        """Return a commit of all of a task's work; one is made if some of it is uncommitted."""
        look = self._looks.get(work.session) if work.tree else None
        if work.tree is None or look is None or not look.files.paths:
            return work.commit
        key = (work.session, work.commit, (look.files.paths, look.files.mark))
        known = self._snapshots.get(key)
        # No ref holds it, so git may have garbage-collected it.
        if known is None or self.merger.objects.kinds([known]) != ["commit"]:
            try:
                tree = snapshot(self.merger.view, work.tree, work.commit, look.files)
            except GitFailed:
                return work.commit  # a file was being replaced: left to the next look
            self._snapshots[key] = self.merger.stand_in(tree, (work.commit,))
        return self._snapshots[key]

    def _merge(self, many: Sequence[Sides]) -> None:
        unknown = [sides for sides in dict.fromkeys(many) if sides not in self._merges]
        for sides, result in zip(unknown, self.merger.join_many(unknown), strict=True):
            self._merges[sides] = () if result.clean else result.named or ("?",)


def _of(work: TaskWork, heard: set[str]) -> bool:
    """Say whether something was heard of a session: its tree, its branch or its output."""
    room = f"/sessions/{work.session}/"
    return work.tree is not None and any(
        folder == work.tree.path or room in folder for folder in heard
    )
