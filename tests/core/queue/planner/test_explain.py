"""Every wait in the queue is explained by the run and the state that it depends on."""

import pytest
from msgspec.structs import replace

from corral.core.queue.planner.explain import why
from corral.core.queue.planner.learning import Learned
from corral.core.queue.planner.model import Queue
from corral.core.queue.planner.parts import Base, Failure, GreenProof, Kind, PlannedRun, QueueEntry


def entry(task: str, *needs: str) -> QueueEntry:
    return QueueEntry(task=task, commit="c", order=1, queued_at=0, needs=frozenset(needs))


QUEUE = Queue((entry("A"), entry("B"), entry("C")), tip="0123456789abcdef")
LANDING = PlannedRun("r7", ("A", "B"), QUEUE.tip, Kind.LAND, 0)
RED = Learned(failed=(Failure(("A", "C"), "r3"),))
BROKEN = Learned(base=Base(QUEUE.tip, False, 0, 1))


@pytest.mark.parametrize(
    ("queue", "task", "said"),
    [
        (QUEUE, "X", "X is not in the queue"),
        (QUEUE, "A", "A waits for a free check slot"),
        (
            replace(QUEUE, runs=(LANDING,)),
            "A",
            "A waits for run r7, which checks it on 0123456789; if green, it lands",
        ),
        (
            replace(QUEUE, runs=(LANDING,)),
            "B",
            "B waits for run r7, which checks it on 0123456789 with A; if green, it lands",
        ),
        (
            replace(QUEUE, runs=(LANDING,), learned=Learned(proofs={"C": GreenProof("r1", 0)})),
            "C",
            "C was green and waits for a slot, or for run r7 on 0123456789 with A and B",
        ),
        (
            replace(QUEUE, runs=(LANDING,), conflicts=frozenset({frozenset("AC")})),
            "C",
            "C conflicts with A, which is about to land, and waits for it",
        ),
        (
            replace(QUEUE, runs=(replace(LANDING, green=True),)),
            "B",
            "B was green in run r7 and lands next",
        ),
        (
            replace(QUEUE, runs=(replace(LANDING, kind=Kind.PROBE),)),
            "B",
            "B waits for run r7, which tries it on 0123456789 with A before it joins a landing",
        ),
        (
            replace(QUEUE, runs=(replace(LANDING, kind=Kind.HUNT),)),
            "A",
            "A is a suspect: run r7 repeats the failed check on 0123456789",
        ),
        (
            replace(QUEUE, learned=RED),
            "C",
            "C was red in run r3 together with A: smaller parts are checked to find the cause",
        ),
        (
            replace(QUEUE, learned=Learned(reds={"A": ("r5",)})),
            "A",
            "A was red alone in run r5 and is retried once",
        ),
        (
            replace(QUEUE, learned=BROKEN),
            "A",
            "A waits until the target itself is green: 0123456789 failed its checks",
        ),
        (
            Queue((entry("A", "Z"),), "t"),
            "A",
            "A needs Z, not yet in the queue",
        ),
        (
            Queue((entry("A", "B"), entry("B")), "t"),
            "A",
            "A waits for a free check slot; it lands with or after B",
        ),
    ],
)
def test_a_wait_is_explained(queue: Queue, task: str, said: str) -> None:
    assert why(queue, task) == said
