"""While a convoy runs, ask the mayor about tasks that have failed for good."""

from collections.abc import Callable
from contextlib import closing
from threading import Event, Thread

from corral.core.errors import BadInput, described
from corral.core.ids import ConvoyId
from corral.core.log.state import State
from corral.core.mayor import rules as mayor_rules
from corral.interfaces.cli.context import Context
from corral.store.sqlite import SqliteStore

_STOP_S = 30  # besides the grace period of an engine that is asked to stop


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
        self._thread: Thread | None = None
        self._error: BaseException | None = None

    def busy(self, state: State) -> bool:
        """Ask about a new failure if there is one; return whether the mayor is at work."""
        if self._thread is not None:
            if self._thread.is_alive():
                return True
            error, self._error, self._thread = self._error, None, None
            if error is not None:
                self._say(f"the mayor could not be asked: {described(error)}")
        due = self._due(state)
        if not due or due in self._tried:
            return False
        self._tried.add(due)
        self._say(f"{due} has failed for good: asking the mayor")
        # A daemon, so that one that does not stop cannot keep the command from ending.
        self._thread = Thread(target=self._ask, name="corral-mayor", daemon=True)
        self._thread.start()
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
        # A border: `busy` tells the error, and the run goes on.
        try:
            with closing(SqliteStore(place.folder)) as store:
                talk = Talk(
                    store, place, config, actor=actor, say=lambda _: None, stopping=self._stopping
                )
                talk.replan(self._convoy, yes=self._yes)
        except BaseException as error:
            self._error = error

    def stop(self) -> None:
        """End the question that is being asked; the next run, or `mayor start`, continues it.

        An engine that does not stop in time is left behind, under its shim, with its question.
        """
        self._stopping.set()
        if self._thread is None:
            return
        limit = self._context.config.watch.grace_s + _STOP_S
        self._thread.join(limit)
        if self._thread.is_alive():
            self._say(
                f"the mayor's engine did not stop within {limit} s; its question stays open, and"
                " the next run continues it"
            )


def replanner(
    context: Context, convoy: ConvoyId, say: Callable[[str], None], *, asked: str, yes: bool
) -> Replanner | None:
    """Return the replanner, if it was requested now or when the plan was made."""
    mayor = mayor_rules.of_convoy(context.store.state(), convoy)
    if mayor is None and asked:
        said = f"--replan needs a plan that the mayor made; {convoy} has another one"
        raise BadInput(said, 'corral run "GOAL" --replan on_failure')
    if mayor is None or not (asked or mayor.replan):
        return None
    return Replanner(context, convoy, say, yes=yes)
