"""A verdict is about one tree and one definition of the checks, and is never used for another.

The real rules, the real fold and the real planner; a small refinery in memory carries out its plans
while the trunk is moved by hand, checks are edited, and runs end red or green at random.
"""

from hypothesis import given
from hypothesis import strategies as st

from corral.core.board import commands as c
from corral.core.ids import ConvoyId, TaskId
from corral.core.queue import events as q
from corral.core.queue import rules
from corral.core.queue.fold import trunk_of
from corral.core.queue.from_state import queue_of
from corral.core.queue.planner.model import POLICIES, Cancel, Land, Rerun, SendBack, Start
from corral.core.queue.planner.parts import Kind
from corral.core.queue.planner.plan import plan
from tests.core.memory_board import Board

STEPS = st.lists(
    st.sampled_from(
        ["submit", "plan", "plan", "red", "red", "green", "lost", "move", "edit", "wait"]
    ),
    min_size=10,
    max_size=60,
)
SLOTS = 3


class Refinery:
    def __init__(self) -> None:
        self.board = Board()
        self.convoy = ConvoyId(self.board.convoy())
        self.key = "checks 0"
        self.tips = 0
        self.move()
        self.blamed: list[tuple[str, str]] = []

    def move(self) -> None:
        self.tips += 1
        self.board.add(q.TrunkMoved(convoy=self.convoy, new=f"{self.tips:040x}"))

    def edit(self) -> None:
        self.key = f"checks {int(self.key.split()[1]) + 1}"

    def submit(self) -> None:
        task = self.board.task()
        token = self.board.claim(task)
        self.board.do(c.SubmitTask(task=task, token=token, commit=f"{len(task):040x}"))
        commit = self.board.state.tasks[task].commit
        work = rules.queue_change(
            self.board.state, task, commit, commit=commit, fork="0" * 40, paths=[f"{task}.txt"]
        )
        self.board.record(work)

    def live(self) -> list[str]:
        return [check.run for check in self.board.state.checks.values() if check.live]

    def end(self, result: str) -> None:
        for run in self.live()[:1]:
            detail = "" if result == rules.GREEN else "said why"
            self.board.record(rules.end_check(self.board.state, run, result, detail=detail))

    def plan(self) -> None:
        while self.planned():
            pass

    def planned(self) -> bool:
        """Carry out one plan; say whether to make another one at once."""
        state, board = self.board.state, self.board
        queue = queue_of(state, self.convoy, frozenset(), self.key)
        tip = trunk_of(state, self.convoy).tip
        actions = plan(queue, SLOTS - len(self.live()), board.now, POLICIES["lanes"])
        for action in actions:
            match action:
                case Start(members, kind) | Rerun(members, kind, _):
                    self.start(members, kind)
                case Land(run):
                    check = state.checks[run]
                    assert (check.tip, check.key, check.result) == (tip, self.key, rules.GREEN)
                    board.record(rules.begin_landing(state, run))
                    board.add(q.LandingEnded(run=run, convoy=self.convoy, landed=True))
                case Cancel(run, why):
                    board.record(rules.end_check(state, run, rules.CANCELLED, detail=why))
                case SendBack(task, why, run, _):
                    self.blame(TaskId(task), why, run)
        return any(isinstance(action, Land | SendBack) for action in actions)

    def start(self, members: tuple[str, ...], kind: Kind) -> None:
        state = self.board.state
        run, tip = rules.next_run(state), trunk_of(state, self.convoy).tip
        changes = [state.changes[TaskId(task)] for task in members]
        commit = f"{state.runs + 1:039x}c" if members else tip
        started = rules.start_check(
            state,
            run,
            self.convoy,
            changes,
            tip=tip,
            commits=[commit] * len(changes),
            commit=commit,
            tree=f"tree of {tip} and {members}",
            key=self.key,
            kind=kind,
            slot=next(n for n in range(1, 99) if n not in self.slots()),
            deadline_s=60,
        )
        self.board.record(started)

    def slots(self) -> set[int]:
        return {check.slot for check in self.board.state.checks.values() if check.live}

    def blame(self, task: TaskId, why: str, run: str) -> None:
        state = self.board.state
        check, tip = state.checks[run], trunk_of(state, self.convoy).tip
        assert (check.members, check.tip, check.key) == ((task,), tip, self.key)
        assert check.result == rules.RED
        good = (rules.GREEN, self.key)
        assert any(
            one.commit == tip and (one.result, one.key) == good for one in state.checks.values()
        )  # the trunk itself was green, so that the change is what broke it
        commit = state.changes[task].commit
        events = rules.send_back(state, task, commit, why, most=99, run=run)
        self.board.record(events)
        assert any(isinstance(event, q.ChangeReturned) for event in events)
        self.blamed.append((task, run))

    def settle(self, result: str) -> None:
        """Let everything end alike, until nothing is left to do."""
        for _ in range(200):
            self.board.wait(700)
            self.plan()
            if not self.live():
                return
            while self.live():
                base = not self.board.state.checks[self.live()[0]].members
                self.end(rules.GREEN if base else result)
        raise AssertionError("it does not come to an end")


@given(STEPS)
def test_no_verdict_is_used_for_another_trunk_or_other_checks(steps: list[str]) -> None:
    refinery = Refinery()
    refinery.submit()
    for step in steps:
        match step:
            case "red" | "green" | "lost":
                refinery.end(step)
            case "wait":
                refinery.board.wait(700)
            case _:
                getattr(refinery, step)()
    refinery.settle(rules.GREEN)
    assert not refinery.board.state.changes  # nothing is stuck on what is known no more


@given(STEPS)
def test_what_is_broken_is_always_found(steps: list[str]) -> None:
    refinery = Refinery()
    for step in steps:
        if step in ("submit", "plan", "move", "edit"):
            getattr(refinery, step)()
        elif step in ("red", "lost"):
            refinery.end(step)
    refinery.settle(rules.RED)
    assert not refinery.board.state.changes


def test_a_verdict_of_other_checks_on_another_trunk_is_not_cited() -> None:
    """The checks were mended and the trunk had moved: the change is checked, not sent back."""
    refinery = Refinery()
    refinery.submit()
    for _ in range(2):
        refinery.plan()
        refinery.end(rules.RED)
    refinery.edit()
    refinery.move()
    refinery.plan()
    assert not refinery.blamed
    (run,) = refinery.live()
    assert refinery.board.state.checks[run].key == refinery.key
    refinery.end(rules.GREEN)
    refinery.plan()
    assert not refinery.board.state.changes


def test_a_change_is_not_blamed_for_a_red_trunk() -> None:
    refinery = Refinery()
    for _ in range(3):
        refinery.submit()
    for _ in range(20):
        refinery.plan()
        refinery.end(rules.RED)
    assert not refinery.blamed
    assert not refinery.live()
    assert trunk_of(refinery.board.state, refinery.convoy).learned.base
    refinery.move()  # a person mended it
    refinery.settle(rules.GREEN)
    assert not refinery.board.state.changes


def ended_until_base(refinery: Refinery, base: str) -> None:
    """Let every change be red until the trunk itself has been checked, with this result."""
    for _ in range(20):
        refinery.plan()
        (run,) = refinery.live()[:1]
        members = refinery.board.state.checks[run].members
        refinery.end(rules.RED if members else base)
        if not members:
            return
    raise AssertionError("the trunk was never checked")


def test_a_green_trunk_proves_nothing_about_other_checks() -> None:
    refinery = Refinery()
    refinery.submit()
    ended_until_base(refinery, rules.GREEN)
    refinery.edit()
    ended_until_base(refinery, rules.GREEN)  # it is checked again before anything is blamed
    refinery.plan()
    assert refinery.blamed


def test_a_red_trunk_holds_up_nothing_once_the_checks_are_fixed() -> None:
    refinery = Refinery()
    refinery.submit()
    for _ in range(20):
        refinery.plan()
        refinery.end(rules.RED)
    assert not refinery.live()
    refinery.edit()
    refinery.plan()
    assert refinery.live()
