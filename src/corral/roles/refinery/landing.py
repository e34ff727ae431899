"""Move the trunk: announced in the log, done by compare-and-swap, recorded in the log."""

from msgspec import Struct

from corral.core.errors import Refused
from corral.core.ids import ConvoyId
from corral.core.queue import rules as queue_rules
from corral.core.queue.fold import trunk_of
from corral.core.queue.state import AnnouncedLanding
from corral.core.refs import branch_ref, trunk_branch
from corral.roles.log import Log
from corral.roles.refinery.stacks import Stacks
from corral.world.git.landing import Overtaken, land
from corral.world.git.view import View

CHECKED_OUT = "trunk_checked_out"
NOT_LANDED = "not_landed"


class Landings(Struct, frozen=True):
    log: Log
    view: View
    stacks: Stacks

    def land(self, run: str) -> None:
        """Land what a green run has checked, unless an invariant is broken."""
        state = self.log.look()
        check = state.checks[run]
        if any(task not in state.changes for task in check.members):
            return  # the queue has changed since the plan was made; the next plan takes it in
        wrong = self.stacks.wrong(state, check)
        if wrong:  # the convoy is paused rather than an invariant broken
            said = f"{check.run} was green, but {'; '.join(wrong)}"
            self.log.alert(NOT_LANDED, check.convoy, said)
            self.log.note(queue_rules.hold, check.convoy, said)
            return
        try:
            self.log.note(queue_rules.begin_landing, run)
        except Refused:
            return
        self.settle(check.convoy)

    def settle(self, convoy: ConvoyId) -> None:
        """Complete an announced landing, even of a refinery that was killed."""
        landing = trunk_of(self.log.look(), convoy).landing
        if landing is None:
            return
        problem = self._move(convoy, landing)
        self.log.note(queue_rules.end_landing, convoy, landing.run, problem)

    def _move(self, convoy: ConvoyId, landing: AnnouncedLanding) -> str:
        ref = branch_ref(trunk_branch(convoy))
        reason = f"corral: {landing.run} lands {' '.join(landing.tasks)}"
        try:
            checked_out = land(self.view, ref, landing.old, landing.new, reason)
        except Overtaken as overtaken:
            if overtaken.found and self.view.contains(overtaken.found, landing.new):
                return ""  # it had landed, and only the record was missing
            return overtaken.message
        if checked_out:
            self.log.alert(
                CHECKED_OUT,
                convoy,
                f"the trunk of {convoy} is checked out in {', '.join(checked_out)}; its"
                " files there were left unchanged, so git shows what has landed since as reverted:"
                " switch to another branch there",
            )
        return ""
