"""One conversation partner: its faults and limits, and what was asked of it.

Runs that must not see each other use scenarios of their own: the base URL names them.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec
from msgspec import Struct, field

from tests.standin.faults import Fault, next_fault
from tests.standin.talk import Request, Usage

_BODIES = 40  # kept for each scenario, so that long runs do not fill the memory


class Record(Struct):
    """A request as it came, without its credentials."""

    number: int
    at: float
    method: str
    path: str
    headers: dict[str, str]
    protocol: str = ""
    model: str = ""
    stream: bool = False
    work: bool = False
    tools: tuple[str, ...] = ()
    at_once: int = 1
    admitted: bool = False  # it was among those that `max_concurrent` allows
    stage: int = 0  # of `Scenario.fail_in_stages`
    fault: str = ""
    status: int = 0
    seconds: float = 0.0  # until it was answered
    usage: Usage = Usage()
    body: Any = None


class Limits(Struct):
    max_concurrent: int = 0  # more at once are answered with 429; 0: any number
    retry_after: float | None = None  # said with that 429
    closed_until: float = 0.0  # the quota is used up until then, which is said with the 429
    delay: float = 0.0  # before each answer
    key: str = ""  # the only one that may read the list of models; empty: any


class Settings(Struct, forbid_unknown_fields=True):
    """What can be said over HTTP about a scenario; what is left out stays as it is."""

    faults: list[Fault] | None = None
    max_concurrent: int | None = None
    retry_after: float | None = None
    closed_until: float | None = None
    delay: float | None = None


class Seen(Struct):
    """What a scenario was asked so far."""

    requests: list[Record]
    usage: Usage
    most_at_once: int
    statuses: dict[str, int]


class Scenario:
    def __init__(self, name: str) -> None:
        self.name = name
        self.limits = Limits()
        self._faults: list[Fault] = []
        self._stage: Callable[[], int] | None = None
        self._stages: list[Fault | None] = []
        self._records: list[Record] = []
        self._at_once = 0
        self._admitted = 0
        self._lock = threading.Lock()

    def fail(self, *faults: Fault) -> None:
        """Replace the faults; those of the past are forgotten."""
        with self._lock:
            self._faults = list(faults)

    def fail_in_stages(self, stage: Callable[[], int], faults: Sequence[Fault | None]) -> None:
        """Have a fault for each stage; which one it is (1, 2, …) is asked at every request."""
        with self._lock:
            self._stage, self._stages = stage, list(faults)

    def settle(self, settings: Settings) -> None:
        if settings.faults is not None:
            self.fail(*settings.faults)
        for name in ("max_concurrent", "retry_after", "closed_until", "delay"):
            if (value := getattr(settings, name)) is not None:
                setattr(self.limits, name, value)

    def seen(self, *, bodies: bool = False) -> Seen:
        with self._lock:
            records = [msgspec.structs.replace(record) for record in self._records]
        statuses: dict[str, int] = {}
        for record in records:
            statuses[str(record.status)] = statuses.get(str(record.status), 0) + 1
            if not bodies:
                record.body = None
        return Seen(
            records,
            sum((record.usage for record in records), Usage()),
            max((record.at_once for record in records), default=0),
            statuses,
        )

    @contextmanager
    def request(self, method: str, path: str, headers: dict[str, str]) -> Iterator[Record]:
        """Note a request for as long as it is being answered."""
        with self._lock:
            self._at_once += 1
            record = Record(
                number=len(self._records) + 1,
                at=time.time(),
                method=method,
                path=path,
                headers=headers,
                at_once=self._at_once,
            )
            self._records.append(record)
        try:
            yield record
        finally:
            with self._lock:
                record.seconds = time.time() - record.at
                self._at_once -= 1
                self._admitted -= record.admitted

    def judge(self, record: Record, request: Request, body: Any) -> Fault | None:
        """Fill in the record, and return the fault that hits this request."""
        record.protocol = request.protocol
        record.model = request.model
        record.stream = request.stream
        record.work = request.is_work
        record.tools = tuple(tool.name for tool in request.tools)
        record.stage = self._stage() if self._stage else 0
        with self._lock:
            if record.number <= _BODIES:
                record.body = body
            if self.limits.closed_until > time.time():
                return Fault("quota", reset_at=int(self.limits.closed_until))
            # A refused request takes no slot, however many arrive at the same moment.
            if 0 < self.limits.max_concurrent <= self._admitted:
                return Fault("429", retry_after=self.limits.retry_after)
            record.admitted = True
            self._admitted += 1
            if record.stage:
                staged = self._stages[record.stage - 1 : record.stage]
                return next_fault((fault for fault in staged if fault), request.is_work)
            return next_fault(self._faults, request.is_work)


class Scenarios(Struct):
    _all: dict[str, Scenario] = field(default_factory=dict)
    _lock: Any = field(default_factory=threading.Lock)

    def named(self, name: str) -> Scenario:
        with self._lock:
            return self._all.setdefault(name, Scenario(name))
