"""Merge a finished convoy into its base branch, as its policy says.

The base has the same guarantees as the trunk: it moves only to a commit that was checked, by
compare-and-swap or by a fast-forward of a clean checkout. If that is not possible, the trunk stays
as it is, and the convoy's note has the command to finish by hand.
"""

import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from os.path import isdir

from msgspec import Struct, field

from corral.core.errors import Refused
from corral.core.ids import ConvoyId
from corral.core.log.state import State
from corral.core.queue import rules as queue_rules
from corral.core.queue.fold import trunk_of
from corral.core.queue.state import CheckRun
from corral.core.refs import branch_ref, trunk_branch
from corral.roles.log import Log
from corral.roles.refinery.stacks import Stacks
from corral.world.clock import Clock
from corral.world.git import checkout
from corral.world.git.checkout import Errand
from corral.world.git.landing import Overtaken, checkouts, land
from corral.world.git.tree import read_branch
from corral.world.git.view import View

_PAUSE_S = 0.05

StartCheck = Callable[[ConvoyId, str, str, str], None]


class ConvoyFinish(Struct, frozen=True):
    log: Log
    view: View
    stacks: Stacks
    policy: str
    check: StartCheck
    clock: Clock
    again: bool = False  # a person asks for it, after it was left as it is
    # What runs for a convoy beside the loop, and what to do with its outcome.
    errands: dict[ConvoyId, tuple[Errand, Callable[[str], None]]] = field(default_factory=dict)

    def finish(self, convoy: ConvoyId) -> bool:
        """Take the next step for a convoy whose tasks have all landed; say whether one is going on.

        Nothing here waits for the network or the user's disk: other convoys go on.
        """
        if convoy not in self.errands:
            self._begin(convoy)
        elif (problem := self.errands[convoy][0].problem()) is not None:
            errand, then = self.errands.pop(convoy)
            errand.close()
            then(problem)
        return convoy in self.errands

    def wait(self) -> None:
        """Carry out all that was begun."""
        while self.errands:
            for convoy in list(self.errands):
                self.finish(convoy)
            time.sleep(_PAUSE_S)

    def close(self) -> None:
        """End what runs; the next refinery begins again."""
        for errand, _ in self.errands.values():
            errand.close()
        self.errands.clear()

    def _begin(self, convoy: ConvoyId) -> None:
        state = self.log.look()
        trunk = trunk_of(state, convoy)
        before = "" if self.again and trunk.finished == "left" else trunk.finished
        if not queue_rules.complete(state, convoy) or before or trunk.landing:
            return
        base = state.convoys[convoy].base
        here = read_branch(self.view.git_dir, base) if base else None
        if here is None or self.policy == "leave":
            self._done(convoy, "left", trunk.tip, f"git merge {trunk_branch(convoy)}")
        elif self.policy == "pull-request":
            self._ask(convoy, base, trunk.tip)
        elif self.view.contains(here, trunk.tip):
            self._done(convoy, "merged", here, "")
        elif self.view.contains(trunk.tip, here):
            self.move(convoy, base, here, trunk.tip, "fast_forwarded")
        elif self.policy == "fast-forward":
            note = f"{base} has moved on: git merge {trunk_branch(convoy)}"
            self._done(convoy, "left", trunk.tip, note)
        else:
            self._merge(state, convoy, base, here)

    def _merge(self, state: State, convoy: ConvoyId, base: str, here: str) -> None:
        """Check the trunk merged into the base, then move the base to what was checked."""
        last = _last(state, convoy, here, trunk_of(state, convoy).tip)
        if last is None or last.result in (queue_rules.CANCELLED, queue_rules.LOST):
            if queue_rules.rest(state, convoy).until > self.clock():
                return
            made = self.stacks.joined(state, convoy, here, queue_rules.next_run(state))
            if made is None:
                note = f"it conflicts with {base}: git merge {trunk_branch(convoy)}"
                self._done(convoy, "left", trunk_of(state, convoy).tip, note)
            else:
                self.check(convoy, here, *made)
        elif last.result == queue_rules.GREEN:
            self.move(convoy, base, here, last.commit, "merged")
        elif not last.live:
            note = f"{last.run}, the trunk merged into {base}, is {last.result}: {last.detail}"
            self._done(convoy, "left", trunk_of(state, convoy).tip, note)

    def move(self, convoy: ConvoyId, base: str, old: str, new: str, how: str) -> None:
        """Move the base, together with the clean checkout that has it, if there is one."""

        def moved(problem: str) -> None:
            if problem:
                self._done(convoy, "left", new, f"{problem}: git merge --ff-only {new}")
            else:
                self._done(convoy, how, new, "")

        places = checkouts(self.view.git_dir, base)
        gone = [place for place in places if not isdir(place)]
        unclean = [place for place in places if place not in gone and not checkout.is_clean(place)]
        said = f"{base} is checked out in"
        if gone:
            moved(f"{said} {gone[0]}, which does not exist: git worktree prune, then")
        elif unclean or len(places) > 1:
            moved(f"{said} {', '.join(unclean or places)}, with changes")
        elif places:
            self.errands[convoy] = (checkout.fast_forward(places[0], new), moved)
        else:
            with suppress(Overtaken):  # the next round looks again
                land(self.view, branch_ref(base), old, new, f"corral: finish {convoy}")
                moved("")

    def _ask(self, convoy: ConvoyId, base: str, tip: str) -> None:
        """Open a pull request with `gh`; if it is not installed, say how to do it by hand."""
        branch, gh, git_dir = trunk_branch(convoy), shutil.which("gh"), self.view.git_dir
        push = f"git push -u origin {branch}"

        def opened(problem: str) -> None:
            if problem and "already exists" not in problem:
                self._done(convoy, "left", tip, f"{problem}: {push}")
            else:  # perhaps by a refinery that was killed then
                self._done(convoy, "asked", tip, f"{branch} to {base}")

        def pushed(problem: str) -> None:
            if problem or gh is None:
                opened(problem)
            else:
                errand = checkout.open_pull_request(gh, git_dir, branch, base)
                self.errands[convoy] = (errand, opened)

        if gh is None:
            note = f"{push}, then open a pull request from it to {base}"
            self._done(convoy, "left", tip, note)
        else:
            self.errands[convoy] = (checkout.push(git_dir, branch), pushed)

    def _done(self, convoy: ConvoyId, how: str, commit: str, note: str) -> None:
        if self.again and how == "left":
            raise Refused(f"{convoy} is not finished: {note}", code="not_finished")
        self.log.note(queue_rules.finish_convoy, convoy, how, commit, note)


def _last(state: State, convoy: ConvoyId, base: str, trunk: str) -> CheckRun | None:
    """Return the newest run of this trunk merged into this base."""
    wanted = (convoy, queue_rules.FINISH, base, trunk)
    newest = reversed(state.checks.values())
    return next((c for c in newest if (c.convoy, c.kind, c.tip, *c.commits[:1]) == wanted), None)
