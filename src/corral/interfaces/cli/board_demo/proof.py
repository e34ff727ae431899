"""Whether Corral kept its word, judged from the log alone.

The replay here is the demo's own and uses neither the rules nor the fold that it judges.
"""

import os
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from corral.core.errors import CorralError
from corral.core.ids import TaskId, Token
from corral.core.log import events as e
from corral.core.log.codec import Record, decode, event_of
from corral.interfaces.cli.board_demo.board import ACTOR, Plan, corral, git
from corral.interfaces.cli.board_demo.claimer import REFUSED
from corral.interfaces.cli.board_demo.crew import Crew
from corral.interfaces.cli.context import Context
from corral.store.mirror import REF

ONCE = "every task landed exactly once"
ALONE = "no task ever had two live claims"
FENCED = "every submit showed the token of the claim then current"
LATE = "the late submit of the stopped claimer was refused"
ORDER = "nothing started before all that it needs had landed"
NO_TRACE = "what was refused left no trace in the log"
CHAIN = "the log's chain of hashes verifies"
REBUILT = "derived files deleted, corral rebuild: status --json is the same to the byte"
CLONED = "fresh clone, fetched refs/corral/log, rebuild --from-mirror: the same again"
NOBODY_LEFT = "no process was left behind"


class Check(Struct, frozen=True):
    name: str
    fault: str = ""

    @property
    def ok(self) -> bool:
        return not self.fault


class _Claim(Struct):
    token: Token
    expires_at: int


class Replay:
    """Walks through the log and writes down what should not be there."""

    def __init__(self, plan: Plan) -> None:
        self.faults: dict[str, list[str]] = defaultdict(list)
        self._plan = plan
        self._needs: dict[TaskId, tuple[TaskId, ...]] = {}
        self._live: dict[TaskId, _Claim] = {}
        self._landed: Counter[TaskId] = Counter()
        self._late = ""  # the claimer that was stopped, once its claim has lapsed
        self._late_refused = False

    def walk(self, records: Iterable[Record]) -> None:
        for record in records:
            self._step(record)
        for task in self._plan.tasks:
            if self._landed[task] != 1:
                self.faults[ONCE].append(f"{task} landed {self._landed[task]} times")
        if self._plan.stopped and not self._late_refused:
            self.faults[LATE].append("the log does not tell of it")

    def _step(self, record: Record) -> None:
        match event_of(record):
            case e.TaskAdded(task=task, needs=needs):
                self._needs[task] = needs
            case e.TaskClaimed() as event:
                self._claimed(event)
            case e.TaskRenewed(task=task, token=token, expires_at=expires_at):
                if self._shown(record, task, token):
                    self._live[task].expires_at = expires_at
            case e.TaskLapsed() as event:
                self._lapsed(record, event)
            case e.TaskSubmitted(task=task, token=token):
                self._shown(record, task, token)
                self._live.pop(task, None)
            case e.TaskHandedOff(task=task):
                self._live.pop(task, None)
            case e.TaskLanded(task=task):
                self._landed[task] += 1
            case e.TaskCommented(task=task, text=text):
                if record.actor == self._late and task == self._plan.stopped:
                    self._late_refused |= text.startswith(REFUSED)
            case e.TaskEdited(task=task):
                self.faults[NO_TRACE].append(f"event {record.seq} edits {task}")

    def _claimed(self, event: e.TaskClaimed) -> None:
        if event.task in self._live:
            self.faults[ALONE].append(f"{event.task} was given to {event.holder} as well")
        for need in self._needs[event.task]:
            if not self._landed[need]:
                self.faults[ORDER].append(f"{event.task} started before {need} had landed")
        self._live[event.task] = _Claim(event.token, event.expires_at)

    def _lapsed(self, record: Record, event: e.TaskLapsed) -> None:
        claim = self._live.pop(event.task, None)
        if claim is None or record.at < claim.expires_at:
            self.faults[ALONE].append(f"{event.task} was taken from {event.holder} too early")
        if event.task == self._plan.stopped and not self._late:
            self._late = event.holder

    def _shown(self, record: Record, task: TaskId, token: Token) -> bool:
        claim = self._live.get(task)
        if claim is not None and claim.token == token:
            return True
        self.faults[FENCED].append(
            f"event {record.seq} shows a token of {task} that is not current"
        )
        return False


def prove(repo: str, plan: Plan, crew: Crew) -> Iterator[Check]:
    """Yield what was promised, one by one, and whether it held."""
    yield from _replayed(repo, plan)
    yield _tried(CHAIN, lambda: _verified(repo))
    yield _tried(REBUILT, lambda: _rebuilt(repo))
    yield _tried(CLONED, lambda: _cloned(repo))
    yield Check(NOBODY_LEFT, next(crew.faults(), ""))


def _replayed(repo: str, plan: Plan) -> Iterator[Check]:
    replay = Replay(plan)
    context = Context(repo, ACTOR, as_json=False)
    try:
        replay.walk(decode(stored.line) for stored in context.log.read())
        context.mirror.flush(wait=True)
    finally:
        context.close()
    for name in (ONCE, ALONE, FENCED, *([LATE] if plan.stopped else ()), ORDER, NO_TRACE):
        yield Check(name, next(iter(replay.faults[name]), ""))


def _tried(name: str, attempt: Callable[[], str]) -> Check:
    try:
        return Check(name, attempt())
    except CorralError as error:
        return Check(name, error.message)


def _verified(repo: str) -> str:
    corral("log", "verify", repo=repo)
    return ""


def _rebuilt(repo: str) -> str:
    before = corral("status", "--json", repo=repo)
    shutil.rmtree(f"{repo}/.git/corral/derived")
    corral("rebuild", repo=repo)
    return _difference(before, corral("status", "--json", repo=repo))


def _cloned(repo: str) -> str:
    folder = os.path.dirname(repo)
    clone = f"{folder}/clone"
    git("clone", "--quiet", repo, clone, cwd=folder)
    git("fetch", "--quiet", "origin", f"{REF}:{REF}", cwd=clone)
    corral("rebuild", "--from-mirror", repo=clone)
    there = corral("status", "--json", repo=clone)
    return _difference(corral("status", "--json", repo=repo), there)


def _difference(one: bytes, other: bytes) -> str:
    return "" if one == other else "corral status --json differs"
