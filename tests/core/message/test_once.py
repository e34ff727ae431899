"""A message is delivered exactly once, whatever the interleaving and whichever process dies.

The rules of the core are driven by a small world: an inbox with files, programs that run in
launches, and conversations that remember what they were told. Every step is what a witness, a
runner or a program can do next; a kill is that the next step of somebody never comes.
"""

from collections import Counter
from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from corral.core.board import commands as c
from corral.core.engine.fold import RESUME
from corral.core.ids import SessionId, TaskId
from corral.core.log import events as e
from corral.core.log.state import Session
from corral.core.message import rules as messages
from corral.core.message.events import MessageDelivered
from corral.core.session import rules as session_rules
from tests.core.memory_board import Board, started

TASK = TaskId("AF-1")


class World:
    def __init__(self) -> None:
        self.board = Board()
        self.board.do(c.CreateConvoy(title="Auth fix"))
        self.board.do(c.AddTask(title="One", role="worker"))
        self.told: list[str] = []  # to any agent, in any way
        self.files: dict[str, str] = {}  # where each message of the inbox is: new, taken, done
        self.prompt: list[str] = []  # of the newest launch, while it was not read
        self.knows: set[str] = set()  # the conversation: what its record has
        self.runs, self.crashed = False, False
        self.sent = 0

    @property
    def session(self) -> Session | None:
        found = self.board.state.sessions.get(self.board.get(TASK).session)
        return found if found is not None and found.live else None

    def tell(self, message: str) -> None:
        self.told.append(message)
        self.knows.add(message)

    # Anybody

    def send(self) -> None:
        session = self.session
        to = ("AF-1", "role:worker", session.id if session else "AF-1")[self.sent % 3]
        self.board.do(c.SendMessage(to=to, text=f"text {self.sent}"))
        self.sent += 1

    # The agent, and its runner

    def read(self) -> None:
        if self.runs and self.session:
            for event in self.board.do(c.ReadMessages(), self.session.id):
                assert isinstance(event, MessageDelivered)
                self.tell(event.message)

    def hear_prompt(self) -> None:
        if self.runs and self.prompt:
            self.tell(self.prompt.pop(0))

    def runner_takes(self) -> None:
        if self.runs and (new := [m for m, place in self.files.items() if place == "new"]):
            self.files[new[0]] = "taken"

    def runner_tells(self) -> None:
        for message in [m for m, place in self.files.items() if place == "taken"]:
            if self.runs and message not in self.knows:
                self.tell(message)
                return

    def runner_is_done(self) -> None:
        for message in [m for m, place in self.files.items() if place == "taken"]:
            if self.runs and message in self.knows:
                self.files[message] = "done"

    def ends_well(self) -> None:
        taken = "taken" in self.files.values()
        if self.runs and not self.prompt and not taken:
            self.runs = False

    def is_killed(self) -> None:
        if self.runs:
            self.runs, self.crashed = False, True

    # The witness

    def takes(self) -> None:
        if self.runs and self.session:
            now = self.board.now
            self.board.record(messages.take(self.board.state, self.session.id, now))

    def puts(self) -> None:
        for message in messages.handed(self.board.state, self._name()):
            if self.runs and not message.launch:
                self.files.setdefault(message.id, "new")

    def proves(self) -> None:
        handed = messages.handed(self.board.state, self._name())
        proofs = {m.id: "record" for m in handed if m.launch and m.id in self.knows}
        proofs |= {m.id: "record" for m in handed if self.files.get(m.id) == "done"}
        self.board.record(messages.deliver(self.board.state, self._name(), proofs))

    def judges(self) -> None:
        session, state = self.session, self.board.state
        if session is None or self.runs or self.prompt is UNBORN:
            return
        self.proves()
        handed = messages.handed(state, session.id)
        missed = {m.id for m in handed if m.launch or self.files.get(m.id, "new") == "new"}
        now = self.board.now
        if self.crashed and not session.relaunched.count("crashed"):
            events = session_rules.relaunch(
                state, session.id, "crashed", RESUME, "", again=missed, now=now
            )
        elif self.crashed:
            events = []
        else:
            events = session_rules.go_on(state, session.id, again=missed, answer_s=0, now=now)
        if events:
            self.board.record(events)
            self.prompt = UNBORN
            return
        known = {m.id: "record" for m in messages.handed(state, session.id) if m.id in self.knows}
        self.board.record(messages.deliver(state, session.id, known))
        self.board.record(messages.give_back(state, session))
        self.board.add(e.SessionEnded(session=session.id, verdict="crashed"))
        self.board.add(e.TaskDelayed(task=TASK, reason="", until_at=now))
        self.files, self.knows, self.prompt = {}, set(), []

    def begins(self) -> None:
        if self.session is None:
            self.board.record(started(self.board.state, TASK, self.board.now))
            self.prompt = UNBORN
        session = self.session
        if session is not None and self.prompt is UNBORN:
            handed = messages.handed(self.board.state, session.id)
            given_ = [m.id for m in handed if m.launch == session.launches]
            for message in given_:
                if self.files.get(message) == "new":
                    del self.files[message]
            self.prompt, self.runs, self.crashed = given_, True, False

    def _name(self) -> SessionId:
        return self.session.id if self.session else SessionId("")


UNBORN: list[str] = ["not launched yet"]
STEPS: tuple[Callable[[World], None], ...] = (
    World.send,
    World.read,
    World.hear_prompt,
    World.runner_takes,
    World.runner_tells,
    World.runner_is_done,
    World.ends_well,
    World.is_killed,
    World.takes,
    World.puts,
    World.proves,
    World.judges,
    World.begins,
)
QUIET = tuple(step for step in STEPS if step not in (World.send, World.is_killed, World.read))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(STEPS), max_size=80))
def test_each_is_told_once_whatever_is_interleaved(steps: list[Callable[[World], None]]) -> None:
    world = World()
    for step in (World.begins, *steps):
        step(world)
        assert max(Counter(world.told).values(), default=0) <= 1
    # Once sending and killing stop, all messages arrive.
    for _ in range(4):
        for step in QUIET * 2:
            step(world)
    assert len(world.told) == world.sent
    assert not any(m for m in world.board.state.messages.values() if not m.read_at)
