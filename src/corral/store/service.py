"""The one way to carry out a command: fill in defaults, decide, append, answer.

The command line, the HTTP API, the tools for agents and the roles all come through here. An
interface only translates: a field that its user left out stays unset, and is filled in here from
what the repository says.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import UNSET, Struct
from msgspec.structs import replace

from corral.core.errors import AlreadyDone
from corral.core.log.events import Event
from corral.core.log.requests import keyed
from corral.core.log.state import State
from corral.core.text import CLAIM_TTL_S
from corral.store.port import Answer, Decide, Request, Store, events_of

if TYPE_CHECKING:
    from corral.core.board.commands import Command

T = TypeVar("T")
Admit = Callable[[State, "Command"], "Command"]


class Defaults(Struct, frozen=True):
    """What the repository says where a command says nothing."""

    claim_ttl_s: int = CLAIM_TTL_S
    branch: Callable[[], str] = str  # the branch that is checked out


_NO_DEFAULTS = Defaults()


def completed(command: "Command", defaults: Defaults) -> "Command":
    """Return the command with its unset fields filled in."""
    if getattr(command, "ttl_s", None) is UNSET:
        return replace(command, ttl_s=defaults.claim_ttl_s)
    if getattr(command, "base", None) is UNSET:
        return replace(command, base=defaults.branch())
    plan = getattr(command, "plan", None)
    if plan is not None and not plan.convoy.base:
        convoy = replace(plan.convoy, base=defaults.branch())
        return replace(command, plan=replace(plan, convoy=convoy))
    return command


def request(
    command: "Command",
    actor: str,
    answer: Answer[Any] | None = None,
    *,
    key: str = "",
    defaults: Defaults = _NO_DEFAULTS,
    admit: Admit | None = None,
) -> Request[Any]:
    """Return the request to the log that carries out a command.

    `admit` runs inside the transaction: it may complete the command from the identity of the
    caller, and refuses what the caller may not do.
    """
    from corral.core.board.rules import decide
    from corral.core.show.answers import answer_of

    whole = completed(command, defaults)

    def decided(state: State, now: int) -> Sequence[Event]:
        return decide(state, admit(state, whole) if admit else whole, actor, now)

    return Request(actor, decided, answer or answer_of(command.name), keyed(key, whole))


def perform(
    store: Store,
    command: "Command",
    actor: str,
    answer: Answer[Any] | None = None,
    *,
    key: str = "",
    defaults: Defaults = _NO_DEFAULTS,
    admit: Admit | None = None,
) -> Any:
    """Carry out a command; one that was carried out before under its key is answered again."""
    asked = request(command, actor, answer, key=key, defaults=defaults, admit=admit)
    try:
        return store.transaction(asked)
    except AlreadyDone as done:
        return asked.answer(store.state(), events_of(store, done.seq))


def record(store: Store, actor: str, decide: Decide, key: str = "") -> int:
    """Append what a role decides; return the number of events.

    AlreadyDone is raised if a request with the same key was carried out before.
    """
    return store.transaction(Request(actor, decide, lambda _, stored: len(stored), key))
