"""While a convoy runs, ask the mayor about tasks that have failed for good."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from threading import Event

from corral.core.errors import BadInput, described
from corral.core.ids import ConvoyId
from corral.core.log.state import State
from corral.core.mayor import rules as mayor_rules
from corral.interfaces.cli.context import Context
from corral.store.sqlite import SqliteStore


class Replanner:
    """Asks in a thread, one question at a time, once for each failure."""

    def __init__(
        self, context: Context, convoy: ConvoyId, say: Callable[[str], None], *, yes: bool
    ) -> None:
        self._context = context
        self._convoy = convoy
        self._say = say
        self._yes = yes
        self._tried: set[str] = set()
        self._stopping = Event()
        self._thread = ThreadPoolExecutor(1, "corral-mayor")
        self._work: Future[None] | None = None

    def busy(self, state: State) -> bool:
        """Ask about a new failure if there is one; return whether the mayor is at work."""
        if self._work is not None:
            if not self._work.done():
                return True
            error, self._work = self._work.exception(), None
            if error is not None:
                self._say(f"the mayor could not be asked: {described(error)}")
        due = self._due(state)
        if not due or due in self._tried:
            return False
        self._tried.add(due)
        self._say(f"{due} has failed for good: asking the mayor")
        self._work = self._thread.submit(self._ask)
        return True

    def _due(self, state: State) -> str:
        """Return the failure to ask about: a new one, or one whose question was not completed."""
        mayor = mayor_rules.of_convoy(state, self._convoy)
        if mayor is None:
            return ""
        left = mayor.busy or (self._yes and mayor.pending)
        if left and mayor.cause == "failure" and not mayor.over:
            return mayor.task
        task = mayor_rules.untold(state, mayor, self._context.config.mayor.replans)
        return task.id if task and not mayor.pending else ""

    def _ask(self) -> None:
        """Work in a thread, on a store of its own."""
        from corral.roles.mayor.conversation import Talk

        place, config, actor = self._context.repository, self._context.config, self._context.actor
        with closing(SqliteStore(place.folder)) as store:
            talk = Talk(
                store, place, config, actor=actor, say=lambda _: None, stopping=self._stopping
            )
            talk.replan(self._convoy, yes=self._yes)

    def stop(self) -> None:
        """End the question that is being asked; the next run, or `mayor start`, continues it."""
        self._stopping.set()
        self._thread.shutdown()


def replanner(
    context: Context, convoy: ConvoyId, say: Callable[[str], None], *, asked: str, yes: bool
) -> Replanner | None:
    """Return the replanner, if it was requested now or when the plan was made."""
    mayor = mayor_rules.of_convoy(context.store.state(), convoy)
    if mayor is None and asked:
        raise BadInput(
            f"--replan needs a plan that the mayor made; {convoy} has another one",
            'corral run "GOAL" --replan on_failure',
        )
    if mayor is None or not (asked or mayor.replan):
        return None
    return Replanner(context, convoy, say, yes=yes)
