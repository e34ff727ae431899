"""A chore of the deacon: send the traces of finished tasks to the configured collector.

Progress is recorded as an event, so sending continues from there after a restart. After a crash in
between, a trace is sent twice with the same ids, and collectors take it for the same trace.
"""

from collections.abc import Iterator
from itertools import islice
from os.path import basename
from time import monotonic

import msgspec
from msgspec import Struct

from corral.core.chores import ChoreOutcome
from corral.core.errors import Failed
from corral.core.ids import TaskId
from corral.core.log import events as e
from corral.core.log.codec import decode, event_of
from corral.core.show.trace import ENDS, Happened, traces
from corral.store.port import Store
from corral.store.service import record
from corral.world.repository import Repository

_AT_ONCE = 200  # tasks whose traces are sent together
_REST_S = 60.0  # delay before a collector that did not answer is tried again


class _TraceSubject(Struct):
    task: TaskId


class TraceSender:
    def __init__(self, store: Store, repository: Repository, endpoint: str, actor: str) -> None:
        self._store = store
        self._name = basename(repository.worktree)
        self._endpoint = endpoint
        self._actor = actor
        self._looked = 0  # every task that ended up to here has been sent
        self._resting_until = 0.0

    def send(self) -> ChoreOutcome:
        """Send the traces of all tasks that have ended since the last call."""
        if monotonic() < self._resting_until:
            raise Failed(f"{self._endpoint} did not accept the traces; Corral tries again soon")
        sent = 0
        while ended := self._ended():
            try:
                sent += self._send(ended)
            except Failed:
                self._resting_until = monotonic() + _REST_S
                raise
        return ChoreOutcome(sent, sent)

    def _ended(self) -> list[tuple[int, TaskId]]:
        """Return the next events that end a task, each with its task."""
        state = self._store.state()
        self._looked = max(self._looked, state.traced)
        found = []
        for stored in self._store.read(self._looked):
            record = decode(stored.line)
            if record.type in ENDS:
                subject = msgspec.json.decode(record.data, type=_TraceSubject)
                found.append((stored.seq, subject.task))
                if len(found) == _AT_ONCE:
                    break
            elif not found:
                self._looked = stored.seq
        return found

    def _send(self, ended: list[tuple[int, TaskId]]) -> int:
        from corral.world.telemetry import send

        state = self._store.state()
        first = min(state.tasks[task].order for _, task in ended)
        last = ended[-1][0]
        found = list(traces(self._happened(first, last), state.log, state.traced))
        if found:
            send(self._endpoint, found, self._name)
        event = e.TracesSent(upto=last, number=len(found))
        record(self._store, self._actor, lambda state, now: [event])
        return len(found)

    def _happened(self, first: int, last: int) -> Iterator[Happened]:
        for stored in islice(self._store.read(first - 1), last - first + 1):
            record = decode(stored.line)
            yield Happened(stored.seq, record.at, event_of(record))
