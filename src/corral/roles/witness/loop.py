"""The witness: gives tasks to sessions, starts, watches, stops and judges them.

It carries out a plan that is made again from the log each time something happens (`slots`, `beats`
and `verdict` in `core/session`), and what it remembers only saves it a look: kill it, start
another, and that one goes on with the same sessions. Only one runs for a repository.

Waiting costs nothing: one inotify instance listens to the log, to the rooms of the sessions and to
their trees; between two events no process is started. Only what was heard of is looked at; all
sessions are looked at now and then, for what makes no event (silence, a shim that was killed), and
so are files that are not committed, by the radar (`roles/witness/radar`).
"""

import os
import sys
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

from corral.core.board.claims import offers
from corral.core.board.recurrence import starts_over
from corral.core.config import Config
from corral.core.engine.governor import opening, profile_for
from corral.core.errors import CorralError, Refused
from corral.core.ids import SessionId
from corral.core.log.state import Session, State, Task
from corral.core.message import rules as messages
from corral.core.session import rules as session_rules
from corral.core.session.agenda import next_look, resting, unattended
from corral.core.session.profiles import limits_of
from corral.core.session.rules import WITNESS
from corral.core.session.slots import CANNOT_OPEN, startable
from corral.roles import signals
from corral.roles.locks import only_one
from corral.roles.log import Log
from corral.roles.secrets import Secrets
from corral.roles.witness.dispatch import Attention
from corral.roles.witness.launch import Abandoned
from corral.roles.witness.lifecycle import Steps, described
from corral.roles.witness.pulse import PulseTaker
from corral.roles.witness.radar import Radar
from corral.store.sqlite import SqliteStore
from corral.world import ports
from corral.world.clock import Clock, now
from corral.world.repository import Repository
from corral.world.trees import Trees
from corral.world.watch import Watch

_THREADS = 64
_REST_S = 0.1  # events that come together are looked at together


class Witness:
    def __init__(
        self, store: SqliteStore, repository: Repository, config: Config, clock: Clock = now
    ) -> None:
        self._repository = repository
        self._config = config
        self._clock = clock
        self._log = Log(store, WITNESS, Secrets(config, os.environ))
        self._log_folder = store.derived
        self._watch = Watch(store.derived)
        trees = Trees(
            repository, place=config.trees.folder or None, pool=config.trees.pool, now=clock
        )
        self._steps = Steps(self._log, repository, config, trees, clock)
        pulse = PulseTaker(self._log, config.watch, repository.git_dir, clock, self._steps.watcher)
        self._attention = Attention(self._steps, pulse, trees, self._watch, config.watch.grace_s)
        self._radar = Radar(
            self._log, self._steps.trunks.view, trees, config, watch=self._watch, clock=clock
        )
        self._limits = limits_of(config)
        self._pools = {name: engine.pool for name, engine in config.engine.items()}
        self._ttl_s = max(60, 3 * config.watch.beat_s)
        # A step may wait for a command for hours, so there is one thread for each that can.
        self._workers = ThreadPoolExecutor(min(_THREADS, max(4, config.slots.total)), "corral-step")
        self._busy: set[SessionId] = set()
        self._done: set[SessionId] = set()  # their step has ended: look at them
        self._seq = -1

    def run(self, *, once: bool = False) -> None:
        """Look after sessions until asked to stop; with `once`, until nothing can be done.

        Sessions that run go on without the witness; the next one takes them over.
        """
        lock = only_one(self._repository.folder, WITNESS)
        try:
            with signals.heeded(self.stop):
                self._loop(once=once)
        finally:
            self.stop()
            self._workers.shutdown(cancel_futures=True)
            self._radar.close()
            self._watch.close()
            os.close(lock)

    def stop(self) -> None:
        """Have the loop end soon."""
        self._steps.launcher.stopping.set()
        self._watch.ring()

    @property
    def _stopping(self) -> bool:
        return self._steps.launcher.stopping.is_set()

    def _loop(self, *, once: bool) -> None:
        heard: set[str] = set()
        timed_out = True
        while not self._stopping:
            recurs = self._log.recur(self._config.watch.beat_s, self._clock)
            state = self._log.look()
            self._tend(state, heard, everyone=timed_out)
            state = self._log.look()
            if once and not self._busy and not self._done and not self._anything_left(state):
                return
            until = next_look(state, self._clock(), self._config.watch.beat_s, WITNESS)
            self._radar.consider(state, heard)
            dues = (recurs, self._attention.due_at(state, self._busy), self._radar.due_at())
            for also in dues:
                until = until if also is None else min(until, also)
            heard = self._watch.wait(max(0, until - self._clock()) / 1000)
            if not self._stopping:
                heard |= self._watch.wait(_REST_S)
            timed_out = self._clock() >= until

    def _anything_left(self, state: State) -> bool:
        at = self._clock()
        return (
            any(session.live for session in state.sessions.values())
            or any(True for _ in self._startable(state))
            or resting(state, at, WITNESS, failed_only=True) is not None
            or (opening(state, at) and any(True for _ in offers(state, at, WITNESS)))
        )

    def _startable(self, state: State) -> Iterator[Task]:
        return startable(state, self._limits, self._pools, self._clock(), WITNESS)

    def _tend(self, state: State, heard: set[str], *, everyone: bool) -> None:
        """Do what is to be done for every session that was heard of, then start new ones."""
        live = [session for session in state.sessions.values() if session.live]
        self._attention.sort(messages.concerned(state, self._clock()))
        finished = {session for session in set(self._done) if session not in self._busy}
        self._done -= finished
        if state.seq != self._seq or everyone:
            self._renew(state, live)
            self._attention.prune({session.id for session in live})
        for session in live:
            if session.id in self._busy:
                continue
            if everyone or session.id in finished or self._attention.wanted(state, session, heard):
                self._look(session, state.tasks[session.task])
        if state.seq != self._seq or everyone:
            self._remind(state)
            for task in list(self._startable(state)):
                self._open(task)
        self._seq = state.seq

    def _look(self, session: Session, task: Task) -> None:
        # A border: one session's trouble is told, and harms no other session.
        try:
            self._attention.look(session, task, self._later)
        except Exception as error:
            self._tell("not_seen", session, error)

    def _open(self, task: Task) -> None:
        """Give a task a slot, and begin its session at the next look."""
        state = self._log.look()
        fresh = self._config.trees.fresh or starts_over(state, task)
        profile = profile_for(state, task, self._limits.accounts, self._clock())
        try:
            trunk = self._steps.trunks.at(task.convoy)
            base = self._steps.base(state, task, trunk, fresh=fresh)
            free = self._free_ports()
            self._log.record(
                lambda state, at: session_rules.start(
                    state,
                    task.id,
                    profile=profile,
                    pool=self._pools.get(profile, ""),
                    base=base,
                    trunk=trunk,
                    limits=self._limits,
                    ttl_s=self._ttl_s,
                    wall_s=self._config.watch.wall_s,
                    now=at,
                    ports=free,
                    ports_wanted=self._config.trees.ports,
                    takes=self._steps.launcher.engaging.takes(profile, task),
                )
            )
            self._log.over(CANNOT_OPEN, task.id)
        except Refused as refusal:
            # Mostly, the state has moved on since the plan was made; the next plan knows.
            if refusal.code in ("refused", "no_port"):
                self._log.alert(CANNOT_OPEN, task.id, refusal.message, again=True)
        except CorralError as error:
            self._log.alert(CANNOT_OPEN, task.id, error.message, again=True)

    def _free_ports(self) -> list[int]:
        """Return more ports than needed that nobody listens on or has leased."""
        wanted = self._config.trees.ports
        if not wanted:
            return []
        first, last = self._config.trees.port_range
        leased = {name for name, lease in self._log.look().leases.items()}
        candidates = (n for n in range(first, last + 1) if f"port:{n}" not in leased)
        return list(islice((n for n in candidates if ports.is_free(n)), 2 * wanted))

    def _renew(self, state: State, live: list[Session]) -> None:
        """Keep the claims that are past half of their time, in one step."""
        limit = self._clock() + self._ttl_s * 500
        due = [
            session.id
            for session in live
            if (claim := state.tasks[session.task].claim)
            and claim.token == session.token
            and claim.expires_at < limit
        ]
        if due:
            self._log.record(lambda s, at: session_rules.renew(s, due, self._ttl_s, at))

    def _remind(self, state: State) -> None:
        """Tell of results that nobody acts on, and stop telling once somebody has."""
        late = {task.id for task in unattended(state, self._clock(), self._config.watch.beat_s)}
        for task in late:
            self._log.alert("unattended", task, f"{task} was handed in, and nobody acts on it")
        for alert in list(state.alerts.values()):
            if alert.kind == "unattended" and alert.subject not in late:
                self._log.over("unattended", alert.subject)

    def _later(self, session: Session, kind: str, step: Callable[[], None]) -> None:
        """Do a step that takes a while beside the loop, one at a time for each session."""
        self._busy.add(session.id)
        self._workers.submit(self._do, session, kind, step)

    def _do(self, session: Session, kind: str, step: Callable[[], None]) -> None:
        # A border: what goes wrong in a step is told and ends the session, not the witness.
        try:
            step()
            self._done.add(session.id)
        except Abandoned:
            pass
        except Exception as error:
            self._went_wrong(session, kind, error)
        finally:
            self._busy.discard(session.id)
            self._watch.ring()

    def _went_wrong(self, session: Session, kind: str, error: Exception) -> None:
        try:
            if kind == "begin":
                self._tell("step_failed", session, error)
                self._steps.refuse(session, described(error))
            else:
                self._steps.could_not_judge(session, error)
        except Exception:
            traceback.print_exc(file=sys.stderr)  # the log itself cannot be written; look again

    def _tell(self, kind: str, session: Session, error: Exception) -> None:
        if not isinstance(error, CorralError):
            traceback.print_exception(error, file=sys.stderr)
        self._log.alert(kind, session.id, described(error))
