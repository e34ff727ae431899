"""Watch the engines that run: read their facts, record what others need, step in by the watchdog.

What is remembered here is read again from the output by the next witness. The log gets few events,
each bounded: the conversation once, spending once in a while and exactly at the end, limits when
they are news, questions, and every reaction.
"""

import os
from os.path import join

from corral.core.config import Config
from corral.core.engine import money, watchdog
from corral.core.engine.bill import Bill
from corral.core.engine.facts import PASSING
from corral.core.engine.money import Sums
from corral.core.engine.stream import Stream
from corral.core.engine.watchdog import Loop, Seen, WatchdogStep
from corral.core.ids import SessionId
from corral.core.log.state import Session, State, Task
from corral.core.session import rules as session_rules
from corral.core.session.profiles import budgets_of
from corral.core.session.verdict import LastWord, Verdict
from corral.roles.log import Log
from corral.roles.records.facts import Reading
from corral.roles.records.rooms import Room
from corral.roles.witness.engine_profile import EngineProfiles
from corral.world.clock import Clock
from corral.world.engines.runners import inbox
from corral.world.trees import Trees

_RECORD_MS = 60_000  # between two records of what was spent, ...
_RECOVERED_MS = 5_000  # ... also when a session goes on after a limit
_CHECK_MS = 5_000  # between two looks at budgets, if the session itself has spent nothing
_COMPACTIONS = 5  # that are recorded
_SAID = 900


class EngineWatch:
    def __init__(
        self,
        log: Log,
        config: Config,
        profiles: EngineProfiles,
        trees: Trees,
        clock: Clock,
        *,
        folder: str,
    ) -> None:
        self._log = log
        self._config = config
        self._profiles = profiles
        self._trees = trees
        self._clock = clock
        self._folder = folder
        self._budgets = budgets_of(config)
        self._readings: dict[SessionId, Reading] = {}
        self._loops: dict[SessionId, Loop] = {}
        self._noted: dict[SessionId, tuple[int, int]] = {}  # limits and compactions told so far
        self._recorded: dict[SessionId, int] = {}
        self._checked: dict[SessionId, tuple[Bill | None, int]] = {}

    def follows(self, session: Session, task: Task) -> bool:
        return self._profiles.recipe(session.profile, task) is not None

    def look(self, session: Session, task: Task, folder: str) -> WatchdogStep | None:
        """Take in what has come; return the step that ends the session, if one is needed."""
        now = self._clock()
        reading = self._reading(session, task, folder)
        reading.advance(now)
        stream = reading.stream
        self._record(session, stream, now)
        self._question(session, stream, caught_up=not reading.more)
        if reading.unread:
            text = f"{session.profile} prints lines that are not understood: see its output"
            self._log.alert("unread", session.id, text)
        over = self._over(session, task, stream, now)
        seen = Seen(
            now=now,
            fact_at=max(reading.fact_at, session.started_at, session.waited_at),
            begun=reading.begun,
            limited_at=reading.limited_at,
            asked_at=reading.asked_at,
            finished_at=reading.finished_at,
            over=over,
            waits=bool(session.waits),
        )
        bounds = self._profiles.bounds(session.profile)
        return watchdog.step(stream, seen, bounds) or self._loop(session, stream)

    def last_word(self, session: Session, task: Task, folder: str) -> LastWord | None:
        """Take in all that an engine said until its end, record it, and return its last word.

        None: it is a command of the user's that said nothing about its end.
        """
        now = self._clock()
        stream = self._reading(session, task, folder).finish(now)
        self._engage(session, stream)
        self._spend(session, stream)
        self._note(session, stream)
        end = stream.finished
        if end is not None and end.trouble in PASSING:
            trouble, said = str(end.trouble), end.text
            self._log.record(
                lambda state, at: session_rules.limited(
                    state,
                    session.id,
                    trouble,
                    _line(said),
                    reset_at=end.reset_at,
                    retry_s=end.retry_s,
                    now=at,
                    final=True,
                )
            )
        if end is None and self._profiles.ends_by_code(session.profile):
            return None
        return LastWord(
            said=end is not None,
            trouble=end.trouble if end else None,
            text=_line(end.text) if end else "",
            asked=_line(stream.asked.text) if stream.asked else "",
            denied=stream.denied,
            wrong_model=watchdog.wrong_model(
                stream.model or session.model,
                self._config.budget.require_model,
                spent=stream.bill != Bill(),
            ),
        )

    def summary(self, session: Session, task: Task, folder: str) -> Stream:
        """Return what one launch of a session, which is over, was about."""
        return self._reading(session, task, folder).finish(self._clock())

    def stream(self, session: SessionId) -> Stream | None:
        """Return what is known of a session's newest launch by now."""
        reading = self._readings.get(session)
        return reading.stream if reading else None

    def asks(self, session: SessionId) -> bool:
        """Say whether a program waits for an answer to a question of its own."""
        stream = self.stream(session)
        return stream is not None and stream.asked is not None

    def ready(self, session: SessionId) -> bool:
        """Say whether a program is between two turns and waits to be told something."""
        stream = self.stream(session)
        return stream is not None and stream.ready

    def due_at(self, session: Session) -> int:
        """Return when to look at a session again although nothing is heard of it."""
        reading = self._readings.get(session.id)
        now = self._clock()
        if reading is None or reading.more:
            return now
        seen = Seen(
            now=now,
            fact_at=max(reading.fact_at, session.started_at, session.waited_at),
            begun=reading.begun,
            limited_at=reading.limited_at,
            asked_at=reading.asked_at,
            finished_at=reading.finished_at,
            waits=bool(session.waits),
        )
        return watchdog.due_at(reading.stream, seen, self._profiles.bounds(session.profile))

    def forget(self, session: SessionId) -> None:
        reading = self._readings.pop(session, None)
        if reading is not None:
            reading.close()
        for known in (self._loops, self._noted, self._recorded, self._checked):
            known.pop(session, None)

    def _reading(self, session: Session, task: Task, folder: str) -> Reading:
        known = self._readings.get(session.id)
        if known is None or known.folder != folder:
            if known is not None:
                known.close()
                self._noted[session.id] = (0, 0)
            self._loops.pop(session.id, None)
            tree = self._trees.find(session.id)
            prompt = Room(self._folder, session.id).prompt(session.launches)
            job = self._profiles.job(session, task, tree.path if tree else "", prompt)
            reader = self._profiles.reader(session.profile, job)
            profile = self._profiles.profile(session.profile)
            stream = Stream(prices=self._config.budget.prices, size=profile.context)
            known = Reading(folder, reader, stream, self._clock())
            self._readings[session.id] = known
        return known

    def _over(self, session: Session, task: Task, stream: Stream, now: int) -> str:
        """Say which budget is used up; asked when something was spent, and now and then."""
        bill, at = self._checked.get(session.id, (None, 0))
        fresh = bill == stream.bill and now - at < _CHECK_MS
        if fresh or not self._budgets.any(session.profile):
            return ""
        self._checked[session.id] = (stream.bill, now)
        state = self._log.look()
        sums = Sums(state, now, self.bills(state))
        found = money.over(sums, task, session.profile, self._budgets)
        if found is None:
            return ""
        self._settle(state)
        return found.text

    def _settle(self, state: State) -> None:
        """Record what all have spent: nothing may start on money that is gone."""
        for name, reading in list(self._readings.items()):
            session = state.sessions.get(name)
            if session is not None and session.live:
                self._spend(session, reading.stream)

    def bills(self, state: State) -> dict[SessionId, Bill]:
        """Return what the sessions that run have spent, recorded or not."""
        found = {}
        for name, reading in list(self._readings.items()):
            session = state.sessions.get(name)
            if session is not None and session.live:
                found[name] = session.bill_before + reading.stream.bill
        return found

    def _record(self, session: Session, stream: Stream, now: int) -> None:
        # In this order: by the conversation the next witness knows that the limits were told.
        self._note(session, stream)
        self._engage(session, stream)
        since = now - self._recorded.get(session.id, session.started_at)
        # That a limit is over is news for the account: others count on whoever is fine.
        recovered = session.limited and stream.limited is None and stream.finished is None
        if since >= (_RECOVERED_MS if recovered else _RECORD_MS):
            self._recorded[session.id] = now
            self._spend(session, stream)
        recipe = self._profiles.recipe(session.profile)
        tells = recipe is not None and recipe.cost  # perhaps only at its end
        if stream.bill.unpriced and not tells and self._budgets.any(session.profile):
            self._log.alert(
                "unpriced",
                session.id,
                f"nobody knows what {stream.model or 'its model'} costs, so no budget can stop it:"
                " set budget.prices",
            )

    def _engage(self, session: Session, stream: Stream) -> None:
        new = (stream.thread or session.thread, stream.model or session.model)
        if new != (session.thread, session.model):
            self._log.record(
                lambda state, _: session_rules.engaged(
                    state, session.id, stream.thread, stream.model, stream.version
                )
            )

    def _spend(self, session: Session, stream: Stream) -> None:
        bill = session.bill_before + stream.bill
        turns = session.turns_before + stream.turns
        if (bill, turns) != (session.bill, session.turns):
            model = stream.model or session.model
            self._log.record(
                lambda state, _: session_rules.spent(state, session.id, bill, turns, model)
            )

    def _note(self, session: Session, stream: Stream) -> None:
        """Record limits that were met, and that the conversation was shortened."""
        told = (0, 0)
        if session.id not in self._noted and (session.thread or session.model):
            # By the witness before this one; a limit only if it lived long enough.
            told = (stream.limits if session.limited else 0, stream.compacted)
        limits, compactions = self._noted.get(session.id, told)
        self._noted[session.id] = (stream.limits, stream.compacted)
        limit = stream.last_limit
        if stream.limits > limits and limit is not None and limit.trouble in PASSING:
            self._log.record(
                lambda state, at: session_rules.limited(
                    state,
                    session.id,
                    str(limit.trouble),
                    _line(limit.text),
                    reset_at=limit.reset_at,
                    retry_s=limit.retry_s,
                    now=at,
                )
            )
        if compactions < stream.compacted <= _COMPACTIONS:
            self._react(session, "window", "compacted", "the engine shortened its conversation")

    def _question(self, session: Session, stream: Stream, *, caught_up: bool) -> None:
        """Answer a question by policy, or tell a person once and wait."""
        if stream.asked is None:
            if session.asked and caught_up:
                self._log.record(lambda state, _: session_rules.answered(state, session.id))
                self._log.over("asked", session.id)
            return
        asked, options = _line(stream.asked.text), tuple(map(_line, stream.asked.options))
        call = stream.asked.call
        if (session.asked, session.asked_call) == (asked, call):
            return
        answer = self._profiles.profile(session.profile).answers
        # Without a runner it is told at its end: it goes on with the answer in its prompt.
        listens = inbox.reader_of(Room(self._folder, session.id).path)
        told = answer if listens else ""
        self._log.record(
            lambda state, at: session_rules.asked(
                state, session.id, asked, options, call=call, answer=told, now=at
            )
        )
        if not answer:
            self._log.alert("asked", session.id, f"it asks: {asked}")

    def _loop(self, session: Session, stream: Stream) -> WatchdogStep | None:
        bounds = self._profiles.bounds(session.profile)
        if not watchdog.suspicious(stream, bounds):
            self._loops.pop(session.id, None)
            return None
        found = watchdog.watch_loop(
            self._loops.get(session.id, Loop()),
            stream.repeats,
            self._fingerprint(session.id),
            bounds,
        )
        self._loops[session.id] = found.loop
        if not (found.alarm or found.stop):
            return None
        last = stream.calls[-1]
        text = _line(f"{last.tool} {last.what}: {stream.repeats} times in a row, nothing changed")
        if found.stop:
            return WatchdogStep(Verdict.LOOPING, text)
        self._log.alert("looping", session.id, text)
        self._react(session, "looping", "alerted", text)
        return None

    def _fingerprint(self, session: SessionId) -> str:
        """Return something that changes whenever the tree does."""
        tree = self._trees.find(session)
        if tree is None:
            return "-"
        facts = self._trees.facts(tree)
        parts = [str(facts.branch_commit)]
        for path in facts.dirty:
            try:
                status = os.lstat(join(tree.path, path))
                parts.append(f"{path} {status.st_mtime_ns} {status.st_size}")
            except OSError:
                parts.append(path)
        return "\n".join(parts)

    def _react(self, session: Session, cause: str, action: str, text: str) -> None:
        self._log.record(
            lambda state, _: session_rules.react(state, session.id, cause, action, _line(text))
        )


def _line(text: str) -> str:
    """Make what an engine said fit for the log: one line, bounded, nothing a terminal obeys."""
    flat = " ".join(text.split())
    return "".join(c if c.isprintable() else "?" for c in flat)[:_SAID]
