"""Another attempt at work that the queue returned: it starts from the current trunk.

Work that merges cleanly is put on top of the trunk. Other work is shown as a conflict, in the files
and in the index, on a branch that starts at the trunk. The branch's former commit is kept.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from os.path import isdir, join

from msgspec import Struct

from corral.core.config import TreeSettings
from corral.core.log.state import Session, State, Task
from corral.core.queue.state import Returned
from corral.core.refs import branch_ref
from corral.core.session.returned import Other, WorkPlace, told
from corral.roles.refinery.stacks import COMMITTER
from corral.world import checks
from corral.world.git.candidates import Candidate, CandidateChange, Candidates, Stamp, Strategy
from corral.world.git.conflicts import ConflictState as Conflict
from corral.world.git.conflicts import conflict_state, other_side
from corral.world.git.merge import Merger
from corral.world.git.view import View
from corral.world.keep import Keep

_OTHERS = 5
_LINES = 60  # of a check's output
_DIFF = 24 * 1024
_MARKER = "^(<<<<<<<|>>>>>>>) "


class ReturnedWork(Struct, frozen=True):
    view: View
    keep: Keep

    def starts_over(self, returned: Returned, branch: str, trunk: str) -> bool:
        """Say whether the next attempt begins on the trunk, with the returned work put there.

        It does not if it stands there already, or if an attempt after the return made commits.
        """
        tip = self.view.tip(branch)
        if tip is None or self.view.contains(trunk, tip):
            return True
        return tip == returned.commit and not self.view.contains(tip, trunk)

    def bring(self, session: Session, returned: Returned) -> Conflict | None:
        """Point a session's branch at its base with the returned work; return the conflict, if any.

        This may be repeated until the session has begun.
        """
        base, tip = session.base, self.view.tip(session.branch)
        if not self.starts_over(returned, session.branch, base):
            return None
        if self.view.commit(returned.commit) is None:
            return None  # the commit is lost; the attempt starts from the trunk
        fork = returned.fork or base
        with Merger(self.view) as merger:
            made = Candidates(merger).make(
                base,
                [CandidateChange(session.task, returned.commit, fork)],
                Strategy.SQUASH,
                Stamp("", COMMITTER, session.started_at // 1000),
            )
            target = made.commit if isinstance(made, Candidate) else base
            if tip != target:
                if tip is not None:
                    self.keep.hold(session.id, session.branch, tip, "brought up to date")
                self.view.move(branch_ref(session.branch), target, tip)
            if isinstance(made, Candidate):
                return None
            return conflict_state(merger, base, returned.commit, fork, name=session.task)

    def conflict(self, session: Session, returned: Returned) -> Conflict | None:
        """Return the conflict of the returned work with a session's base, if both still exist."""
        fork = returned.fork or session.base
        if returned.why != "conflict":
            return None
        if None in self.view.commits(session.base, returned.commit, fork):
            return None
        with Merger(self.view) as merger:
            return conflict_state(merger, session.base, returned.commit, fork, name=session.task)

    def told(
        self,
        state: State,
        session: Session,
        trees: TreeSettings,
        brief_of: Callable[[Task], str],
    ) -> str:
        """Tell the next attempt what happened, what the other side changed, and what failed."""
        returned = state.returned[session.task]
        others = [
            Other(task.id, task.title, brief_of(task), task.commit)
            for name in returned.beside[:_OTHERS]
            if (task := state.tasks.get(name)) is not None
        ]
        folder = join(self.view.git_dir, "corral", "checks", returned.run)
        log = checks.tail(folder, _LINES) if returned.run and isdir(folder) else []
        place = self._place(session, returned, trees)
        shown = self.conflict(session, returned) if place is WorkPlace.SHOWN else None
        return told(
            returned,
            others,
            self._other_side(returned),
            log,
            place=place,
            trunk=session.trunk,
            undecided=shown.undecided if shown else (),
        )

    def _place(self, session: Session, returned: Returned, trees: TreeSettings) -> WorkPlace:
        tip = self.view.tip(session.branch)
        if trees.fresh:
            return WorkPlace.APART
        at_base = tip is None or tip == session.base
        return WorkPlace.SHOWN if at_base and returned.why == "conflict" else WorkPlace.ON_TOP

    def unresolved(
        self, session: Session, commit: str, returned: Returned, borrow: Sequence[str]
    ) -> str:
        """Say what is left of the conflict in a commit; an empty text means nothing."""
        found = self.conflict(session, returned)
        if found is None:
            return ""
        if commit == returned.commit:
            return "its branch is still at the commit that came back"
        paths = dict.fromkeys((*returned.paths, *found.merged.paths))
        left = self._listed("grep", "-l", "-I", "-E", _MARKER, commit, paths=paths, borrow=borrow)
        if left:
            names = (name.removeprefix(f"{commit}:") for name in left)
            return f"conflict markers in {', '.join(names)}"
        beside = [side for one in found.undecided for side in (one.landed, one.yours) if side]
        known = self._listed("ls-tree", "--name-only", session.base, paths=beside)
        there = self._listed("ls-tree", "--name-only", commit, paths=beside, borrow=borrow)
        left = [name for name in there if name not in known]
        return f"the conflict is not decided in {', '.join(left)}" if left else ""

    def _listed(self, *query: str, paths: Iterable[str], borrow: Sequence[str] = ()) -> list[str]:
        """Return the paths that a query of git lists, of those that it is given."""
        asked = [path for path in paths if path]
        if not asked:
            return []
        command, *rest = query
        git = ("--literal-pathspecs", command, "-z", *rest, "--", *asked)
        said = self.view.run(*git, borrow=borrow, fine=(0, 1))
        return [os.fsdecode(name) for name in said.split(b"\0") if name]

    def _other_side(self, returned: Returned) -> str:
        """Return what has landed since the work began in the paths where it conflicts."""
        if not returned.fork or None in self.view.commits(returned.fork, returned.tip):
            return ""
        return other_side(self.view, returned.fork, returned.tip, returned.paths, limit=_DIFF)
