"""While a convoy runs, ask the mayor about tasks that have failed for good."""

import os
import subprocess
from collections.abc import Callable
from os.path import dirname, join

from corral.core.errors import BadInput
from corral.core.ids import ConvoyId
from corral.core.log.state import State
from corral.core.mayor import rules as mayor_rules
from corral.interfaces.cli.context import Context
from corral.roles.supervisor import program

_END_S = 60.0


class Replanner:
    """Runs `corral mayor replan` as a separate process, one at a time, once for each failure."""

    def __init__(
        self, context: Context, convoy: ConvoyId, say: Callable[[str], None], *, yes: bool
    ) -> None:
        self._convoy = convoy
        self._say = say
        self._most = context.config.mayor.replans
        self._errors = join(context.repository.folder, "runs", f"{convoy}.mayor")
        words = ("replan", convoy, *(["--yes"] if yes else []))
        self._argv = program("mayor", *words, "--repo", context.repository.worktree)
        self._yes = yes
        self._tried: set[str] = set()
        self._process: subprocess.Popen[bytes] | None = None

    def busy(self, state: State) -> bool:
        """Ask about a new failure if there is one; return whether the mayor is at work."""
        if self._process is not None:
            if self._process.poll() is None:
                return True
            self._ended(self._process.returncode)
        due = self._due(state)
        if not due or due in self._tried:
            return False
        self._tried.add(due)
        self._say(f"{due} has failed for good: asking the mayor")
        os.makedirs(dirname(self._errors), exist_ok=True)
        with open(self._errors, "wb") as errors:
            self._process = subprocess.Popen(
                self._argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors
            )
        return True

    def _due(self, state: State) -> str:
        """Return the failure to ask about: a new one, or one whose question was not completed."""
        mayor = mayor_rules.of_convoy(state, self._convoy)
        if mayor is None:
            return ""
        left = mayor.busy or (self._yes and mayor.pending)
        if left and mayor.cause == "failure" and not mayor.over:
            return mayor.task
        task = mayor_rules.untold(state, mayor, self._most)
        return task.id if task and not mayor.pending else ""

    def stop(self) -> None:
        """End the question that is being asked; the next run, or `mayor start`, continues it."""
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.wait(_END_S)

    def _ended(self, code: int) -> None:
        self._process = None
        with open(self._errors, encoding="utf-8", errors="replace") as errors:
            said = errors.read(1 << 16).strip().splitlines()
        if code:
            self._say(f"the mayor could not be asked: {said[-1] if said else f'exit {code}'}")


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
