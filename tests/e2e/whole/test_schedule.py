"""A random graph of tasks, run by the real thing: the order holds at every event."""

import random
from pathlib import Path

from benchmarks.whole import QUICK, Job, Size, disorder, draw, ideal, landed


def test_a_random_graph_is_run_in_order_and_within_its_slots(tmp_path: Path) -> None:
    jobs = draw(QUICK, random.Random(5))
    events = landed(tmp_path, QUICK, jobs)
    assert disorder(events, QUICK) == []


def test_disorder_is_found() -> None:
    def event(seq: int, kind: str, **data: object) -> dict[str, object]:
        return {"seq": seq, "type": kind, "data": data}

    added = [event(1, "task.added", task="a"), event(2, "task.added", task="b", needs=["a"])]
    one = Size(tasks=2, slots=1, checks=1, shortest_s=0, longest_s=0)
    starts = [event(3, "session.started", task="a", session="a.1")]
    starts += [event(4, "session.started", task="b", session="b.1")]
    lands = [event(5, "task.landed", task="a"), event(6, "task.landed", task="a")]
    faults = disorder([*added, *starts, *lands], one)
    assert "b started before a had landed" in faults
    assert "event 4: 2 sessions, 0 checks" in faults
    assert "a landed twice" in faults
    assert "b never landed" in faults


def test_the_ideal_scheduler() -> None:
    size = Size(tasks=4, slots=2, checks=1, shortest_s=0, longest_s=0)
    chain = [Job(1.0, ()), Job(1.0, (0,)), Job(1.0, (1,))]
    assert ideal(chain, size, 0.5, 0.25) == 3 * 1.75
    # The long one goes first, though it comes last; the two short ones share the other slot.
    wide = [Job(1.0, ()), Job(1.0, ()), Job(2.0, ())]
    assert ideal(wide, size, 0.0, 0.0) == 2.0
    # What is handed in while a check runs is checked together afterwards.
    together = [Job(1.0, ()), Job(1.5, ())]
    assert ideal(together, size, 0.0, 1.0) == 3.0
