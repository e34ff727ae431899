"""What can be asked of the mayor: one Struct for each command, which is also its HTTP body.

`roles/mayor` carries them out, because most of them run an engine. Annotations are evaluated here:
interfaces read the descriptions from the classes.
"""

from typing import Annotated as A
from typing import ClassVar

from msgspec import Meta, Struct

from corral.core.text import LINE

_TEXT = 100_000
_SEQ = 1 << 53  # more than any log has


class MayorCommand(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A request to the mayor."""

    name: ClassVar[str] = ""


class StartMayor(MayorCommand, frozen=True, kw_only=True):
    """Begin a conversation about a goal; without one, continue the current conversation."""

    name = "mayor start"
    goal: A[str, Meta(max_length=_TEXT, description="what is to be done")] = ""
    engine: A[str, Meta(description="the profile that makes the plan")] = ""
    replan: A[str, Meta(description="on_failure: ask again when a task fails for good")] = ""


class AskMayor(MayorCommand, frozen=True, kw_only=True):
    """Ask a question, or say what is to change in the plan."""

    name = "mayor ask"
    text: A[str, Meta(min_length=1, max_length=_TEXT, description="what to say")]


class ApprovePlan(MayorCommand, frozen=True, kw_only=True):
    """Put a proposed plan on the board."""

    name = "mayor approve"
    proposal: A[int, Meta(ge=1, le=_SEQ, description="the event that proposed it: proposed_seq")]


class RejectPlan(MayorCommand, frozen=True, kw_only=True):
    """Reject the proposed plan."""

    name = "mayor reject"
    reason: A[str, Meta(max_length=LINE, description="why, in one line")] = ""


class StopMayor(MayorCommand, frozen=True, kw_only=True):
    """End the conversation and its engine."""

    name = "mayor stop"
    reason: A[str, Meta(max_length=LINE, description="why, in one line")] = ""
