"""The witness gives tasks to sessions; it starts, watches, stops and judges them.

It carries out a plan that is made again from the log whenever something happens. Its own memory
only saves looks: if it is killed, the next witness continues with the same sessions. One inotify
instance listens to the log, the rooms and the trees, so no process is started between two events;
a session is also looked at from time to time for what causes no event (silence, a killed shim).
"""

import os
import sys
import threading
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from corral.core.board.claims import offers
from corral.core.config import Config
from corral.core.engine.governor import opening
from corral.core.errors import CorralError, described
from corral.core.ids import SessionId
from corral.core.log.state import Alert, Message, Session, State, Task
from corral.core.message import rules as messages
from corral.core.session import rules as session_rules
from corral.core.session.agenda import next_look, resting, unattended
from corral.core.session.fitness import SETUP, UNFIT, unfit
from corral.core.session.profiles import budgets_of, limits_of
from corral.core.session.pulse import claim_gone
from corral.core.session.rules import WITNESS
from corral.core.session.slots import startable
from corral.roles import signals
from corral.roles.current_settings import SettingsWatch
from corral.roles.locks import only_one
from corral.roles.log import Log
from corral.roles.secrets import Secrets
from corral.roles.trunks import Trunks
from corral.roles.witness.confinement import Confinement
from corral.roles.witness.delivery import Delivery
from corral.roles.witness.dispatch import Dispatch, Dispatcher, Need
from corral.roles.witness.end import SessionCloser
from corral.roles.witness.engine_profile import EngineProfiles
from corral.roles.witness.engine_watch import EngineWatch
from corral.roles.witness.judge import Judge
from corral.roles.witness.launch import Abandoned, Launcher
from corral.roles.witness.machine_faults import MachineFaults
from corral.roles.witness.pulse import PulseTaker
from corral.roles.witness.radar import Radar
from corral.roles.witness.returned_work import ReturnedWork
from corral.roles.witness.session_trees import SessionTrees
from corral.roles.witness.start import SessionStarter
from corral.store.sqlite import SqliteStore
from corral.world.clock import Clock, now
from corral.world.environment import ProjectEnvironment
from corral.world.repository import Repository
from corral.world.trees import Trees
from corral.world.watch import Watch

_THREADS = 64
_RECOVER_MS = 3000  # between two looks for a program that was missing
_REST_S = 0.1  # events that come this close together are handled together


class Witness:
    def __init__(
        self, store: SqliteStore, repository: Repository, config: Config, clock: Clock = now
    ) -> None:
        self._repository = repository
        self._config = config
        self._clock = clock
        self._log = Log(store, WITNESS, Secrets(config, os.environ))
        self._watch = Watch(store.derived)
        self._settings = SettingsWatch(WITNESS, repository, config, self._watch)
        self._stopping = threading.Event()
        self._limits = limits_of(config)
        self._pools = {name: engine.pool for name, engine in config.engine.items()}
        self._ttl_s = max(60, 3 * config.watch.beat_s)
        self._set_up()
        # A step may wait hours for a command, so each session that can run gets a thread.
        self._workers = ThreadPoolExecutor(min(_THREADS, max(4, config.slots.total)), "corral-step")
        self._busy: set[SessionId] = set()
        self._done: set[SessionId] = set()  # their step has ended, so they are looked at next
        self._seq = -1
        self._once = False
        self._starts = True

    def _set_up(self) -> None:
        """Make the units that carry out the work; each knows only those made before it."""
        log, config, clock = self._log, self._config, self._clock
        place, folder = self._repository, self._repository.folder
        trees = Trees(place, place=config.trees.folder or None, pool=config.trees.pool, now=clock)
        trunks = Trunks(log, place, trees.keep)
        profiles = EngineProfiles(config, folder)
        returned = ReturnedWork(trunks.view, trees.keep)
        confinement = Confinement(config.confine, place)
        environment = ProjectEnvironment(place, config.environment, trees.place)
        parts = (log, place, config, profiles, returned, confinement, environment)
        launcher = Launcher(*parts, self._stopping)
        session_trees = SessionTrees(log, config, trees, trunks, returned, launcher)
        budgets = budgets_of(config)
        self._engines = engines = EngineWatch(log, config, profiles, trees, clock, folder, budgets)
        self._delivery = delivery = Delivery(log, profiles, engines, clock, folder=folder)
        self._faults = faults = MachineFaults(log, place, config, self._stopping, clock)
        used = (trees, trunks, launcher, faults, session_trees)
        judge = Judge(log, config, *used, git=session_trees.git)
        units = (log, config, launcher, session_trees, engines, delivery)
        self._closer = SessionCloser(*units, judge, clock)
        self._starter = SessionStarter(*units, self._closer, clock, self._ttl_s)
        self._pulse = PulseTaker(log, config.watch, place.git_dir, clock, engines)
        answer_s = config.watch.answer_s
        self._dispatcher = Dispatcher(folder, engines, trees, self._watch, answer_s, clock)
        self._radar = Radar(log, trunks.view, trees, config, watch=self._watch, clock=clock)

    def finish(self) -> None:
        """Record the end of the sessions that have been stopped, and start none."""
        self._starts = False
        self.run(once=True)

    def run(self, *, once: bool = False) -> Config | None:
        """Look after sessions until asked to stop; with `once`, until there is nothing to do.

        Running sessions continue without the witness, and the next one takes them over. If the
        settings have changed, return them: another witness continues with them.
        """
        self._once = once
        with only_one(self._repository.folder, WITNESS):
            self._log.over(UNFIT, SETUP)  # it may have been fixed since
            try:
                with signals.heeded(self.stop):
                    return self._loop(once=once)
            finally:
                self.stop()
                self._workers.shutdown(cancel_futures=True)
                self._radar.close()
                self._watch.close()

    def stop(self) -> None:
        """Make the loop end soon."""
        self._stopping.set()
        self._watch.ring()

    def _loop(self, *, once: bool) -> Config | None:
        heard: set[str] = set()
        timed_out = True
        while not self._stopping.is_set():
            recurs = self._log.recur(self._config.watch.beat_s, self._clock)
            self._tend(self._log.look(), heard, everyone=timed_out)
            state = self._log.look()
            busy = self._busy or self._done or self._faults.looking
            if once and not busy and not self._anything_left(state):
                return None
            until = next_look(state, self._clock(), self._config.watch.beat_s, WITNESS)
            self._radar.consider(state, heard)
            dues = (recurs, self._dispatcher.due_at(state, self._busy), self._radar.due_at())
            until = min([until, *(due for due in dues if due is not None)])
            if unfit(state):
                until = min(until, self._clock() + _RECOVER_MS)
            heard = self._watch.wait(max(0, until - self._clock()) / 1000)
            if not self._stopping.is_set():
                heard |= self._watch.wait(_REST_S)
                if not once and (found := self._settings.changed(self._log)) is not None:
                    return found
            timed_out = self._clock() >= until
        return None

    def _anything_left(self, state: State) -> bool:
        at = self._clock()
        if not self._starts:
            return any(session.live and session.stop for session in state.sessions.values())
        return (
            any(session.live for session in state.sessions.values())
            or any(True for _ in self._startable(state))
            or (not unfit(state) and resting(state, at, WITNESS, failed_only=True) is not None)
            or (opening(state, at) and any(True for _ in offers(state, at, WITNESS)))
        )

    def _startable(self, state: State) -> Iterator[Task]:
        if not self._starts:
            return iter(())
        found = startable(state, self._limits, self._pools, self._clock(), WITNESS)
        waits = self._once and bool(unfit(state))  # nobody would wait until that is fixed
        return (task for task in found if not (waits and task.parks))

    def _tend(self, state: State, heard: set[str], *, everyone: bool) -> None:
        """Look at every session that was heard of, then start new ones."""
        live = [session for session in state.sessions.values() if session.live]
        mail = messages.concerned(state, self._clock())
        finished = {session for session in set(self._done) if session not in self._busy}
        self._done -= finished
        news = state.seq != self._seq or everyone
        if news:
            self._renew(state, live)
            self._forget({session.id for session in live})
        for session in live:
            if session.id in self._busy:
                continue
            task, letters = state.tasks[session.task], mail.get(session.id, ())
            concerned = everyone or session.id in finished
            if concerned or self._dispatcher.changed(session, task, letters, heard):
                self._look(session, task, letters)
        if news:
            self._remind(state)
            self._starter.recover(state)
            for alert in self._faults.due(state):
                self._faults.looking.add(alert.id)
                self._workers.submit(self._look_again, alert)
            for task in list(self._startable(state)):
                self._starter.open(task)
        self._seq = state.seq

    def _look(self, session: Session, task: Task, mail: tuple[Message, ...]) -> None:
        # A border: an error in one session becomes an alert and harms no other session.
        try:
            self._meet(self._dispatcher.look(session, task, mail))
        except Exception as error:
            self._tell("not_seen", session, error)

    def _meet(self, found: Dispatch) -> None:
        """Do what a session needs; steps that take long run in a thread."""
        session, task, folder = found.session, found.task, found.folder
        match found.need:
            case Need.BEGIN | Need.CLOSE:
                self._busy.add(session.id)
                self._workers.submit(self._do, found)
            case Need.STOP:
                self._pulse.stop(session, folder, claim_gone(task))
            case Need.INSIST if folder is not None:
                self._pulse.insist(session.id, folder)
            case Need.WATCH if folder is not None:
                self._pulse.take(session, task, folder, found.tree)
                if found.mail or self._engines.ready(session.id):
                    self._delivery.tend(session, task, folder)
            case _:
                pass  # it waits for an answer

    def _do(self, found: Dispatch) -> None:
        """Begin or close a session; only one such step runs for a session at a time."""
        # A border: an error in a step ends the session or is retried, and never ends the witness.
        session, task = found.session, found.task
        try:
            if found.exit is None:
                self._starter.begin(session, task)
            else:
                self._closer.close(session, task, found.exit)
            self._done.add(session.id)
        except Abandoned:
            pass
        except Exception as error:
            self._went_wrong(found, error)
        finally:
            self._busy.discard(session.id)
            self._watch.ring()

    def _look_again(self, alert: Alert) -> None:
        # A border: a fault that cannot be looked at stays, and is looked at later.
        try:
            self._faults.look_again(alert)
        except Abandoned:
            pass
        except Exception as error:
            print(f"{alert.subject}: {described(error)}", file=sys.stderr)
        finally:
            self._faults.looking.discard(alert.id)
            self._watch.ring()

    def _went_wrong(self, found: Dispatch, error: Exception) -> None:
        try:
            if found.need is Need.BEGIN:
                self._tell("step_failed", found.session, error)
                self._closer.refuse(found.session, described(error))
            else:
                self._closer.could_not_close(found.session, error)
        except Exception:
            traceback.print_exc(file=sys.stderr)  # the log itself cannot be written: try again

    def _forget(self, live: set[SessionId]) -> None:
        for session in self._dispatcher.forget_all_but(live):
            self._pulse.forget(session)
            self._engines.forget(session)

    def _renew(self, state: State, live: list[Session]) -> None:
        """Renew the claims that are past half of their time, in one transaction."""
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
        """Raise an alert for results that nobody acts on, and clear it once somebody has."""
        late = {task.id for task in unattended(state, self._clock(), self._config.watch.beat_s)}
        for task in late:
            self._log.alert("unattended", task, f"{task} was submitted, and nobody has acted on it")
        for alert in list(state.alerts.values()):
            if alert.kind == "unattended" and alert.subject not in late:
                self._log.over("unattended", alert.subject)

    def _tell(self, kind: str, session: Session, error: Exception) -> None:
        if not isinstance(error, CorralError):
            traceback.print_exception(error, file=sys.stderr)
        self._log.alert(kind, session.id, described(error))
