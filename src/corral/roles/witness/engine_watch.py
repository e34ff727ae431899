"""Watch running engines: read the facts they print, record some, and let the watchdog step in.

Everything remembered here can be read again from the output by the next witness. The log gets few
events, each of bounded size: the conversation once, spending at intervals and exactly at the end,
new limits, questions, and every reaction.
"""

import os
from collections.abc import Iterator
from os.path import join

from msgspec import Struct
from msgspec.structs import replace

from corral.core.config import Config
from corral.core.engine import money, watchdog
from corral.core.engine.bill import Bill
from corral.core.engine.facts import PASSING, Finished, Limited
from corral.core.engine.money import Budgets, Sums
from corral.core.engine.stream import Stream
from corral.core.engine.watchdog import Loop, Seen
from corral.core.ids import SessionId
from corral.core.log.state import Session, State, Task
from corral.core.session import rules as session_rules
from corral.core.session.pulse import Stop
from corral.core.session.verdict import LastWord
from corral.roles.log import Log
from corral.roles.records.facts import Reading
from corral.roles.records.rooms import Room
from corral.roles.witness.engine_profile import EngineProfiles
from corral.world.clock import Clock
from corral.world.engines.runners import inbox
from corral.world.trees import Trees

_RECORD_MS = 60_000  # between two records of spending
_RECOVERED_MS = 5_000  # the same, for a session that continues after a limit
_CHECK_MS = 5_000  # between two budget checks, if the session itself has spent nothing
_COMPACTIONS = 5  # at most this many are recorded
_SAID = 900


class EngineWatch(Struct, frozen=True):
    log: Log
    config: Config
    profiles: EngineProfiles
    trees: Trees
    clock: Clock
    folder: str
    budgets: Budgets
    readings: dict[SessionId, Reading] = {}
    loops: dict[SessionId, Loop] = {}
    noted: dict[SessionId, tuple[int, int]] = {}  # limits and compactions recorded so far
    recorded: dict[SessionId, int] = {}
    checked: dict[SessionId, tuple[Bill | None, int]] = {}

    def follows(self, session: Session, task: Task) -> bool:
        return self.profiles.recipe(session.profile, task) is not None

    def look(self, session: Session, task: Task, folder: str) -> Stop | None:
        """Read new output; return why the session must stop, if it must."""
        now = self.clock()
        reading = self._reading(session, task, folder)
        reading.advance(now)
        stream = reading.stream
        self._record(session, stream, now)
        self._question(session, stream, caught_up=not reading.more)
        if reading.unread:
            text = f"{session.profile} prints lines that Corral cannot parse: see its output"
            self.log.alert("unread", session.id, text)
        seen = _seen(session, reading, now, self._over(session, task, stream, now))
        bounds = self.profiles.bounds(session.profile)
        return watchdog.step(stream, seen, bounds) or self._loop(session, stream)

    def last_word(self, session: Session, task: Task, folder: str) -> LastWord | None:
        """Read the rest of an engine's output, record it, and return the engine's last word.

        None means a user's own command that reported nothing about its end.
        """
        now = self.clock()
        stream = self._reading(session, task, folder).finish(now)
        self._engage(session, stream)
        self._spend(session, stream)
        self._note(session, stream)
        end = stream.finished
        if end is not None:
            self._limited(session, end, final=True)
        if end is None and self.profiles.ends_by_code(session.profile):
            return None
        return LastWord(
            said=end is not None,
            trouble=end.trouble if end else None,
            text=_line(end.text) if end else "",
            asked=_line(stream.asked.text) if stream.asked else "",
            denied=stream.denied,
            wrong_model=watchdog.wrong_model(
                stream.model or session.model,
                self.config.budget.require_model,
                spent=stream.bill != Bill(),
            ),
        )

    def summary(self, session: Session, task: Task, folder: str) -> Stream:
        """Return a summary of one launch of a session that has ended."""
        return self._reading(session, task, folder).finish(self.clock())

    def stream(self, session: SessionId) -> Stream | None:
        """Return what is known so far about a session's newest launch."""
        reading = self.readings.get(session)
        return reading.stream if reading else None

    def ready(self, session: SessionId) -> bool:
        """Say whether a program is between two turns and waits for input."""
        stream = self.stream(session)
        return stream is not None and stream.ready

    def due_at(self, session: Session) -> int:
        """Return when to look at a session again even if it prints nothing."""
        reading = self.readings.get(session.id)
        now = self.clock()
        if reading is None or reading.more:
            return now
        seen = _seen(session, reading, now)
        return watchdog.due_at(reading.stream, seen, self.profiles.bounds(session.profile))

    def forget(self, session: SessionId) -> None:
        reading = self.readings.pop(session, None)
        if reading is not None:
            reading.close()
        for known in (self.loops, self.noted, self.recorded, self.checked):
            known.pop(session, None)

    def _reading(self, session: Session, task: Task, folder: str) -> Reading:
        known = self.readings.get(session.id)
        if known is not None and known.folder == folder:
            return known
        if known is not None:
            known.close()
            self.noted[session.id] = (0, 0)
        self.loops.pop(session.id, None)
        tree = self.trees.find(session.id)
        prompt = Room(self.folder, session.id).prompt(session.launches)
        job = self.profiles.job(session, task, tree.path if tree else "", prompt)
        reading = self.profiles.reading(session.profile, job, folder, self.clock())
        self.readings[session.id] = reading
        return reading

    def _over(self, session: Session, task: Task, stream: Stream, now: int) -> str:
        """Name the budget that is used up; checked after spending and every few seconds."""
        bill, at = self.checked.get(session.id, (None, 0))
        fresh = bill == stream.bill and now - at < _CHECK_MS
        if fresh or not self.budgets.any(session.profile):
            return ""
        self.checked[session.id] = (stream.bill, now)
        state = self.log.look()
        sums = Sums(state, now, self.bills(state))
        found = money.over(sums, task, session.profile, self.budgets)
        if found is None:
            return ""
        # Record the spending of all sessions, so that none starts on money that is gone.
        for other, its in self._running(state):
            self._spend(other, its)
        return found.text

    def bills(self, state: State) -> dict[SessionId, Bill]:
        """Return what the running sessions have spent, recorded or not."""
        running = self._running(state)
        return {session.id: session.bill_before + stream.bill for session, stream in running}

    def _running(self, state: State) -> Iterator[tuple[Session, Stream]]:
        for name, reading in list(self.readings.items()):
            session = state.sessions.get(name)
            if session is not None and session.live:
                yield session, reading.stream

    def _record(self, session: Session, stream: Stream, now: int) -> None:
        # In this order: a recorded conversation tells the next witness that limits were recorded.
        self._note(session, stream)
        self._engage(session, stream)
        since = now - self.recorded.get(session.id, session.started_at)
        # Other sessions of the account need to know that a limit is over.
        recovered = session.limited and stream.limited is None and stream.finished is None
        if since >= (_RECOVERED_MS if recovered else _RECORD_MS):
            self.recorded[session.id] = now
            self._spend(session, stream)
        recipe = self.profiles.recipe(session.profile)
        tells = recipe is not None and recipe.cost  # possibly only at its end
        if stream.bill.unpriced and not tells and self.budgets.any(session.profile):
            self.log.alert(
                "unpriced",
                session.id,
                f"the price of {stream.model or 'its model'} is not known, so no budget can stop"
                " it: set budget.prices",
            )

    def _engage(self, session: Session, stream: Stream) -> None:
        new = (stream.thread or session.thread, stream.model or session.model)
        if new != (session.thread, session.model):
            self.log.note(
                session_rules.engaged, session.id, stream.thread, stream.model, stream.version
            )

    def _spend(self, session: Session, stream: Stream) -> None:
        bill = session.bill_before + stream.bill
        turns = session.turns_before + stream.turns
        if (bill, turns) != (session.bill, session.turns):
            model = stream.model or session.model
            self.log.note(session_rules.spent, session.id, bill, turns, model)

    def _note(self, session: Session, stream: Stream) -> None:
        """Record limits that were met, and that the conversation was shortened."""
        told = (0, 0)
        if session.id not in self.noted and (session.thread or session.model):
            # The witness before this one did so; for a limit, only if it lived long enough.
            told = (stream.limits if session.limited else 0, stream.compacted)
        limits, compactions = self.noted.get(session.id, told)
        self.noted[session.id] = (stream.limits, stream.compacted)
        limit = stream.last_limit
        if stream.limits > limits and limit is not None:
            self._limited(session, limit)
        if compactions < stream.compacted <= _COMPACTIONS:
            self._react(session, "window", "compacted", "the engine shortened its conversation")

    def _limited(self, session: Session, limit: Limited | Finished, *, final: bool = False) -> None:
        if limit.trouble in PASSING:
            self.log.record(
                lambda state, at: session_rules.limited(
                    state,
                    session.id,
                    str(limit.trouble),
                    _line(limit.text),
                    reset_at=limit.reset_at,
                    retry_s=limit.retry_s,
                    now=at,
                    final=final,
                )
            )

    def _question(self, session: Session, stream: Stream, *, caught_up: bool) -> None:
        """Answer a question by policy, or tell a person once and wait."""
        if stream.asked is None:
            if session.asked and caught_up:
                self.log.note(session_rules.answered, session.id)
                self.log.over("asked", session.id)
            return
        asked, options = _line(stream.asked.text), tuple(map(_line, stream.asked.options))
        call = stream.asked.call
        if (session.asked, session.asked_call) == (asked, call):
            return
        answer = self.profiles.profile(session.profile).answers
        # A program without a runner gets the answer in the prompt of its next launch.
        listens = inbox.reader_of(Room(self.folder, session.id).path)
        told = answer if listens else ""
        self.log.record(
            lambda state, at: session_rules.asked(
                state, session.id, asked, options, call=call, answer=told, now=at
            )
        )
        if not answer:
            self.log.alert("asked", session.id, f"it asks: {asked}")

    def _loop(self, session: Session, stream: Stream) -> Stop | None:
        bounds = self.profiles.bounds(session.profile)
        if not watchdog.suspicious(stream, bounds):
            self.loops.pop(session.id, None)
            return None
        known, files = self.loops.get(session.id, Loop()), self._fingerprint(session.id)
        found = watchdog.watch_loop(known, stream.repeats, files, bounds)
        self.loops[session.id] = found.loop
        if not (found.alarm or found.stop):
            return None
        stop = watchdog.looping(stream)
        stop = replace(stop, text=_line(stop.text))
        if found.stop:
            return stop
        self.log.alert("looping", session.id, stop.text)
        self._react(session, "looping", "alerted", stop.text)
        return None

    def _fingerprint(self, session: SessionId) -> str:
        """Return a text that changes whenever the tree does."""
        tree = self.trees.find(session)
        if tree is None:
            return "-"
        facts = self.trees.facts(tree)
        parts = [str(facts.branch_commit)]
        for path in facts.dirty:
            try:
                status = os.lstat(join(tree.path, path))
                parts.append(f"{path} {status.st_mtime_ns} {status.st_size}")
            except OSError:
                parts.append(path)
        return "\n".join(parts)

    def _react(self, session: Session, cause: str, action: str, text: str) -> None:
        self.log.note(session_rules.react, session.id, cause, action, _line(text))


def _seen(session: Session, reading: Reading, now: int, over: str = "") -> Seen:
    return Seen(
        now=now,
        fact_at=max(reading.fact_at, session.started_at, session.waited_at),
        begun=reading.begun,
        limited_at=reading.limited_at,
        asked_at=reading.asked_at,
        finished_at=reading.finished_at,
        over=over,
        waits=bool(session.waits),
    )


def _line(text: str) -> str:
    """Make an engine's words safe to log: one line, bounded, no terminal control characters."""
    flat = " ".join(text.split())
    return "".join(c if c.isprintable() else "?" for c in flat)[:_SAID]
