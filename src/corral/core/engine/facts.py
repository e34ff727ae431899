"""Facts: what an engine's output says, in the same terms for every engine.

A reader turns one program's lines into facts, and everything else (display, costs, delays, the
watchdog) knows only facts. None of them is believed about the work itself, which is judged by git
and the checks.
"""

from enum import StrEnum
from typing import get_args

from msgspec import Struct


class Trouble(StrEnum):
    """Why an engine could not go on, according to its output."""

    RATE = "rate"  # too many requests: wait, then go on
    OVERLOAD = "overload"  # the server is too busy: wait, then go on
    QUOTA = "quota"  # used up until a certain time
    AUTH = "auth"  # wrong or missing credentials: needs a person
    OVERFLOW = "overflow"  # the conversation no longer fits the model
    NETWORK = "network"  # cut off, refused, timed out, or a 5xx
    REQUEST = "request"  # the server rejects the request (a 4xx)
    SESSION = "session"  # the conversation to resume is missing or broken
    BUDGET = "budget"  # the engine's own limit on money or turns
    OTHER = "other"


# After these, the same work can go on automatically after a delay.
PASSING = frozenset({Trouble.RATE, Trouble.OVERLOAD, Trouble.QUOTA})


class Fact(Struct, frozen=True, tag_field="fact", omit_defaults=True):
    """One thing seen in an engine's output."""


class Began(Fact, frozen=True, tag="began"):
    """The engine has started; `session` is its own id of the conversation, for resuming it."""

    session: str = ""
    model: str = ""
    version: str = ""


class Said(Fact, frozen=True, tag="said"):
    """The model said something."""

    text: str


class Used(Fact, frozen=True, tag="used"):
    """A tool was called; `what` distinguishes two calls of one tool (a command, a path)."""

    tool: str
    what: str = ""
    paths: tuple[str, ...] = ()  # files that the call writes
    call: str = ""


class Answered(Fact, frozen=True, tag="answered"):
    """A tool returned its result to the model."""

    call: str = ""
    ok: bool = True
    text: str = ""


class Spent(Fact, frozen=True, tag="spent"):
    """Tokens were used; `cost_usd` is None when the engine does not say.

    With `total`, these figures are for the whole run so far and replace all earlier ones.
    """

    fresh: int = 0  # input tokens that were not cached
    cached: int = 0
    output: int = 0
    cost_usd: float | None = None
    model: str = ""
    total: bool = False


class Window(Fact, frozen=True, tag="window"):
    """How much of the model's context is used."""

    used: int
    size: int = 0


class Compacted(Fact, frozen=True, tag="compacted"):
    """The engine compacted its conversation."""


class Limited(Fact, frozen=True, tag="limited"):
    """The engine hit a rate limit and retries on its own, for now."""

    trouble: Trouble
    retry_s: float | None = None
    reset_at: int | None = None  # milliseconds since the epoch
    text: str = ""


class Turn(Fact, frozen=True, tag="turn"):
    """Whose turn it is, as the relay sees it (`world/engines/relay/server`).

    With `heard`, the model responds, so any rate limit is over.
    """

    model: bool
    heard: bool = False


class Asked(Fact, frozen=True, tag="asked"):
    """The engine waits for an answer to a question or a permission request."""

    text: str
    options: tuple[str, ...] = ()
    call: str = ""


class Told(Fact, frozen=True, tag="told"):
    """A text was delivered to a running engine; `proof` says how that is known.

    `record`: the engine itself says so; `screen`: it was seen on its screen; `none`: unknown.
    """

    text: str
    proof: str = "none"


class Ready(Fact, frozen=True, tag="ready"):
    """The engine is between turns, and was asked to say so: it can take a message now."""


class Denied(Fact, frozen=True, tag="denied"):
    """A tool call was not permitted."""

    tool: str
    what: str = ""


class Finished(Fact, frozen=True, tag="finished"):
    """The engine reports its end. `trouble` is None if it ended well."""

    trouble: Trouble | None = None
    text: str = ""
    status: int | None = None  # of HTTP, if known
    retry_s: float | None = None
    reset_at: int | None = None


_Working = Began | Said | Used | Answered | Spent | Window | Compacted | Limited
AnyFact = _Working | Turn | Asked | Told | Ready | Denied | Finished
_KINDS: tuple[type[Fact], ...] = get_args(AnyFact)

# The facts, with their fields, that lines of an engine described in the configuration can become.
FACTS: dict[str, frozenset[str]] = {
    **{str(kind.__struct_config__.tag): frozenset(kind.__struct_fields__) for kind in _KINDS},
    "limited": frozenset({"text", "status", "retry_s"}),
    "failed": frozenset({"text", "status", "retry_s"}),
}
