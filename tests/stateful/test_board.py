"""Random commands from several actors on a real log, compared with a simple model.

Actors share the log through stores of their own, as processes do. Commands are good and bad, their
tokens current, stale and made up; the clock moves; what is derived vanishes; stores are reopened.
"""

import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from corral.core.board import commands as c
from corral.core.board.commands import COMMANDS
from corral.core.errors import CorralError
from corral.core.ids import TaskId, Token
from corral.core.log.codec import Stored, decode, event_of
from corral.core.log.events import Event
from corral.core.log.state import State
from corral.store.replay import extend
from corral.store.service import perform
from corral.store.sqlite import SqliteStore
from tests.stateful.model import MOVES, Held, Model

START = 1_700_000_000_000
TTL_S = 10
ACTORS = ("ana", "bob", "eve")
MOST_TASKS = 5
RESOURCES = ("port:1", "service:db", "file:src/**", "file:src/a.py", "file:docs", "nonsense")
WORK = [
    "renew",
    "submit",
    "submit",
    "fail",
    "block",
    "hand-off",
    "unblock",
    "retry",
    "land",
    "cancel",
]
FENCED = sorted(name for name in COMMANDS if "token" in COMMANDS[name].__struct_fields__)
# What the model knows; plans, queue, messages and steering have tests of their own.
MODELLED = [
    name
    for name in sorted(COMMANDS)
    if name.startswith(("task ", "lease ", "alert r", "alert cl", "convoy c"))
]

Draw = Callable[[st.SearchStrategy[Any]], Any]


def encoded(state: State) -> bytes:
    return msgspec.msgpack.encode(state)


class Board(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="corral-board-"))
        self.now = START
        self.model = Model()
        self.acknowledged: list[Stored] = []
        self.stores = {actor: self.opened() for actor in ACTORS}

    def opened(self) -> SqliteStore:
        return SqliteStore(self.folder / "corral", lambda: self.now)

    @initialize()
    def begin(self) -> None:
        self.ask(c.CreateConvoy(title="Auth fix"), "ana")
        for title in ("one", "two"):
            self.ask(c.AddTask(title=title), "ana")

    @rule(data=st.data(), name=st.sampled_from(MODELLED), actor=st.sampled_from(ACTORS))
    def anything(self, data: st.DataObject, name: str, actor: str) -> None:
        """Good and bad commands alike."""
        if name in ("task add", "convoy create") and len(self.model.items) >= MOST_TASKS:
            return
        values: dict[str, Any] = {}
        for field in msgspec.structs.fields(COMMANDS[name]):
            value = self.value(data.draw, name, field.name, values)
            if value is not None:
                values[field.name] = value
        self.ask(COMMANDS[name](**values), actor)

    @rule(data=st.data(), actor=st.sampled_from(ACTORS))
    def claim(self, data: st.DataObject, actor: str) -> None:
        task = data.draw(st.none() | st.sampled_from(sorted(self.model.items)))
        self.ask(c.ClaimTask(task=TaskId(task) if task else None, ttl_s=TTL_S), actor)

    @rule(data=st.data(), drop=st.booleans(), actor=st.sampled_from(ACTORS))
    def plan(self, data: st.DataObject, drop: bool, actor: str) -> None:
        tasks = st.sampled_from(sorted(self.model.items)).map(TaskId)
        task = data.draw(tasks)
        known = self.model.items[task].needs
        if drop and known:
            self.ask(c.EditTask(task=task, drop_needs=(TaskId(known[0]),)), actor)
        else:
            self.ask(c.EditTask(task=task, needs=(data.draw(tasks),)), actor)

    @rule(data=st.data(), name=st.sampled_from(WORK), actor=st.sampled_from(ACTORS))
    def work(self, data: st.DataObject, name: str, actor: str) -> None:
        """A move that the state of its task allows, under its token or, forgetful, without."""
        command = COMMANDS[f"task {name}"]
        sources = MOVES[command][0].split()
        fitting = [task for task, item in self.model.items.items() if item.state in sources]
        if fitting:
            task = data.draw(st.sampled_from(fitting))
            held = self.model.items[task].held
            shown = "token" in command.__struct_fields__ and data.draw(st.sampled_from([1, 1, 0]))
            token = {"token": held.token} if held and shown else {}
            extra = {"to": data.draw(st.sampled_from(ACTORS))} if name == "hand-off" else {}
            self.ask(command(**{"task": task, **token, **extra}), actor)

    @rule(
        resource=st.sampled_from(RESOURCES[:-1]),
        end=st.booleans(),
        actor=st.sampled_from(ACTORS),
    )
    def lease(self, resource: str, end: bool, actor: str) -> None:
        lease = self.model.leases.get(resource)
        if lease and end:
            self.ask(c.ReleaseLease(resource=resource, token=Token(lease.token)), actor)
        else:
            self.ask(c.AcquireLease(resource=resource, ttl_s=TTL_S), actor)

    @rule(data=st.data(), actor=st.sampled_from(ACTORS))
    def late(self, data: st.DataObject, actor: str) -> None:
        """A write under a claim that may have ended long ago."""
        if self.model.granted and self.model.items:
            name = data.draw(st.sampled_from(FENCED))
            values = {"token": data.draw(st.sampled_from(self.model.granted))}
            for field in ("task", "resource", "text", "force"):
                if field in COMMANDS[name].__struct_fields__:
                    values[field] = self.value(data.draw, name, field, {})
            self.ask(COMMANDS[name](**values), actor)

    @rule(seconds=st.sampled_from([0.001, 1, TTL_S - 0.001, TTL_S]))
    def time_passes(self, seconds: float) -> None:
        self.now += int(seconds * 1000)

    @rule(actor=st.sampled_from(ACTORS), what=st.sampled_from(["reopen", "save", "lose"]))
    def disturb(self, actor: str, what: str) -> None:
        match what:
            case "reopen":
                self.stores[actor].close()
                self.stores[actor] = self.opened()
            case "save":
                self.stores[actor].save()
            case _:
                self.lose_what_is_derived()

    def lose_what_is_derived(self) -> None:
        shutil.rmtree(self.folder / "corral" / "derived", ignore_errors=True)

    def ask(self, command: c.Command, actor: str) -> None:
        """Give a command; what happens must be what the model says."""
        expected = self.model.verdict(command, actor, self.now)
        offer = self.model.next_for(actor, self.now)
        try:
            stored = perform(self.stores[actor], command, actor, lambda state, new: list(new))
        except CorralError as refusal:
            assert refusal.code == expected, (command, refusal.message)  # noqa: PT017 - or none
            return
        assert expected == "", (command, "should be refused")
        self.acknowledged += stored
        events = [event_of(decode(record.line)) for record in stored]
        if events:
            seq, made = stored[-1].seq, name_of(events)
            assert not (isinstance(command, c.RaiseAlert) and made in self.model.alerts)
            assert str(seq) not in self.model.granted
            if isinstance(command, c.ClaimTask):
                assert made == (command.task or offer)
            self.model.accept(command, actor, self.now, made, seq)

    def value(self, draw: Draw, command: str, field: str, before: dict[str, Any]) -> Any:
        """Draw a value for a field of a command: mostly good, sometimes bad."""
        tasks = st.sampled_from([*self.model.items] * 3 + ["XX-9"])
        match field:
            case "task":
                return draw(tasks)
            case "token":
                return draw(self.tokens(before))
            case "resource":
                return draw(st.sampled_from(RESOURCES))
            case "needs" | "drop_needs":
                return tuple(draw(st.lists(tasks, max_size=2)))
            case "ttl_s":
                return draw(st.sampled_from([TTL_S] * 5 + [0, -1, 10**9]))
            case "priority":
                return draw(st.sampled_from([0, 1, 2, -1]))
            case "title" | "text":
                return None if command == "task edit" else draw(st.sampled_from(["a", "b", " "]))
            case "to" | "assignee":
                return draw(st.sampled_from(["", *ACTORS]))
            case "convoy":
                return draw(st.sampled_from([*self.model.convoys, "", "nope"]))
            case "subject" | "kind":
                return draw(st.sampled_from(["x", "y"]))
            case "alert":
                return draw(st.sampled_from(["alert-0", *self.model.alerts]))
            case "force":
                return draw(st.booleans())
            case _:
                return None

    def tokens(self, before: dict[str, Any]) -> st.SearchStrategy[str]:
        """The current one of the thing, one of any other thing or time, a made-up one, none."""
        item = self.model.items.get(before.get("task", ""))
        current = item.held if item else self.model.leases.get(before.get("resource", ""))
        good = [current.token] * 6 if current else []
        return st.sampled_from([*good, *self.model.granted[-6:], "", "0", "99999"])

    @invariant()
    def every_acknowledged_event_is_there_as_it_was(self) -> None:
        for store in self.stores.values():
            assert list(store.read()) == self.acknowledged

    @invariant()
    def the_state_is_the_fold_of_what_was_acknowledged(self) -> None:
        replayed = encoded(extend(State(), self.acknowledged))
        for store in self.stores.values():
            assert encoded(store.state()) == replayed

    @invariant()
    def everything_is_held_by_whom_the_model_says(self) -> None:
        state = self.stores["ana"].state()
        assert list(state.tasks) == list(self.model.items)
        for task, item in zip(state.tasks.values(), self.model.items.values(), strict=True):
            assert (task.state, held(task.claim)) == (item.state, item.held)
            assert (task.priority, list(task.needs)) == (item.priority, item.needs)
            assert (task.assignee, len(task.comments)) == (item.assignee, item.comments)
        assert {name: held(lease) for name, lease in state.leases.items()} == self.model.leases
        assert {a.id: (a.kind, a.subject) for a in state.alerts.values()} == self.model.alerts

    def teardown(self) -> None:
        try:
            before = encoded(self.stores["ana"].state())
            self.lose_what_is_derived()
            fresh = self.opened()
            assert encoded(fresh.state()) == encoded(fresh.verify()) == before
            fresh.close()
        finally:
            for store in self.stores.values():
                store.close()
            shutil.rmtree(self.folder)


def held(claim: Any) -> Held | None:
    return Held(claim.holder, claim.token, claim.expires_at) if claim else None


def name_of(events: Sequence[Event]) -> str:
    """Return what the last event is about."""
    values = msgspec.to_builtins(events[-1])
    kind = next(kind for kind in ("task", "convoy", "resource", "alert") if kind in values)
    return str(values[kind])


TestBoard = Board.TestCase
TestBoard.settings = settings(max_examples=80, stateful_step_count=50, deadline=None)
