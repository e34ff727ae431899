"""What an engine's output says, in words that are the same for every engine.

A reader turns the lines of one program into these; everything behind it (what is shown, what is
spent, when to wait, when to step in) knows only facts. None of them is believed about the work
itself: that is judged from git and the checks.
"""

from enum import StrEnum
from typing import get_args

from msgspec import Struct


class Trouble(StrEnum):
    """Why an engine could not go on, as far as its output tells."""

    RATE = "rate"  # too many requests: wait, then go on
    OVERLOAD = "overload"  # the other side is too busy: wait, then go on
    QUOTA = "quota"  # nothing left until a date
    AUTH = "auth"  # wrong or missing credentials: a person has to act
    OVERFLOW = "overflow"  # the conversation no longer fits the model
    NETWORK = "network"  # cut off, refused, timed out, or a 5xx
    REQUEST = "request"  # the other side refuses what was asked (a 4xx)
    SESSION = "session"  # the session to be resumed is missing or broken
    BUDGET = "budget"  # the engine's own limit of money or turns
    OTHER = "other"


# After these, the same work can go on by itself once some time has passed.
PASSING = frozenset({Trouble.RATE, Trouble.OVERLOAD, Trouble.QUOTA})


class Fact(Struct, frozen=True, tag_field="fact", omit_defaults=True):
    """One thing that was seen in an engine's output."""


class Began(Fact, frozen=True, tag="began"):
    """The engine is up; `session` is its own name for the conversation, to resume it by."""

    session: str = ""
    model: str = ""
    version: str = ""


class Said(Fact, frozen=True, tag="said"):
    """The model said something."""

    text: str


class Used(Fact, frozen=True, tag="used"):
    """A tool was called; `what` tells two calls of one tool apart (a command, a path)."""

    tool: str
    what: str = ""
    paths: tuple[str, ...] = ()  # files that the call writes
    call: str = ""


class Answered(Fact, frozen=True, tag="answered"):
    """A tool's answer went back to the model."""

    call: str = ""
    ok: bool = True
    text: str = ""


class Spent(Fact, frozen=True, tag="spent"):
    """Tokens were used; `cost_usd` is None when the engine does not say.

    `total`: these are the figures of the whole run so far, in place of all before them.
    """

    fresh: int = 0  # input tokens that were not cached
    cached: int = 0
    output: int = 0
    cost_usd: float | None = None
    model: str = ""
    total: bool = False


class Window(Fact, frozen=True, tag="window"):
    """How much of the model's context is in use."""

    used: int
    size: int = 0


class Compacted(Fact, frozen=True, tag="compacted"):
    """The engine shortened its own conversation."""


class Limited(Fact, frozen=True, tag="limited"):
    """The engine met a limit and tries again by itself, for now."""

    trouble: Trouble
    retry_s: float | None = None
    reset_at: int | None = None  # milliseconds since the epoch
    text: str = ""


class Turn(Fact, frozen=True, tag="turn"):
    """Whose turn it is, as seen between an engine and its model (`world/engines/relay/server`).

    `heard`: the model answers, so whatever limited it is over.
    """

    model: bool
    heard: bool = False


class Asked(Fact, frozen=True, tag="asked"):
    """The engine waits for an answer: a question, or a permission."""

    text: str
    options: tuple[str, ...] = ()
    call: str = ""


class Told(Fact, frozen=True, tag="told"):
    """A text was handed to an engine that runs; `proof` says how it is known that it has it.

    `record`: the engine itself says so; `screen`: it was seen on its screen; `none`: not known.
    """

    text: str
    proof: str = "none"


class Ready(Fact, frozen=True, tag="ready"):
    """The engine is between two turns, and was asked to say so: it can be told something now."""


class Denied(Fact, frozen=True, tag="denied"):
    """A tool call was not permitted."""

    tool: str
    what: str = ""


class Finished(Fact, frozen=True, tag="finished"):
    """The engine says that it is over, and how. `trouble` is None if it ended well."""

    trouble: Trouble | None = None
    text: str = ""
    status: int | None = None  # of HTTP, where it is known
    retry_s: float | None = None
    reset_at: int | None = None


AnyFact = (
    Began
    | Said
    | Used
    | Answered
    | Spent
    | Window
    | Compacted
    | Limited
    | Turn
    | Asked
    | Told
    | Ready
    | Denied
    | Finished
)
_KINDS: tuple[type[Fact], ...] = get_args(AnyFact)

# What a line of an engine that is described in the configuration can be, and what is taken from it.
FACTS: dict[str, frozenset[str]] = {
    **{str(kind.__struct_config__.tag): frozenset(kind.__struct_fields__) for kind in _KINDS},
    "limited": frozenset({"text", "status", "retry_s"}),
    "failed": frozenset({"text", "status", "retry_s"}),
}
