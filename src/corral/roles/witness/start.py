"""The start of a session: a task gets a slot, then a tree, and then its program runs.

Both steps read where the session stands from the log, its room and its tree, never from memory, so
a witness that was just started continues where one was killed. An error ends the session with the
reason, or is an alert and the step is tried again; it never ends the witness.
"""

from itertools import islice
from os.path import join

from msgspec import Struct

from corral.core.board.recurrence import starts_over
from corral.core.config import Config
from corral.core.engine.governor import profile_for
from corral.core.errors import CorralError, Refused
from corral.core.log.state import Session, State, Task
from corral.core.session import rules as session_rules
from corral.core.session.brief import done_so_far
from corral.core.session.fitness import (
    SETUP,
    UNFIT,
    about_check,
    is_unjudged,
    profile_of,
    unfit,
)
from corral.core.session.profiles import limits_of
from corral.core.session.slots import CANNOT_OPEN
from corral.core.session.verdict import Verdict
from corral.roles.log import Log
from corral.roles.witness.delivery import Delivery
from corral.roles.witness.end import SessionCloser
from corral.roles.witness.engine_watch import EngineWatch
from corral.roles.witness.launch import Launcher
from corral.roles.witness.session_trees import NotSetUp, SessionTrees
from corral.world import ports
from corral.world.clock import Clock


class SessionStarter(Struct, frozen=True):
    log: Log
    config: Config
    launcher: Launcher
    trees: SessionTrees
    engines: EngineWatch
    delivery: Delivery
    closer: SessionCloser
    clock: Clock
    ttl_s: int  # for which a session claims its task, unless that is renewed

    def open(self, task: Task) -> None:
        """Give a task a slot; its session begins at the next look."""
        state = self.log.look()
        fresh = self.config.trees.fresh or starts_over(state, task)
        limits = limits_of(self.config)
        profile = profile_for(state, task, limits.accounts, self.clock())
        settings = self.config.engine.get(profile)
        if not self._is_fit(profile, task):
            return
        try:
            trunk, base = self.trees.origin(state, task, fresh=fresh)
            free = self._free_ports()
            self.log.record(
                lambda state, at: session_rules.start(
                    state,
                    task.id,
                    profile=profile,
                    pool=settings.pool if settings else "",
                    base=base,
                    trunk=trunk,
                    limits=limits,
                    ttl_s=self.ttl_s,
                    wall_s=self.config.watch.wall_s,
                    now=at,
                    ports=free,
                    ports_wanted=self.config.trees.ports,
                    takes=self.launcher.profiles.takes(profile, task),
                )
            )
            self.log.over(CANNOT_OPEN, task.id)
        except CorralError as error:
            # Other refusals mean that the state has moved on; the next plan is made from it.
            if not isinstance(error, Refused) or error.code in ("refused", "no_port"):
                self.log.alert(CANNOT_OPEN, task.id, error.message, again=True)

    def _is_fit(self, profile: str, task: Task) -> bool:
        """Say whether a profile can be run here; if not, one alert stands for all of its tasks."""
        found = self.launcher.unfit(profile, task)
        if found is not None:
            subject, error = found
            hint = f" ({error.hint})" if error.hint else ""
            self.log.alert(UNFIT, subject, f"{error.message}{hint}", again=True)
        return found is None

    def recover(self, state: State) -> None:
        """Clear the alerts about engines that can be run again."""
        for alert in unfit(state):
            if alert.subject == SETUP or about_check(alert.subject):
                continue
            found = self.launcher.unfit(profile_of(alert.subject))
            if found is None or found[0] != alert.subject:
                self.log.over(UNFIT, alert.subject)

    def begin(self, session: Session, task: Task) -> None:
        """Make the tree and start the program; an error ends the session."""
        try:
            self.launcher.check(session, task)
            self.launcher.end_helpers(session.id)
            tree = self.trees.provide(session)
            if session.launches == 1:
                self.trees.set_up(session, task, tree)
                self.log.over(UNFIT, SETUP)
                if is_unjudged(task) and self.closer.accept(session, task, tree):
                    return
            done, letters = self._done_so_far(session, task), self.delivery.prompt(session)
            self.launcher.start(session, task, tree, done, letters)
        except NotSetUp as error:
            self.log.alert(UNFIT, SETUP, str(error), again=True)
            self.closer.refuse(session, str(error), Verdict.UNFIT)
        except CorralError as error:
            self.closer.refuse(session, error.message)

    def _free_ports(self) -> list[int]:
        """Return more ports than needed that nobody listens on or has leased."""
        wanted = self.config.trees.ports
        if not wanted:
            return []
        first, last = self.config.trees.port_range
        leased = self.log.look().leases
        candidates = (n for n in range(first, last + 1) if f"port:{n}" not in leased)
        return list(islice((n for n in candidates if ports.is_free(n)), 2 * wanted))

    def _done_so_far(self, session: Session, task: Task) -> str:
        """Summarize the conversation that this launch gives up for a new one in the same tree."""
        if session.launches == 1 or not session.fresh:
            return ""
        folder = join(self.launcher.room(session.id).path, f"run-{session.launches - 1}")
        stream = self.engines.summary(session, task, folder)
        calls = tuple(f"{call.tool} {call.what}".strip() for call in stream.calls[-5:])
        done = done_so_far(stream.said, stream.files, calls, self.delivery.had(session))
        return f"{session.reactions[-1]}\n\n{done}"
